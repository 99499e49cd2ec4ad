"""Commands in the background: they go on beside the turn, and never outlive the session."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from agent_tui.core.errors import SessionReadOnly, StorageError, ToolError
from agent_tui.core.events import NoticeGiven, ToolStarted
from agent_tui.core.records import Record
from agent_tui.providers.demo.scenario import Reply
from agent_tui.sessions.session_log import SessionLog
from agent_tui.tools.background_command import EndedCommands
from agent_tui.tools.child import Ended
from agent_tui.tools.output import BoundedOutput
from agent_tui.tools.running_commands import MOST_AT_ONCE, RunningCommand, RunningCommands
from tests.agent.stage import Stage, call
from tests.tools.test_tools_run_command import eventually_gone
from tests.waiting import until

_TICK = "echo ready; sleep 600"
START = Reply(calls=(call("run_command", command=_TICK, background=True),))
LOOK = Reply(calls=(call("background_command", number=1, action="wait", seconds=1),))
STOP = Reply(calls=(call("background_command", number=1, action="stop"),))


async def pid_of(stage: Stage) -> int:
    """The process of the command, as it is called outside of any namespace of its own."""
    for _ in range(500):
        if found := _ours(stage.workspace):
            return min(found)
        await asyncio.sleep(0.02)
    raise AssertionError("the command never ran")


def _ours(workspace: Path) -> list[int]:
    folders = [each for each in Path("/proc").iterdir() if each.name.isdecimal()]
    return [int(each.name) for each in folders if _is_ours(each, workspace)]


def _is_ours(process: Path, workspace: Path) -> bool:
    try:
        arguments = (process / "cmdline").read_bytes()
        return (process / "cwd").readlink() == workspace and _TICK.encode() in arguments
    except OSError:
        return False


async def test_a_turn_with_a_command_in_the_background(tmp_path: Path) -> None:
    async with Stage(tmp_path, START, LOOK, STOP, Reply(text="Done."), yolo=True) as stage:
        await stage.say("Serve it")
        assert stage.transcript() == snapshot(
            [
                "checkpoint 0 (turn 1, step 0)",
                "turn 1: Serve it",
                "checkpoint 1 (turn 1, step 1)",
                "step 1",
                "call run_command",
                'start run_command {"command": "echo ready; sleep 600", "background": true}',
                "background: echo ready; sleep 600",
                "ok run_command: [background command 1 started; use backg",
                "checkpoint 2 (turn 1, step 2)",
                "step 2",
                "call background_command",
                'start background_command {"number": 1, "action": "wait", "seconds": 1}',
                "ok background_command: ready",
                "checkpoint 3 (turn 1, step 3)",
                "step 3",
                "call background_command",
                'start background_command {"number": 1, "action": "stop"}',
                "background: none",
                "ok background_command: ready",
                "checkpoint 4 (turn 1, step 4)",
                "step 4",
                "text: Done.",
                "turn 1 done after 4",
            ]
        )
        said = [line["content"] for line in stage.on_disk("tool")]
        assert said[1:] == ["ready\n[still running]", "ready\n[stopped]"]


async def test_calls_on_one_command_run_in_the_order_in_which_they_were_written(
    tmp_path: Path,
) -> None:
    wait = call("background_command", number=1, action="wait", seconds=60)
    stop = call("background_command", number=1, action="stop")
    other = call("background_command", number=7, action="stop")
    start = Reply(calls=(call("run_command", command="sleep 0.2; exit 3", background=True),))
    script = (start, Reply(calls=(wait, stop, other)), Reply(text="3."))
    async with Stage(tmp_path, *script, yolo=True) as stage:
        await stage.say("Run it")
        assert [line["content"] for line in stage.on_disk("tool")][1:] == [
            "There is no background command 7; there are: 1.",
            "[exit code 3]",
            "[exit code 3]",
        ]


async def test_a_command_goes_on_behind_the_turn_and_ends_with_the_session(tmp_path: Path) -> None:
    async with Stage(tmp_path, START, Reply(text="It runs."), yolo=True) as stage:
        await stage.say("Serve it")
        pid = await pid_of(stage)
        assert stage.session.commands.titles == (_TICK,)
    await eventually_gone(pid)


async def test_cancelling_a_wait_leaves_the_command_running(tmp_path: Path) -> None:
    wait = Reply(calls=(call("background_command", number=1, action="wait", seconds=600),))
    async with Stage(tmp_path, START, wait, Reply(text="Later."), yolo=True) as stage:
        await stage.say_until(
            "Serve it",
            lambda event: isinstance(event, ToolStarted) and event.call.name != "run_command",
        )
        assert stage.session.commands.titles == (_TICK,)
        assert await stage.say("Never mind") == "done"


async def test_one_that_ends_by_itself_tells_its_exit_code(tmp_path: Path) -> None:
    start = Reply(calls=(call("run_command", command="echo x; exit 3", background=True),))
    wait = Reply(calls=(call("background_command", number=1, action="wait", seconds=60),))
    missing = Reply(calls=(call("background_command", number=7, action="stop"),))
    async with Stage(tmp_path, start, wait, missing, Reply(text="3."), yolo=True) as stage:
        await stage.say("Run it")
        results = stage.on_disk("tool")
        assert (results[1]["content"], results[1]["is_error"]) == ("x\n[exit code 3]", True)
        assert results[2]["content"] == "There is no background command 7; there are: 1."


async def test_the_agent_is_told_at_its_next_step_what_ended_meanwhile(tmp_path: Path) -> None:
    start = Reply(calls=(call("run_command", command="echo x; exit 3", background=True),))
    async with Stage(tmp_path, start, Reply(text="."), Reply(text="Oh."), yolo=True) as stage:
        await stage.say("Run it")
        await until(None, lambda: not stage.session.commands.titles)
        await stage.say("And now?")
        await stage.say("And now?")
        told = [line["content"] for line in stage.on_disk("user") if line["origin"] == "reminder"]
        assert told == snapshot(
            [
                "<system>Background command 1 (echo x; exit 3) ended [exit code 3]. "
                "background_command reads its output.</system>"
            ]
        )


async def test_what_ran_before_a_compaction_is_told_when_the_session_is_opened_again(
    tmp_path: Path,
) -> None:
    """The start is in an archive, or in one before it: no number means two commands."""
    more = Reply(text="lorem ipsum dolor " * 400)
    first = (START, more, more, more)
    async with Stage(tmp_path, *first, yolo=True) as stage:
        for prompt in ("Serve it", "And then?", "And then?"):
            await stage.say(prompt)
        await stage.operations.compact(strategy="fallback")
        await stage.say("And then?")
        await stage.operations.compact(strategy="fallback")
        assert len(list(stage.log.parent.glob("context.jsonl.[12]"))) == 2
        assert "background command 1 started" not in stage.log.read_text()
        name = stage.session.session_id
    async with Stage(tmp_path, START, Reply(text="."), resume=name, yolo=True) as stage:
        await stage.say("Go on")
        told = [line["content"] for line in stage.on_disk("user") if line["origin"] == "reminder"]
        assert told == snapshot(
            [
                "<system>Background command 1 (echo ready; sleep 600) is gone: it ended before "
                "this session was opened again. Run it again if it is still needed.</system>"
            ]
        )
        started = stage.on_disk("tool")[-1]["content"]
        assert started.startswith("[background command 2 started"), "1 is known already"


def told_in(stage: Stage) -> list[str]:
    """The numbers of the commands of which the agent was told."""
    reminders = [line["content"] for line in stage.on_disk("user") if line["origin"] == "reminder"]
    return [each.split()[2] for each in reminders]


async def compacted_twice(tmp_path: Path) -> tuple[str, Path]:
    """A session that left command 1 in its first archive, and command 2 in its last one."""
    more = Reply(text="lorem ipsum dolor " * 400)
    async with Stage(tmp_path, START, more, more, START, more, more, more, yolo=True) as stage:
        for prompt in ("Serve it", "And then?"):
            await stage.say(prompt)
        await stage.operations.compact(strategy="fallback")
        for prompt in ("Serve it", "And then?", "And then?"):
            await stage.say(prompt)
        await stage.operations.compact(strategy="fallback")
        return stage.session.session_id, stage.log.parent


async def test_an_archive_that_cannot_be_read_hides_no_older_one(tmp_path: Path) -> None:
    name, folder = await compacted_twice(tmp_path)
    (folder / "context.jsonl.2").unlink()
    (folder / "context.jsonl.2").mkdir()
    async with Stage(tmp_path, Reply(text="."), resume=name, yolo=True) as stage:
        assert await stage.say("Go on") == "done"
        assert told_in(stage) == ["1"]


@pytest.mark.parametrize("error", [SessionReadOnly("no"), StorageError("no"), OSError("no")])
async def test_archives_that_cannot_be_listed_fail_no_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    name, _ = await compacted_twice(tmp_path)

    def refuse(_log: SessionLog) -> dict[int, Path]:
        raise error

    async with Stage(tmp_path, START, Reply(text="."), resume=name, yolo=True) as stage:
        monkeypatch.setattr(SessionLog, "archive_files", refuse)
        assert await stage.say("Go on") == "done"


async def test_what_a_session_was_is_looked_through_beside_the_loop(tmp_path: Path) -> None:
    looked = list[bool]()

    def messages() -> Iterator[Record]:
        looked.append(threading.current_thread() is threading.main_thread())
        yield from ()

    assert await EndedCommands(RunningCommands(), messages).tell() == []
    assert looked == [False]


async def test_the_agent_is_told_once_what_ended_with_the_program(tmp_path: Path) -> None:
    """What it stopped or was told of is not told again; no number means two commands."""
    serve = call("run_command", id="a", command=_TICK, background=True)
    short = call("run_command", id="b", command="exit 3", background=True)
    stopped = call("run_command", id="c", command="sleep 700", background=True)
    stop = call("background_command", id="d", number=3, action="stop")
    look = call("background_command", id="e", number=1, action="wait", seconds=0)
    first = (Reply(calls=(serve, short, stopped)), Reply(calls=(stop, look)), Reply(text="."))
    async with Stage(tmp_path, *first, Reply(text="."), yolo=True) as stage:
        await stage.say("Serve it")
        await until(None, lambda: stage.session.commands.titles == (_TICK,))
        await stage.say("And now?")
        name = stage.session.session_id
    again = Reply(calls=(look, call("run_command", id="f", command=_TICK, background=True)))
    async with Stage(tmp_path, again, Reply(text="."), resume=name, yolo=True) as stage:
        await stage.say("Go on")
        await stage.say("And now?")
        told = [line["content"] for line in stage.on_disk("user") if line["origin"] == "reminder"]
        assert ["Background command 2" in each for each in told] == [True, False]
        assert told[1:] == snapshot(
            [
                "<system>Background command 1 (echo ready; sleep 600) is gone: it ended before "
                "this session was opened again. Run it again if it is still needed.</system>"
            ]
        )
        results = [line["content"] for line in stage.on_disk("tool")][-2:]
        assert [each.split("[")[-1][:28] for each in results] == snapshot(
            [
                "Background command 1 is gone",
                "background command 4 started",
            ]
        )


async def test_a_cancel_between_two_reminders_loses_none(tmp_path: Path) -> None:
    starts = tuple(call("run_command", command=f"exit {code}", background=True) for code in (3, 4))
    replies = Reply(calls=starts), Reply(text="."), Reply(text="Oh.")
    async with Stage(tmp_path, *replies, yolo=True) as stage:
        await stage.say("Run both")
        await until(None, lambda: not stage.session.commands.titles)
        await stage.say_until("And now?", lambda event: isinstance(event, NoticeGiven))
        await stage.say("And now?")
        told = [line["content"] for line in stage.on_disk("user") if line["origin"] == "reminder"]
        assert [f"[exit code {code}]" in each for each, code in zip(told, (3, 4), strict=True)] == [
            True,
            True,
        ]


async def test_of_what_a_person_stopped_the_agent_is_told(tmp_path: Path) -> None:
    async with Stage(tmp_path, START, Reply(text="."), Reply(text="Oh."), yolo=True) as stage:
        await stage.say("Serve it")
        pid = await pid_of(stage)
        await stage.session.commands.stop(1, by_user=True)
        await eventually_gone(pid)
        assert stage.session.commands.titles == ()
        await stage.say("And now?")
        told = [line["content"] for line in stage.on_disk("user") if line["origin"] == "reminder"]
        assert ["ended [stopped by the user]" in each for each in told] == [True]


async def test_only_so_many_run_at_once() -> None:
    commands = RunningCommands()

    def wait(stop: object, _: BoundedOutput) -> Ended:
        stop.wait()  # type: ignore[attr-defined]  # a threading.Event
        return Ended("stopped", 0, left_children=False)

    for number in range(MOST_AT_ONCE):
        commands.start(f"sleep {number}", BoundedOutput(100), wait)
    with pytest.raises(ToolError, match="stop one of them"):
        commands.start("one more", BoundedOutput(100), wait)
    await commands.close()
    assert commands.titles == ()


async def test_an_agent_that_waits_for_long_does_not_go_in_circles(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def wait(commands: RunningCommands, number: int, _seconds: float) -> RunningCommand:
        return commands.find(number)

    monkeypatch.setattr(RunningCommands, "wait", wait)
    script = (START, *(LOOK for _ in range(7)), STOP, Reply(text="Built."))
    async with Stage(tmp_path, *script, yolo=True) as stage:
        assert await stage.say("Build it") == "done"
        assert not [m for m in stage.on_disk("user") if m["origin"] == "reminder"]


async def test_an_agent_that_only_looks_again_and_again_goes_in_circles(tmp_path: Path) -> None:
    look = Reply(calls=(call("background_command", number=1, action="wait", seconds=0),))
    script = (START, *(look for _ in range(7)), STOP, Reply(text="Built."))
    async with Stage(tmp_path, *script, yolo=True) as stage:
        assert await stage.say("Build it") == "repetition"
