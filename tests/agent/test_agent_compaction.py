"""A turn that fills its context compacts it and goes on; what cannot help is told once."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from agent_tui.config import AgentSettings, ContextSettings
from agent_tui.core.errors import CompactionError, ProviderError
from agent_tui.core.events import (
    CompactionBegan,
    CompactionDelta,
    CompactionFinished,
    Event,
    Failed,
    ReplyEnded,
    StepInterrupted,
    StepRetried,
    StreamPart,
    TextDelta,
)
from agent_tui.core.messages import text_of
from agent_tui.core.summary import CompactionRequest
from agent_tui.providers.base import ModelRequest
from agent_tui.providers.demo.scenario import Fault, Reply
from tests.agent.stage import Stage, call

WINDOW = 8_000
LONG = "What was said at length. " * 100
FULL = WINDOW - 200


def talk(*, full: bool = True) -> tuple[Reply, ...]:
    """Two answers, after the second of which the context is as good as full."""
    return (
        Reply(text=LONG, input_tokens=3_000),
        Reply(text=LONG, input_tokens=FULL if full else 4_000),
    )


async def test_a_full_context_is_compacted_before_the_step_and_the_turn_goes_on(
    tmp_path: Path,
) -> None:
    look = Reply(calls=(call("find_files", pattern="*"),), input_tokens=FULL)
    script = (Reply(text=LONG), look, Reply(text="Found."))
    summary = (Reply(text="They talked at length."),)
    async with Stage(tmp_path, *script, compactions=summary, window=WINDOW) as stage:
        await stage.say("Tell me")
        assert await stage.say("Now look") == "done"
        said = stage.transcript()
        assert said[said.index("compaction auto") - 1 :] == snapshot(
            [
                "ok find_files: No file fits *.",
                "compaction auto",
                "compacted",
                "checkpoint 1 (turn 2, step 2)",
                "step 2",
                "text: Found.",
                "turn 2 done after 2",
            ]
        )
        (record,) = stage.on_disk("_compaction")
        assert (record["trigger"], record["archive"]) == ("auto", 1)
        assert record["post_tokens"] < FULL <= record["pre_tokens"]
        assert [m["turn"] for m in stage.on_disk("user") if m["origin"] == "human"] == [1, 2]
        assert await stage.say("And then?") == "done"
        assert stage.on_disk("user")[-1]["turn"] == 3


async def test_no_compaction_where_it_is_switched_off(tmp_path: Path) -> None:
    settings = ContextSettings(auto_compact=False)
    async with Stage(tmp_path, *talk(), Reply(text="ok"), window=WINDOW, context=settings) as stage:
        for prompt in ("a", "b", "c"):
            assert await stage.say(prompt) == "done"
        assert not any(isinstance(event, CompactionBegan) for event in stage.events)


async def test_a_compaction_that_does_not_help_says_why_once_and_does_not_loop(
    tmp_path: Path,
) -> None:
    looks = (
        Reply(calls=(call("find_files", pattern=f"*{n}"),), input_tokens=FULL) for n in "abcde"
    )
    verbose = tuple(Reply(text=LONG * 10) for _ in range(9))
    script = (*talk(full=False), *looks, Reply(text="ok", input_tokens=FULL))
    async with Stage(tmp_path, *script, compactions=verbose, window=WINDOW) as stage:
        for prompt in ("a", "b", "c"):
            assert await stage.say(prompt) == "done"
        (told,) = [e.reason for e in stage.events if isinstance(e, CompactionFinished)]
        assert told.startswith("Compacting would not make the context smaller: 7,8")
        (trace,) = stage.on_disk("_notice")
        assert trace["text"] == f"The context is full and was not compacted. {told}"
        assert not list(stage.log.parent.glob("context.jsonl.[0-9]*"))


async def test_a_summary_is_asked_for_again_and_then_the_fallback_says_so(tmp_path: Path) -> None:
    broken = (Reply(faults=tuple(Fault(status=503) for _ in range(9))),)
    script = (*talk(), Reply(text="ok"))
    async with Stage(
        tmp_path, *script, compactions=broken, window=WINDOW, agent=AgentSettings(max_attempts=3)
    ) as stage:
        for prompt in ("a", "b", "c"):
            assert await stage.say(prompt) == "done"
        assert sum(isinstance(event, StepRetried) for event in stage.events) == 2
        (report,) = [e.report for e in stage.events if isinstance(e, CompactionFinished)]
        assert report is not None
        assert report.fallback
        assert stage.on_disk("_compaction")[0]["fallback"] is True


async def test_a_manual_compaction_with_nothing_to_gain_changes_nothing(tmp_path: Path) -> None:
    async with Stage(tmp_path, Reply(text="ok")) as stage:
        await stage.say("a")
        before = stage.log.read_bytes()
        with pytest.raises(CompactionError, match="Nothing to compact"):
            await stage.operations.compact()
        assert stage.log.read_bytes() == before
        assert stage.transcript()[-1].startswith("not compacted: Nothing to compact")


async def test_a_compaction_that_is_cancelled_as_it_commits_is_told_as_made(
    tmp_path: Path,
) -> None:
    script = (*talk(), Reply(text="ok"))
    async with Stage(
        tmp_path, *script, compactions=(Reply(text="Short."),), window=WINDOW
    ) as stage:
        await stage.say("a")
        await stage.say("b")

        def committed(event: Event) -> bool:
            return isinstance(event, CompactionFinished)

        await stage.say_until("c", committed)
        finished = [event for event in stage.events if isinstance(event, CompactionFinished)]
        assert [event.report is not None for event in finished] == [True]
        assert len(stage.on_disk("_compaction")) == 1


async def test_the_gauge_has_no_mark_where_nothing_compacts_by_itself(tmp_path: Path) -> None:
    async with Stage(tmp_path, context=ContextSettings(auto_compact=False)) as stage:
        assert stage.session.gauge.trigger_at == 0
    async with Stage(tmp_path) as stage:
        assert stage.session.gauge.trigger_at > 0


class Cramped:
    """A server whose window is smaller than anybody told us; what it was asked to summarise."""

    name = "cramped"

    def __init__(self, most_chars: int, told: int = 0) -> None:
        self._most_chars, self._told = most_chars, told
        self.briefs: list[str] = []
        self.refusals = 0

    def narrow(self, most_chars: int) -> None:
        self._most_chars = most_chars

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamPart, None]:
        size = sum(len(text_of(message.content)) for message in request.messages)
        if size > self._most_chars:
            self.refusals += 1
            words = "This model's maximum context length is 4096 tokens."
            raise ProviderError(words, status=400, too_long=True, window=self._told)
        if not request.tools:
            self.briefs.append(text_of(request.messages[0].content))
        yield TextDelta(LONG if request.tools else "They talked at length.")
        yield ReplyEnded("stop", None)

    def warm(self) -> None: ...

    async def aclose(self) -> None: ...


async def test_a_request_that_the_server_finds_too_long_is_compacted_and_made_again(
    tmp_path: Path,
) -> None:
    server = Cramped(most_chars=12_000)
    async with Stage(tmp_path, provider=server, window=100_000) as stage:
        for turn in range(6):
            assert await stage.say(f"Question {turn}") == "done"
        said = stage.transcript()
        assert said[said.index("compaction auto") - 1 :][:5] == snapshot(
            [
                "step 1",
                "compaction auto",
                "compacted",
                "checkpoint 1 (turn 6, step 1)",
                f"text: {LONG}",
            ]
        )
        # The server knows its window better: from now on it is compacted in time.
        for turn in range(6, 10):
            assert await stage.say(f"Question {turn}") == "done"
        assert server.refusals == 1
        assert len(server.briefs) >= 2
        assert not any(isinstance(event, StepInterrupted | Failed) for event in stage.events)


async def test_what_is_too_long_and_cannot_be_compacted_is_told_once(tmp_path: Path) -> None:
    async with Stage(tmp_path, provider=Cramped(most_chars=100), window=100_000) as stage:
        assert await stage.say("A long question. " * 20) == "failed"
        assert [e.message for e in stage.events if isinstance(e, Failed)] == [
            "This model's maximum context length is 4096 tokens."
        ]
        assert stage.session.gauge.window == 100_000
        assert not list(stage.log.parent.glob("context.jsonl.[0-9]*"))


class TellsTheSummary(Cramped):
    """A server that names its window only where it refuses a summary."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamPart, None]:
        try:
            async for part in super().stream(request):
                yield part
        except ProviderError as error:
            raise ProviderError(
                str(error), status=400, too_long=True, window=0 if request.tools else error.window
            ) from None


