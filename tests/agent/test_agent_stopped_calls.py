"""A call that is stopped has one result: what it printed until then, or that it was not run."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from agent_tui.core.events import (
    ApprovalAnswer,
    ApprovalRequested,
    Event,
    TextDelta,
    ToolFinished,
    ToolOutput,
)
from agent_tui.core.words import INTERRUPTED, NOT_RUN
from agent_tui.providers.demo.scenario import Reply
from agent_tui.tools import run_command
from agent_tui.tools.base import ToolContext
from agent_tui.tools.child import Ended
from agent_tui.tools.output import BoundedOutput
from agent_tui.tools.run_command import RunCommandArguments
from tests.agent.stage import Stage, call, doubly_answered, unanswered
from tests.agent.test_agent_interruption import Disk

pytestmark = pytest.mark.slow


def prints(event: Event) -> bool:
    return isinstance(event, ToolOutput)


def cancel_at_the_end_of_a_command(
    monkeypatch: pytest.MonkeyPatch, task: asyncio.Task[object]
) -> None:
    """Cancel a task when a command has ended, and before anybody heard of it."""
    loop, real = asyncio.get_running_loop(), run_command._run

    def run(
        arguments: RunCommandArguments,
        context: ToolContext,
        stop: threading.Event,
        output: BoundedOutput,
    ) -> Ended:
        ended = real(arguments, context, stop, output)
        loop.call_soon_threadsafe(task.cancel)
        assert stop.wait(30)
        return ended

    monkeypatch.setattr(run_command, "_run", run)


def results(stage: Stage) -> list[str]:
    assert not unanswered(stage.log)
    assert not doubly_answered(stage.log)
    return [result["content"] for result in stage.on_disk("tool")]


async def test_what_a_command_printed_until_it_was_interrupted_is_kept(tmp_path: Path) -> None:
    reply = Reply(calls=(call("run_command", command="seq 1 3; sleep 50"),))
    async with Stage(tmp_path, reply, yolo=True) as stage:
        await stage.say_until("Count", prints)
        assert results(stage) == [f"1\n2\n3\n{INTERRUPTED}"]
        (result,) = stage.on_disk("tool")
        assert result["interrupted"] is True
        assert result["display"]["command"] == "seq 1 3; sleep 50"
        (told,) = [event for event in stage.events if isinstance(event, ToolFinished)]
        assert told.interrupted
        assert told.result.output == f"1\n2\n3\n{INTERRUPTED}"


async def test_a_command_that_ends_in_the_moment_of_the_interruption_ended_and_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reply = Reply(calls=(call("run_command", command="echo up; exit 3"),))
    async with Stage(tmp_path, reply, yolo=True) as stage:
        turn = asyncio.create_task(stage.session.run_turn("Go"))
        cancel_at_the_end_of_a_command(monkeypatch, turn)
        with suppress(asyncio.CancelledError):
            await turn
        assert results(stage) == ["up\n[exit code 3]"]
        (result,) = stage.on_disk("tool")
        assert "interrupted" not in result
        (told,) = [event for event in stage.events if isinstance(event, ToolFinished)]
        assert not told.interrupted


async def test_of_long_output_until_then_the_ends_are_kept_and_the_whole_in_a_blob(
    tmp_path: Path,
) -> None:
    reply = Reply(calls=(call("run_command", command="seq 1 50000; sleep 50"),))
    async with Stage(tmp_path, reply, yolo=True) as stage:
        await stage.say_until("Count", lambda event: prints(event) and "\n50000\n" in event.text)  # type: ignore[union-attr]
        (said,) = results(stage)
        assert said.startswith("1\n2\n3\n")
        assert said.endswith(f"\n49999\n50000\n{INTERRUPTED}")
        assert len(said) < 31_000
        kept = re.search(r"bytes\) not shown; the whole output: read_file blob:(\w{32}) …\]", said)
        assert kept is not None
        whole = (stage.log.parent / "blobs" / kept[1]).read_text()
        assert whole == "".join(f"{number}\n" for number in range(1, 50_001))


async def test_a_command_that_a_person_changed_is_told_where_it_is_interrupted(
    tmp_path: Path,
) -> None:
    reply = Reply(calls=(call("run_command", command="sleep 51"),))
    async with Stage(tmp_path, reply) as stage:
        stage.answers.append(ApprovalAnswer("once", command="echo up; sleep 50"))
        await stage.say_until("Go", prints)
        (said,) = results(stage)
        told = "[The user changed the command; this ran instead: echo up; sleep 50]"
        assert said == f"up\n{told}\n{INTERRUPTED}"


async def test_calls_behind_a_rejected_one_say_that_they_were_not_run(tmp_path: Path) -> None:
    calls = (
        call("run_command", command="rm x"),
        call("read_file", path="x"),
        call("run_command", command="rm y"),
    )
    async with Stage(tmp_path, Reply(calls=calls)) as stage:
        stage.answers.append(ApprovalAnswer("reject"))
        assert await stage.say("Clean up") == "rejected"
        assert results(stage)[1:] == [NOT_RUN, NOT_RUN]


STOPS: dict[str, Callable[[Event], bool]] = {
    "while the answer is written": lambda event: isinstance(event, TextDelta),
    "while it waits for a person": lambda event: isinstance(event, ApprovalRequested),
}


@pytest.mark.parametrize("moment", STOPS)
async def test_a_call_whose_turn_is_interrupted_before_it_begins_says_that_it_was_not_run(
    tmp_path: Path, moment: str
) -> None:
    calls = (call("run_command", command="rm x"), call("run_command", command="rm y"))
    async with Stage(tmp_path, Reply(text="Now.", calls=calls)) as stage:
        await stage.say_until("Clean up", STOPS[moment])
        assert results(stage) == [NOT_RUN, NOT_RUN]


async def test_of_two_commands_only_the_one_that_ran_may_have_had_effects(tmp_path: Path) -> None:
    calls = (
        call("run_command", command="echo up; sleep 50"),
        call("write_file", path="a", content="a"),
    )
    async with Stage(tmp_path, Reply(calls=calls), Reply(text="ok"), yolo=True) as stage:
        await stage.say_until("Go", prints)
        assert results(stage) == [f"up\n{INTERRUPTED}", NOT_RUN]
        assert not (stage.workspace / "a").exists()
        assert await stage.say("Go on") == "done"


async def test_what_is_known_of_stopped_calls_waits_for_a_disk_that_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full_disk = Disk(monkeypatch)
    calls = (
        call("run_command", command="echo up; sleep 50"),
        call("write_file", path="a", content="a"),
    )
    async with Stage(tmp_path, Reply(calls=calls), Reply(text="ok"), yolo=True) as stage:

        def fill(event: Event) -> None:
            full_disk.full = full_disk.full or prints(event)

        stage.listeners.append(fill)
        await stage.say_until("Go", prints)
        assert len(unanswered(stage.log)) == 2
        stage.listeners.clear()
        full_disk.full = False
        assert await stage.say("Go on") == "done"
        assert results(stage) == [f"up\n{INTERRUPTED}", NOT_RUN]


async def test_nobody_knows_how_far_a_call_came_that_a_log_was_found_with(tmp_path: Path) -> None:
    reply = Reply(calls=(call("read_file", path="a"),))
    async with Stage(tmp_path, reply, Reply(text="ok")) as stage:
        await stage.say("Go")
        session_id = stage.session.session_id
        lines = stage.log.read_bytes().splitlines(keepends=True)
    end = next(number for number, line in enumerate(lines) if b'"role":"tool"' in line)
    stage.log.write_bytes(b"".join(lines[:end]))
    async with Stage(tmp_path, Reply(text="ok"), resume=session_id) as again:
        assert await again.say("Go on") == "done"
        assert results(again) == [INTERRUPTED]
