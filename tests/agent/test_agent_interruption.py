"""Whatever interrupts a turn, at whatever moment, the log continues cleanly."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from agent_tui.core.errors import StorageError
from agent_tui.core.events import (
    ApprovalAnswer,
    ApprovalRequested,
    CompactionBegan,
    CompactionDelta,
    Event,
    Failed,
    StepBegan,
    TextDelta,
    ToolFinished,
    ToolStarted,
    TurnFinished,
)
from agent_tui.providers.demo.scenario import Reply, ScriptedCall
from agent_tui.sessions import disk
from tests.agent.stage import Stage, call, doubly_answered, read_log, sendable, unanswered

pytestmark = pytest.mark.slow

WINDOW = 6_000
SCRIPT = (
    Reply(
        think="First I look.",
        text="I look at both.",
        calls=(call("read_file", path="a.txt"), call("read_file", path="b.txt")),
    ),
    Reply(
        calls=(
            call("run_command", command="echo hello"),
            call("write_file", path="c.txt", content="c"),
        ),
        input_tokens=WINDOW - 100,
    ),
    Reply(text="All done."),
)
SUMMARY = (Reply(text="The user wants both files read; they were."),)


def make_stage(folder: Path, *, resume: str = "") -> Stage:
    """A turn with everything in it: thinking, parallel reads, approvals, a full context."""
    stage = Stage(folder, *SCRIPT, compactions=SUMMARY, window=WINDOW, resume=resume)
    for name in ("a.txt", "b.txt"):
        (stage.workspace / name).write_text(f"{name} says a lot\n" * 200)

    def allow(event: Event) -> None:
        if isinstance(event, ApprovalRequested):
            loop = asyncio.get_running_loop()
            loop.call_soon(stage.session.approvals.answer, event.request.id, ApprovalAnswer("once"))

    stage.listeners.append(allow)
    return stage


async def count_events(folder: Path) -> int:
    async with make_stage(folder) as stage:
        assert await stage.say("Read both, then act") == "done"
        said = stage.transcript()
        assert "compacted" in said
        assert sum(line.startswith("ok") for line in said) == 4
        return len(stage.events)


def check_log(stage: Stage, *, whole: bool = True) -> None:
    """The log on disk is what memory shows, and a server takes what it holds."""
    state = read_log(stage.log)
    assert not state.damaged
    assert [entry.record for entry in state.entries] == list(stage.session.view.records)
    assert sendable(state)
    assert not doubly_answered(stage.log)
    if whole:
        assert not unanswered(stage.log)


async def check_goes_on(stage: Stage) -> None:
    assert await stage.say("Go on") == "done"
    check_log(stage)


@pytest.mark.parametrize("part", range(4))
async def test_a_turn_cancelled_at_any_event_leaves_a_log_that_goes_on(
    tmp_path: Path, part: int
) -> None:
    total = await count_events(tmp_path)
    for number in range(part + 1, total, 4):
        async with make_stage(tmp_path) as stage:
            await stage.say_until("Read", lambda _: len(stage.events) == number)  # noqa: B023
            assert isinstance(stage.events[-1], TurnFinished)
            check_log(stage)
            await check_goes_on(stage)


@pytest.mark.parametrize("part", range(4))
async def test_a_turn_cancelled_after_any_number_of_loop_ticks_goes_on(
    tmp_path: Path, part: int
) -> None:
    for ticks in range(part, 160, 8):
        async with make_stage(tmp_path) as stage:
            task = asyncio.create_task(stage.say("Read"))
            for _ in range(ticks):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.sleep(0)
            task.cancel()  # an impatient person presses the key again
            with suppress(asyncio.CancelledError):
                await task
            check_log(stage)
            await check_goes_on(stage)


Moment = Callable[[Event], bool]
MOMENTS: dict[str, Moment] = {
    "streaming": lambda event: isinstance(event, TextDelta),
    "an approval": lambda event: isinstance(event, ApprovalRequested),
    "a tool": lambda event: isinstance(event, ToolStarted) and event.call.name == "run_command",
    "the start of a compaction": lambda event: isinstance(event, CompactionBegan),
    "a summary": lambda event: isinstance(event, CompactionDelta),
}


@pytest.mark.parametrize("moment", MOMENTS)
async def test_a_turn_cancelled_in_the_middle_goes_on(tmp_path: Path, moment: str) -> None:
    async with make_stage(tmp_path) as stage:
        await stage.say_until("Read", MOMENTS[moment])
        steps = stage.events[-1].steps  # type: ignore[union-attr]
        assert stage.events[-1] == TurnFinished(1, "cancelled", steps, "Interrupted.")
        assert _ends(stage) == [("cancelled", "Interrupted.", 1)]
        check_log(stage)
        await check_goes_on(stage)


def _ends(stage: Stage) -> list[tuple[str, str, int]]:
    return [(line["end"], line["reason"], line["turn"]) for line in stage.on_disk("_turn_end")]


async def test_a_turn_that_failed_says_why_in_the_log_and_one_that_was_answered_says_nothing(
    tmp_path: Path,
) -> None:
    broken = Reply(text="half of an answer " * 20, cut_after=2)
    async with Stage(tmp_path, broken, Reply(text="ok")) as stage:
        assert await stage.say("Hi") == "failed"
        (failure,) = [event.message for event in stage.events if isinstance(event, Failed)]
        assert failure
        assert _ends(stage) == [("failed", failure, 1)]
        assert stage.roles_on_disk()[-1] == "_turn_end"
        assert await stage.say("Again") == "done"
        assert len(_ends(stage)) == 1
        check_log(stage)


async def test_a_prompt_whose_process_was_killed_is_told_as_cut_off(tmp_path: Path) -> None:
    reply = Reply(calls=(call("read_file", path="a.txt"),))
    async with Stage(tmp_path, reply, Reply(text="ok")) as stage:
        assert await stage.say("Go") == "done"
        assert not stage.session.cut_off
        session_id = stage.session.session_id
        lines = stage.log.read_bytes().splitlines(keepends=True)
    answers = [n for n, line in enumerate(lines) if b'"role":"assistant"' in line]
    prompt = next(n for n, line in enumerate(lines) if b'"role":"user"' in line)
    for end, cut in ((prompt, False), (prompt + 1, True), (answers[0] + 1, True)):
        stage.log.write_bytes(b"".join(lines[:end]))
        async with Stage(tmp_path, resume=session_id) as again:
            assert bool(again.session.cut_off) is cut
            assert again.log.read_bytes() == b"".join(lines[:end])
    async with Stage(tmp_path, Reply(text="never"), resume=session_id) as again:
        await again.say_until("Now?", lambda event: isinstance(event, StepBegan))
        assert not again.session.cut_off
        ends = [(end["end"], end["turn"]) for end in again.on_disk("_turn_end")]
        assert ends == [("killed", 1), ("cancelled", 2)]


async def test_what_had_arrived_of_an_answer_is_kept(tmp_path: Path) -> None:
    async with Stage(tmp_path, Reply(think="Hm.", text="and so on " * 100)) as stage:
        await stage.say_until("Count", lambda event: isinstance(event, TextDelta))
        (answer,) = stage.on_disk("assistant")
        thought, said = answer["content"]
        heard = "".join(event.text for event in stage.events if isinstance(event, TextDelta))
        assert thought["think"] == "Hm."
        assert said["text"] == heard
        assert 0 < len(heard) < 500


async def test_one_of_several_reads_that_is_cancelled_is_answered_once(tmp_path: Path) -> None:
    calls = tuple(call("read_file", path=f"{number}") for number in range(8))
    async with Stage(tmp_path, Reply(calls=calls), Reply(text="ok")) as stage:
        for number in range(8):
            (stage.workspace / str(number)).write_text("x\n" * 1000)
        await stage.say_until("Read", lambda event: isinstance(event, ToolFinished))
        assert not unanswered(stage.log)
        assert not doubly_answered(stage.log)
        told = [event for event in stage.events if isinstance(event, ToolFinished)]
        assert len(told) == 8


async def test_a_cancelled_command_leaves_nothing_running(tmp_path: Path) -> None:
    reply = Reply(calls=(call("run_command", command="sleep 0.4; touch late"),))
    async with Stage(tmp_path, reply, yolo=True) as stage:
        await stage.say_until("Wait", lambda event: isinstance(event, ToolStarted))
        await asyncio.sleep(0.6)
        assert not (stage.workspace / "late").exists()
        (result,) = stage.on_disk("tool")
        assert result["interrupted"] is True


class Disk:
    """A disk that can be full: writes of the session's log fail from then on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.full = False

        def write_all(descriptor: int, data: bytes) -> None:
            if self.full:
                raise OSError(errno.ENOSPC, "No space left on device")
            disk.write_all(descriptor, data)

        monkeypatch.setattr("agent_tui.sessions.log.write_all", write_all)


