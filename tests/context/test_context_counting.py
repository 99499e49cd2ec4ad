"""Exact counts from a process of their own: always right, never waited for on the event loop."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from agent_tui.context.tokens import counting
from agent_tui.context.tokens.counting import CountingProcess
from agent_tui.context.tokens.estimate import estimate_tokens
from agent_tui.context.tokens.ranks import load_encoding
from agent_tui.context.tokens.tokens import TokenCounter
from agent_tui.core.messages import ToolCall
from agent_tui.core.records import AssistantMessage, Message, ToolMessage, UserMessage

TEXTS = [
    "",
    "one",
    "zwölf Boxkämpfer",
    "価格は無料です",
    "half a pair \ud800",
    "x" * 3_000,
    "\n\n  \t",
]


def exactly(text: str) -> int:
    return len(load_encoding("cl100k_base").encode_ordinary(text))


@pytest.fixture(scope="module")
def started() -> Iterator[CountingProcess]:
    """One process for all tests: loading its ranks takes longer than any of them."""
    process = CountingProcess("cl100k_base")
    yield process
    process.stop()


@pytest.fixture
def process(started: CountingProcess) -> CountingProcess:
    """A process that is running, whatever the test before did to it."""
    assert started.start()
    assert started.count(["one"]) == [1]
    return started


@pytest.fixture
def counter(process: CountingProcess, monkeypatch: pytest.MonkeyPatch) -> TokenCounter:
    """A counter whose process is the test's own."""
    counter = TokenCounter("gpt-4")
    counter._process = process
    return counter


def pid_of(process: CountingProcess) -> int:
    assert process._child is not None
    return process._child.pid


def test_many_texts_are_counted_in_one_question(process: CountingProcess) -> None:
    assert process.count(TEXTS) == [exactly(text) for text in TEXTS]


def test_a_process_that_was_killed_is_started_again(process: CountingProcess) -> None:
    os.kill(pid_of(process), signal.SIGKILL)
    assert process.count(["one two three"]) == [3]


def test_a_process_that_cannot_be_started_means_estimates(monkeypatch: pytest.MonkeyPatch) -> None:
    process = CountingProcess("no such encoding")
    assert not process.start()
    assert process.count(["x"]) == []


def test_several_threads_ask_at_once(process: CountingProcess) -> None:
    texts = [f"{n} bottles of beer on the wall" for n in range(200)]
    wrong: list[str] = []

    def ask(part: list[str]) -> None:
        wrong.extend(text for text in part if process.count([text]) != [exactly(text)])

    threads = [threading.Thread(target=ask, args=(texts[n::4],)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_process_is_given_no_key(
    process: CountingProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert Path(f"/proc/{pid_of(process)}/environ").read_bytes() == b""


def resident(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    (line,) = (line for line in status.splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1])


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_process_keeps_no_more_than_it_counts_with(process: CountingProcess) -> None:
    process.stop()  # what it counted for other tests is no matter of this one
    assert process.start()
    script = (
        "from agent_tui.context.tokens.ranks import load_encoding\n"
        "kept = load_encoding('cl100k_base')\n"
        "print(flush=True); input()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as plain:
        assert plain.stdout is not None
        plain.stdout.readline()
        assert resident(pid_of(process)) < 0.85 * resident(plain.pid)
        plain.kill()


def test_the_ranks_are_never_loaded_into_the_program() -> None:
    code = (
        "import sys; from agent_tui.context.tokens.tokens import TokenCounter; "
        "c = TokenCounter('gpt-4'); c.warm(); "
        "print(c.exact, c.count_text('one two three'), 'tiktoken' in sys.modules); "
        "c.close()"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["True", "3", "False"]


async def test_the_event_loop_does_not_wait_for_a_process_at_work(
    counter: TokenCounter, process: CountingProcess
) -> None:
    text = "Seven words make a sentence here, surely."
    os.kill(pid_of(process), signal.SIGSTOP)
    try:
        assert counter.count_text(text) == estimate_tokens(text)
        assert counter.count_text("another one") == estimate_tokens("another one")
    finally:
        os.kill(pid_of(process), signal.SIGCONT)
    process.count(["what nobody waited for is not taken for the answer"])
    off_the_loop: list[int] = []
    thread = threading.Thread(target=lambda: off_the_loop.append(counter.count_text(text)))
    thread.start()
    thread.join()
    assert off_the_loop == [exactly(text)]


async def test_the_event_loop_waits_once_for_a_process_at_work(
    counter: TokenCounter, process: CountingProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A message of many texts would add up many waits."""
    waits: list[float] = []
    wait = select.select

    def timed(asked: list[int], write: list[int], error: list[int], seconds: float) -> object:
        ready = wait(asked, write, error, seconds)
        if not ready[0] and seconds:
            waits.append(seconds)
        return ready

    monkeypatch.setattr(counting, "select", SimpleNamespace(select=timed))
    os.kill(pid_of(process), signal.SIGSTOP)
    try:
        for number in range(9):
            counter.count_text(f"{number} things to count")
    finally:
        os.kill(pid_of(process), signal.SIGCONT)
    assert len(waits) == 1


async def test_the_event_loop_does_not_start_a_process(counter: TokenCounter) -> None:
    counter.close()
    assert counter.count_text("one two") == estimate_tokens("one two")


def test_messages_are_counted_together_as_they_are_one_by_one(counter: TokenCounter) -> None:
    messages: list[Message] = [
        UserMessage("Please look."),
        AssistantMessage("I look.", (ToolCall("a", "read_file", '{"path": "x"}'),)),
        ToolMessage("a", "long " * 60_000),
    ] * 3
    together = counter.count_messages(messages)
    fresh = TokenCounter("gpt-4")
    fresh._process = counter._process
    assert together == [fresh.count_message(message) for message in messages]
    assert abs(together[2] - exactly("long " * 60_000)) < 0.02 * together[2]
