"""How fast and how right the context is: counting, accuracy of the estimate, preview, loss report.

Run: ``python -m tests.benchmarks.context``. One JSON line a figure, with its limit beside it.
"""

from __future__ import annotations

import asyncio
import gc
import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from agent_tui.context.compaction.compaction import apply_draft, draft_compaction, plan_compaction
from agent_tui.context.context import Context
from agent_tui.context.tokens.estimate import estimate_tokens
from agent_tui.context.tokens.ranks import load_encoding
from agent_tui.context.tokens.tokens import TokenCounter
from agent_tui.core.messages import ToolCall
from agent_tui.core.records import (
    AssistantMessage,
    Message,
    SessionHeader,
    SystemPrompt,
    ToolMessage,
    UserMessage,
)
from agent_tui.sessions.log import Durability
from agent_tui.sessions.store import SessionStore

ROOT = Path(__file__).parents[2]
SAMPLES = ROOT / "tests" / "context" / "samples"
MESSAGES = 10_000


def report(name: str, figure: float, limit: float, unit: str) -> None:
    """Print one figure with its limit."""
    ok = figure <= limit
    line = {"benchmark": name, "figure": round(figure, 4), "limit": limit, "unit": unit, "ok": ok}
    print(json.dumps(line), flush=True)


def samples() -> dict[str, str]:
    """Texts of the kinds that the estimate must be right on; none was used to fit it."""
    chance = random.Random(7)
    rows = [
        {
            "id": chance.randrange(10**6),
            "name": f"user-{n}",
            "active": n % 3 == 0,
            "score": round(chance.random() * 100, 2),
            "tags": ["alpha", "beta"][: n % 3],
            "at": f"2025-03-{n % 28 + 1:02}T10:{n % 60:02}:00Z",
        }
        for n in range(60)
    ]
    log = [
        f"2025-03-{n % 28 + 1:02} 10:{n % 60:02}:{chance.randrange(60):02},"
        f"{chance.randrange(999):03} {chance.choice(('INFO', 'WARNING', 'ERROR'))} worker.{n % 7}: "
        f"job {chance.randrange(10**7):x} {chance.choice(('finished', 'was retried'))} "
        f"after {chance.random() * 9:.3f}s on 10.0.{n % 255}.{chance.randrange(255)}"
        for n in range(120)
    ]
    return {
        "english": (SAMPLES / "english.txt").read_text(encoding="utf-8"),
        "chinese": (SAMPLES / "chinese.txt").read_text(encoding="utf-8"),
        "code": (ROOT / "src/agent_tui/core/records.py").read_text(encoding="utf-8"),
        "json": json.dumps(rows),
        "json, indented": json.dumps(rows, indent=2),
        "logs": "\n".join(log),
    }


def measure_accuracy() -> None:
    """How far the estimate is off, in percent, for each kind of text."""
    encoding = load_encoding("o200k_base")
    for kind, text in samples().items():
        exact = len(encoding.encode_ordinary(text))
        off = abs(estimate_tokens(text) - exact) / exact * 100
        report(f"estimate off: {kind}", off, 10, "%")


def conversation(count: int) -> Iterator[Message]:
    """A long session: requests, answers that call tools, results of every size."""
    chance = random.Random(3)
    words = samples()["english"].split()
    turn = 0
    while True:
        turn += 1
        asked = " ".join(chance.choices(words, k=30))
        yield UserMessage(f"Please fix src/module_{turn % 200}.py: {asked}", "human", turn)
        for step in range(4):
            said = " ".join(chance.choices(words, k=40))
            tool = ("read_file", "run_command", "edit_file", "search_files")[step]
            path = f"src/module_{turn % 200}.py"
            arguments = json.dumps({"path": path, "command": f"pytest {path} -k case_{turn}"})
            call = ToolCall(f"c{turn}_{step}", tool, arguments)
            yield AssistantMessage(said, (call,), turn=turn)
            result = " ".join(chance.choices(words, k=chance.choice((20, 100, 400))))
            yield ToolMessage(call.id, f"{result}\nAssertionError: {turn} != {step}", turn=turn)
        count -= 9
        if count <= 0:
            return


async def filled_context(root: Path, counter: TokenCounter) -> Context:
    """A context of MESSAGES messages on disk."""
    store = SessionStore(root)
    log = await store.create(SessionHeader("bench", "/w", "2025-01-01T00:00:00Z", "0"))
    await log.append(SystemPrompt("You are an agent."), durability=Durability.D0)
    context = Context(log, counter)
    await context.append(*conversation(MESSAGES), durability=Durability.D0)
    gc.freeze()  # as the program does after a big load
    return context