@pytest.mark.parametrize("part", range(4))
async def test_a_disk_that_fills_up_at_any_event_costs_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: int
) -> None:
    full_disk = Disk(monkeypatch)
    total = await count_events(tmp_path)
    for number in range(part + 1, total - 6, 4):
        async with make_stage(tmp_path) as stage:

            def fill(_: Event) -> None:
                full_disk.full = len(stage.events) >= number  # noqa: B023

            stage.listeners.append(fill)
            assert await stage.say("Read") == "failed"
            failures = [event.message for event in stage.events if isinstance(event, Failed)]
            assert len(failures) == 1
            assert "No space left on device" in failures[0]
            check_log(stage, whole=False)
            stage.listeners.remove(fill)
            full_disk.full = False
            await check_goes_on(stage)


async def test_a_full_disk_at_the_prompt_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full_disk = Disk(monkeypatch)
    async with Stage(tmp_path, Reply(text="ok")) as stage:
        before = stage.log.read_bytes()
        full_disk.full = True
        with pytest.raises(StorageError, match="No space left on device"):
            await stage.say("Hi")
        assert stage.log.read_bytes() == before
        full_disk.full = False
        assert await stage.say("Hi") == "done"
        assert [message["turn"] for message in stage.on_disk("user")] == [1]


async def test_an_answer_that_the_disk_refused_is_held_and_written_before_the_next_prompt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full_disk = Disk(monkeypatch)
    async with Stage(tmp_path, Reply(text="The whole answer."), Reply(text="ok")) as stage:

        def fill(event: Event) -> None:
            full_disk.full = full_disk.full or isinstance(event, TextDelta)

        stage.listeners.append(fill)
        assert await stage.say("Hi") == "failed"
        assert "unsaved: The whole answer." in stage.transcript()
        assert not stage.on_disk("assistant")
        assert not stage.session.cut_off
        stage.listeners.clear()
        full_disk.full = False
        assert await stage.say("Go on") == "done"
        ends = [end["end"] for end in stage.on_disk("_turn_end")]
        assert ends == ["failed"]
        said = [m["content"] for m in stage.lines() if m["role"] in ("user", "assistant")]
        assert said == ["Hi", "The whole answer.", "Go on", "ok"]