@pytest.mark.parametrize("kind", [Cramped, TellsTheSummary])
@pytest.mark.parametrize("told", [500, 50_000])
async def test_a_window_that_was_named_is_kept_where_nothing_was_compacted(
    tmp_path: Path, kind: type[Cramped], told: int
) -> None:
    server = kind(100_000, told)
    async with Stage(tmp_path, provider=server, window=100_000) as stage:
        for question in range(3):
            assert await stage.say(f"Question {question}") == "done"

        async def look_and_decline() -> None:
            await stage.session.compacting.draft(CompactionRequest("auto"))

        stage.session.compacting.review_automatic(look_and_decline)
        server.narrow(1)
        assert await stage.say("And now?") == "failed"
        assert server.refusals > 1
        assert stage.session.gauge.window == told


async def test_one_reason_is_told_once_in_a_turn_however_often_it_stands_in_the_way(
    tmp_path: Path,
) -> None:
    async with Stage(tmp_path, provider=Cramped(most_chars=5), window=10) as stage:
        assert await stage.say("A question.") == "failed"
        told = [e.reason for e in stage.events if isinstance(e, CompactionFinished)]
        assert len(told) == 2
        assert told[0].startswith("Compacting would not make the context smaller")
        assert told[1] == ""
        assert len(stage.on_disk("_notice")) == 1