async def lateness(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds that awaitable work takes, and the worst lateness of a 1 ms heartbeat beside it."""
    worst, running = 0.0, True

    async def beat() -> None:
        nonlocal worst
        while running:
            began = time.perf_counter()
            await asyncio.sleep(0.001)
            worst = max(worst, time.perf_counter() - began - 0.001)

    heart = asyncio.create_task(beat())
    await asyncio.sleep(0.01)
    worst = 0.0
    began = time.perf_counter()
    await work()  # type: ignore[misc]
    took = time.perf_counter() - began
    running = False
    await heart
    return took, worst


async def measure_preview(counter: TokenCounter, label: str) -> None:
    """The left side of the pane, and the whole draft, for a context of 10,000 messages."""

    async def summarise(system: str, brief: str, tell: Callable[[str], None]) -> str:
        return "## Current focus\nThe modules are being fixed one by one."

    with tempfile.TemporaryDirectory() as folder:
        context = await filled_context(Path(folder), counter)
        plans = [await lateness(lambda: plan_compaction(context)) for _ in range(5)]
        drafts = [
            await lateness(lambda: draft_compaction(context, summarise=summarise)) for _ in range(3)
        ]
        name = f"preview of {MESSAGES:,} messages"
        report(f"{name}, nothing counted yet, {label}", plans[0][0] * 1e3, 200, "ms")
        again = statistics.median(took for took, _ in plans[1:])
        report(f"{name}, again, {label}", again * 1e3, 200, "ms")
        worst = max(late for _, late in (*plans, *drafts))
        report(f"loop held up by preview and draft, {label}", worst * 1e3, 20, "ms")
        took = statistics.median(took for took, _ in drafts)
        report(f"draft with loss report, {label}", took * 1e3, 1_000, "ms")
        draft = await draft_compaction(context, summarise=summarise)
        committed, late = await lateness(lambda: apply_draft(context, draft))
        report(f"commit, {label}", committed * 1e3, 200, "ms")
        report(f"loop held up by commit, {label}", late * 1e3, 20, "ms")
        await context.log.close()


def measure_counting(counter: TokenCounter, label: str) -> None:
    """A new message costs the same however long the history is, and in proportion to its length."""

    async def cost(history: int) -> tuple[float, float]:
        with tempfile.TemporaryDirectory() as folder:
            store = SessionStore(Path(folder))
            log = await store.create(SessionHeader("bench", "/w", "", "0"))
            context = Context(log, counter)
            if history:
                await context.append(*conversation(history), durability=Durability.D0)
            await asyncio.to_thread(lambda: context.token_count)
            times, steps = [], []
            for number in range(40):
                await context.append(UserMessage(f"{number} word " * 100), durability=Durability.D0)
                began = time.perf_counter()
                assert context.token_count
                times.append(time.perf_counter() - began)
                began = time.perf_counter()
                assert context.history
                steps.append(time.perf_counter() - began)
            await context.log.close()
            return statistics.median(times), statistics.median(steps)

    (small, _), (large, step) = asyncio.run(cost(100)), asyncio.run(cost(MESSAGES))
    report(f"history for the next step after {MESSAGES:,}, {label}", step * 1e3, 1, "ms")
    report(f"count a new message of 200 words after {MESSAGES:,}, {label}", large * 1e3, 1, "ms")
    report(f"the same, against a history of 100, {label}", large / small, 2, "x")
    text = " ".join(samples()["english"].split() * 10)
    times = []
    for length in (len(text) // 10, len(text)):
        began = time.perf_counter()
        for number in range(20):
            TokenCounter.count_text(counter, f"{number}{text[:length]}")
        times.append(time.perf_counter() - began)
    report(f"count ten times the text, {label}", times[1] / times[0], 15, "x")


def measure_ranks() -> None:
    """Loading ranks, and how long that holds the loop up from its thread."""
    began = time.perf_counter()
    load_encoding("cl100k_base")
    report("load cl100k_base", (time.perf_counter() - began) * 1e3, 400, "ms")

    async def load() -> tuple[float, float]:
        return await lateness(lambda: asyncio.to_thread(TokenCounter("gpt-4o").warm))

    took, late = asyncio.run(load())
    report("load o200k_base in a thread", took * 1e3, 600, "ms")
    report("loop held up meanwhile (tiktoken's constructor holds the GIL)", late * 1e3, 200, "ms")


def main() -> None:
    """Print every figure."""
    gc.set_threshold(20_000, 20, 100)  # as the program does
    sys.setswitchinterval(0.0005)
    measure_ranks()
    measure_accuracy()
    estimating, exact = TokenCounter("some-model"), TokenCounter("gpt-4o")
    exact.warm()
    for counter, label in ((estimating, "estimated"), (exact, "tiktoken")):
        measure_counting(counter, label)
        fresh = TokenCounter(counter.model)
        fresh.warm()
        asyncio.run(measure_preview(fresh, label))


if __name__ == "__main__":
    main()