async def test_an_answer_that_the_disk_refused_is_written_when_the_session_closes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full_disk = Disk(monkeypatch)
    async with Stage(tmp_path, Reply(text="The whole answer.")) as stage:

        def fill(event: Event) -> None:
            full_disk.full = isinstance(event, TextDelta)

        stage.listeners.append(fill)
        assert await stage.say("Hi") == "failed"
        full_disk.full = False
        log = stage.log
    assert [m["content"] for m in stage.lines(log) if m["role"] == "assistant"] == [
        "The whole answer."
    ]


async def test_calls_that_a_killed_process_left_open_are_answered_before_the_next_prompt(
    tmp_path: Path,
) -> None:
    crashed = ScriptedCall("run_command", {"command": "true"}, id="lost")
    async with Stage(tmp_path, Reply(text="x", calls=(crashed,))) as stage:
        await stage.say_until("Go", lambda event: isinstance(event, ApprovalRequested))
        session_id = stage.session.session_id
        lines = stage.log.read_bytes().splitlines(keepends=True)
        stage.log.write_bytes(b"".join(line for line in lines if b'"tool_call_id"' not in line))
        assert unanswered(stage.log) == ["lost"]
    async with Stage(tmp_path, Reply(text="ok"), resume=session_id) as stage:
        assert await stage.say("And now?") == "done"
        check_log(stage)
        roles = stage.roles_on_disk()
        assert roles.index("tool") < roles.index("user", roles.index("user") + 1)


async def test_a_turn_that_was_interrupted_before_its_first_step_is_in_the_log(
    tmp_path: Path,
) -> None:
    async with Stage(tmp_path, Reply(text="ok")) as stage:
        await stage.say_until("Hi", lambda event: isinstance(event, StepBegan))
        assert [message["content"] for message in stage.on_disk("user")] == ["Hi"]
        await check_goes_on(stage)