class Strange(Cramped):
    """A server that refuses what is too long with a code and words that nobody knows."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamPart, None]:
        try:
            async for part in super().stream(request):
                yield part
        except ProviderError:
            raise ProviderError("E1337: no.", status=400) from None


async def test_a_strange_refusal_of_what_fills_the_window_is_compacted_and_made_again(
    tmp_path: Path,
) -> None:
    server = Strange(most_chars=12_000)
    settings = ContextSettings(ratio=1.0, reserved=0)
    async with Stage(tmp_path, provider=server, window=5_600, context=settings) as stage:
        for turn in range(6):
            assert await stage.say(f"Question {turn}") == "done"
        assert server.refusals == 1
        assert len(stage.on_disk("_compaction")) == 1


async def test_where_nothing_compacts_by_itself_a_long_request_is_refused_with_advice(
    tmp_path: Path,
) -> None:
    settings = ContextSettings(auto_compact=False)
    server = Cramped(most_chars=5_000)
    async with Stage(tmp_path, provider=server, window=100_000, context=settings) as stage:
        ends = [await stage.say(f"Question {turn}") for turn in range(3)]
        assert ends == ["done", "done", "failed"]
        (failure,) = [event.message for event in stage.events if isinstance(event, Failed)]
        assert failure.endswith("compact the conversation, then retry.")
        await stage.operations.compact()
        assert await stage.session.retry_turn() == "done"


class Halting:
    """A server that breaks off in the middle of its first summary."""

    name = "halting"

    def __init__(self) -> None:
        self.summaries = 0

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamPart, None]:
        if not request.tools:
            self.summaries += 1
            yield TextDelta("The first half")
            if self.summaries == 1:
                raise ProviderError("The connection ended in the middle of the answer.")
        yield TextDelta(" and the second." if not request.tools else LONG)
        yield ReplyEnded("stop", None)

    def warm(self) -> None: ...

    async def aclose(self) -> None: ...


async def test_a_summary_that_breaks_off_is_asked_for_again(tmp_path: Path) -> None:
    server = Halting()
    async with Stage(tmp_path, provider=server, window=WINDOW) as stage:
        for prompt in ("a", "b", "c", "d"):
            await stage.say(prompt)
        report = await stage.operations.compact()
        assert (report.fallback, report.retries, server.summaries) == (False, 1, 2)
        (summary,) = [m for m in stage.on_disk("user") if m["origin"] == "compaction"]
        assert summary["content"][1]["text"] == "The first half and the second."
        told = "".join(e.text for e in stage.events if isinstance(e, CompactionDelta))
        assert told.startswith("The first half\n\n(The answer was cut off")


class Wordy(Halting):
    """A server that cuts its summary off at the limit of its output."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamPart, None]:
        yield TextDelta("A long sum" if not request.tools else LONG)
        yield ReplyEnded("stop" if request.tools else "length", None)


async def test_a_summary_that_is_cut_off_by_the_models_limit_says_so(tmp_path: Path) -> None:
    async with Stage(tmp_path, provider=Wordy(), window=WINDOW) as stage:
        for prompt in ("a", "b", "c", "d"):
            await stage.say(prompt)
        report = await stage.operations.compact()
        assert (report.fallback, report.retries) == (False, 0)
        (summary,) = [m for m in stage.on_disk("user") if m["origin"] == "compaction"]
        assert summary["content"][1]["text"].startswith("A long sum\n\n(Cut off here")


async def test_a_compaction_that_leaves_the_context_full_is_not_made_at_every_step(
    tmp_path: Path,
) -> None:
    """The system prompt and the tools take most of this window: there is little to gain."""
    looks = (Reply(calls=(call("find_files", pattern=f"*{n}"),)) for n in range(9))
    script = (Reply(text=LONG), *looks, Reply(text="ok"))
    short = tuple(Reply(text="They talked.") for _ in range(9))
    async with Stage(tmp_path, *script, compactions=short, window=1_200) as stage:
        await stage.say("a")
        assert await stage.say("b") == "done"
        made = [e.report for e in stage.events if isinstance(e, CompactionFinished) and e.report]
        gauge = stage.session.gauge
        assert made[0].tokens_after >= gauge.trigger_at
        assert len(made) <= 4
