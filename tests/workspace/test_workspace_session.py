"""A session whose agent changes files: reverted, undone, redone, and after a restart."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
from dataclasses import replace
from functools import partialmethod
from pathlib import Path

import pytest

from agent_tui.agent.workspace_watch import UNWRITTEN
from agent_tui.core.errors import StorageError
from agent_tui.core.events import FilesChanged
from agent_tui.core.messages import ToolCall
from agent_tui.core.records import Record, ToolMessage, WorkspaceRecord
from agent_tui.library.exports.table import FORMATS
from agent_tui.providers.demo.scenario import Reply, ScriptedCall
from agent_tui.runtime.files.watching import tend_store, unlisted_forks
from agent_tui.runtime.stored.exporting import export_view
from agent_tui.ui.blocks import Changed, ToolBlock
from agent_tui.ui.widgets.timeline.record_view import RecordBlocks
from agent_tui.workspace.capture import Capture
from agent_tui.workspace.limits import Limits
from agent_tui.workspace.store import ContentStore, read_refs
from agent_tui.workspace.timeline import FileTimeline
from agent_tui.workspace.trimming import shrink
from tests.agent.stage import Stage, call
from tests.waiting import until
from tests.workspace.yard import git


def captures(stage: Stage) -> list[WorkspaceRecord]:
    return [record for record in stage.session.view.records if isinstance(record, WorkspaceRecord)]


def script() -> tuple[Reply, ...]:
    return (
        Reply(calls=(call("write_file", path="a.txt", content="one\nAGENT\nthree\n"),)),
        Reply(calls=(call("run_command", command="echo shell > b.txt; rm c.txt"),)),
        Reply(text="done"),
    )


async def test_what_an_agent_changed_goes_back_and_what_a_person_changed_stays(
    tmp_path: Path,
) -> None:
    async with Stage(tmp_path, *script(), yolo=True, capture=True) as stage:
        work = stage.workspace
        (work / "a.txt").write_text("one\ntwo\nthree\n")
        (work / "c.txt").write_text("keep me\n")
        await stage.say("Break things")
        await stage.session.files.timeline()
        (work / "a.txt").write_text("one\nAGENT\nthree\nMINE\n")

        plan = await stage.session.files.plan_since(0)
        assert {each.path: each.status for each in plan.paths if each.own} == {
            "a.txt": "merged",
            "b.txt": "clean",
            "c.txt": "clean",
        }
        assert not stage.operations.find_can_undo()
        report = await stage.operations.revert_files(plan, plan.default)
        assert report.told == "3 files reverted."
        assert stage.operations.find_can_undo()
        assert (work / "a.txt").read_text() == "one\ntwo\nthree\nMINE\n"
        assert not (work / "b.txt").exists()
        assert (work / "c.txt").read_text() == "keep me\n"

        await stage.operations.undo()
        assert not stage.operations.find_can_undo(), "what was ever reverted is undone"
        assert (work / "a.txt").read_text() == "one\nAGENT\nthree\nMINE\n"
        assert (work / "b.txt").read_text() == "shell\n"
        assert not (work / "c.txt").exists()
        await stage.operations.redo()
        assert (work / "a.txt").read_text() == "one\ntwo\nthree\nMINE\n"
        assert (work / "c.txt").exists()


@pytest.mark.parametrize(
    ("ticks", "told"),
    [
        (True, "Conversation and 3 files reverted."),
        (False, "Conversation reverted. No files were chosen, so none were changed."),
    ],
)
async def test_a_revert_of_both_says_both(tmp_path: Path, ticks: bool, told: str) -> None:
    async with Stage(tmp_path, *script(), yolo=True, capture=True) as stage:
        (stage.workspace / "a.txt").write_text("one\ntwo\nthree\n")
        (stage.workspace / "c.txt").write_text("keep me\n")
        await stage.say("Break things")
        plan = await stage.session.files.plan_since(0)
        done, _ = await stage.operations.revert_both(plan, plan.default if ticks else {}, 0)
        assert done.told == told


async def test_every_call_tells_what_it_really_changed(tmp_path: Path) -> None:
    async with Stage(tmp_path, *script(), yolo=True, capture=True) as stage:
        (stage.workspace / "a.txt").write_text("one\ntwo\nthree\n")
        (stage.workspace / "c.txt").write_text("keep me\n")
        await stage.say("Break things")
        await stage.session.files.timeline()
        told = [event for event in stage.events if isinstance(event, FilesChanged)]
        assert [(each.files, each.added, each.removed) for each in told] == [(1, 1, 1), (2, 1, 1)]
        assert [each.cause for each in captures(stage)] == ["outside", "tool_call", "tool_call"]


async def test_changes_are_told_by_turn_call_and_cause_since_any_checkpoint(
    tmp_path: Path,
) -> None:
    replies = (
        *script(),
        Reply(calls=(call("write_file", path="d.txt", content="later\n"),)),
        Reply(text="done"),
    )
    async with Stage(tmp_path, *replies, yolo=True, capture=True) as stage:
        files = stage.session.files
        (stage.workspace / "c.txt").write_text("keep me\n")
        await stage.say("Break things")
        await files.timeline()
        (stage.workspace / "mine.txt").write_text("mine\n")
        await stage.say("Go on")
        told = [
            (each.cause, each.tool, each.turn, {file.path for file in each.files})
            for each in await files.changes()
        ]
        assert told == [
            ("tool_call", "write_file", 1, {"a.txt"}),
            ("tool_call", "run_command", 1, {"b.txt", "c.txt"}),
            ("human", "", 2, {"mine.txt"}),
            ("tool_call", "write_file", 2, {"d.txt"}),
        ]
        second = max(each.checkpoint or 0 for each in await files.changes())
        later = [file.path for each in await files.changes(second) for file in each.files]
        assert later == ["d.txt"]


def task(prompt: str) -> ScriptedCall:
    return call("task", agent="worker", prompt=prompt, id=prompt)


async def test_what_a_subagent_changed_is_the_agents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two of them at once: to the session that let them work it is all its own."""
    monkeypatch.setenv("AGENT_TUI_HOME", str(tmp_path / "home"))
    folder = tmp_path / "home" / "agents"
    folder.mkdir(parents=True)
    (folder / "worker.yaml").write_text(
        "extend: default\nname: worker\ndescription: Works.\nsubagents: []\n"
    )
    (folder / "boss.yaml").write_text("extend: default\nsubagents: [worker]\n")
    replies = (
        Reply(calls=(task("One"), task("Two"))),
        Reply(calls=(call("write_file", path="made.txt", content="worker\n"),)),
        Reply(calls=(call("write_file", path="a.txt", content="worker\n"),)),
        Reply(text="Written."),
        Reply(text="Written."),
        Reply(calls=(task("Three"),)),
        Reply(text="Nothing to do."),
        Reply(text="done"),
    )
    async with Stage(tmp_path, *replies, yolo=True, capture=True, spec="boss") as stage:
        (stage.workspace / "a.txt").write_text("mine\n")
        await stage.say("Let others work")
        plan = await stage.session.files.plan_since(0)
        assert {each.path for each in plan.paths if each.own} == {"a.txt", "made.txt"}
        found = [each for each in captures(stage) if each.cause != "outside"]
        assert {each.cause for each in found} == {"tool_call"}
        assert {each.call for each in found} <= {"One", "Two"}, "the third one changed nothing"
        await stage.operations.revert_files(plan, plan.default)
        assert (stage.workspace / "a.txt").read_text() == "mine\n"
        assert not (stage.workspace / "made.txt").exists()


async def test_what_a_call_changed_is_its_own_while_it_runs(tmp_path: Path) -> None:
    """A person may look at the changes before it ends."""
    end = tmp_path / "end"
    command = f"echo x > b.txt; until test -e {end}; do sleep 0.02; done; echo y > c.txt"
    replies = (Reply(calls=(call("run_command", command=command, id="c1"),)), Reply(text="done"))
    async with Stage(tmp_path, *replies, yolo=True, capture=True) as stage:
        turn = asyncio.create_task(stage.say("Go"))
        await until(None, (stage.workspace / "b.txt").exists)
        (group,) = await stage.session.files.changes()
        assert (group.cause, [each.path for each in group.files]) == ("tool_call", ["b.txt"])
        end.touch()
        await turn
        await stage.session.files.timeline()
        found = [(each.cause, each.call) for each in captures(stage)]
        assert found == [("outside", ""), ("tool_call", "c1"), ("tool_call", "c1")]


async def test_a_revert_can_be_undone_after_a_restart(tmp_path: Path) -> None:
    async with Stage(tmp_path, *script(), yolo=True, capture=True) as stage:
        (stage.workspace / "c.txt").write_text("keep me\n")
        await stage.say("Break things")
        plan = await stage.session.files.plan_since(0)
        await stage.operations.revert_files(plan, plan.default)
        session_id = stage.session.session_id
    async with Stage(tmp_path, yolo=True, capture=True, resume=session_id) as stage:
        assert not (stage.workspace / "b.txt").exists()
        await stage.operations.undo()
        assert (stage.workspace / "b.txt").read_text() == "shell\n"
        assert not (stage.workspace / "c.txt").exists()


async def test_files_go_back_after_the_conversation_did(tmp_path: Path) -> None:
    """What was captured is in an archive then: it is found all the same."""
    async with Stage(tmp_path, *script(), yolo=True, capture=True) as stage:
        (stage.workspace / "c.txt").write_text("keep me\n")
        await stage.say("Break things")
        first = stage.session.view.checkpoints()[0]
        uuid = stage.session._log.state.checkpoints[first.id].record.stamp.uuid
        await stage.session.files.timeline()
        await stage.operations.revert(0)
        assert not captures(stage)
        plan = await stage.session.files.plan_since(uuid)
        await stage.operations.revert_files(plan, plan.default)
        assert (stage.workspace / "c.txt").read_text() == "keep me\n"
        assert not (stage.workspace / "a.txt").exists()


async def test_files_go_back_to_a_checkpoint_of_another_branch(tmp_path: Path) -> None:
    """Also what was changed on the branch that came after it; undo brings both again."""
    replies = (
        *script(),
        Reply(calls=(call("write_file", path="d.txt", content="another way\n"),)),
        Reply(text="done"),
    )
    async with Stage(tmp_path, *replies, yolo=True, capture=True) as stage:
        work, operations = stage.workspace, stage.operations
        (work / "c.txt").write_text("keep me\n")
        await stage.say("Break things")
        await stage.session.files.timeline()
        left = stage.session._log.state.checkpoints[0].record.stamp.uuid
        await operations.revert(0)
        await stage.say("Another way")
        plan = await stage.session.files.plan_since(left)
        await operations.revert_files(plan, plan.default)
        assert {path.name for path in work.iterdir()} == {"c.txt"}
        await operations.undo()
        assert {path.name for path in work.iterdir()} == {"a.txt", "b.txt", "d.txt"}


async def test_a_fork_reverts_what_changed_before_it_was_made(tmp_path: Path) -> None:
    """Also when the session that it was made from has lost its contents to make room."""
    async with Stage(tmp_path, *script(), yolo=True, capture=True) as stage:
        (stage.workspace / "c.txt").write_text("keep me\n")
        await stage.say("Break things")
        await stage.session.files.timeline()
        fork = await stage.engine.open_session(await stage.operations.fork())
        await fork.files.changes()
        (folder,) = stage.folder.glob("home/projects/*/workspace")
        own = folder / "sessions" / fork.session_id
        assert shrink([str(folder)], 0, str(own)) == [stage.session.session_id]
        plan = await fork.files.plan_since(0)
        await fork.operations.revert_files(plan, plan.default)
        assert (stage.workspace / "c.txt").read_text() == "keep me\n"
        assert not (stage.workspace / "a.txt").exists()
        await fork.close()


def use_store(folder: Path, session: str, moment: int) -> None:
    """A session that keeps a content of its own, and was used last at a moment."""
    store = ContentStore(str(folder), session)
    store.prepare()
    store.put(session.encode() * 1000)
    store.flush()
    os.utime(folder / "sessions" / session / "refs", (moment, moment))


async def test_a_fork_that_nobody_opened_yet_keeps_what_it_inherited(tmp_path: Path) -> None:
    """Another window makes room meanwhile; the oldest is the session that it was made from."""
    async with Stage(tmp_path, *script(), yolo=True, capture=True) as stage:
        (stage.workspace / "c.txt").write_text("keep me\n")
        await stage.say("Break things")
        await stage.session.files.timeline()
        fork = await stage.operations.fork()
        (folder,) = stage.folder.glob("home/projects/*/workspace")
        os.utime(folder / "sessions" / stage.session.session_id / "refs", (1, 1))
        use_store(folder, "old", 2)
        limits = Limits(store_bytes=500)
        other = Capture(str(stage.workspace), ContentStore(str(folder), "other"), limits)
        tend_store(other, FileTimeline())
        assert {path.name for path in (folder / "sessions").iterdir()} == {fork, "other"}
        opened = await stage.engine.open_session(fork)
        plan = await opened.files.plan_since(0)
        await opened.operations.revert_files(plan, plan.default)
        assert (stage.workspace / "c.txt").read_text() == "keep me\n"
        assert not (stage.workspace / "a.txt").exists()
        await opened.close()


async def test_a_session_that_is_taken_up_again_is_not_the_oldest(tmp_path: Path) -> None:
    """Another window makes room while somebody works in it."""
    async with Stage(tmp_path, *script(), yolo=True, capture=True) as stage:
        await stage.session.files.changes()
        (folder,) = stage.folder.glob("home/projects/*/workspace")
        for name, moment in (("taken up", 1), ("younger", 2)):
            use_store(folder, name, moment)
        taken_up = ContentStore(str(folder), "taken up")
        tend_store(Capture(str(stage.workspace), taken_up), FileTimeline())
        spare = str(folder / "sessions" / "other")
        assert shrink([str(folder)], 0, spare)[-2:] == ["younger", "taken up"]


async def test_what_a_killed_program_left_half_written_goes_with_the_next_session(
    tmp_path: Path,
) -> None:
    async with Stage(tmp_path, *script(), yolo=True, capture=True) as stage:
        git(stage.workspace, "init", "-q")
        await stage.say("Break things")
        await stage.session.files.timeline()
        (head,) = stage.folder.glob("home/projects/*/workspace/git/*/HEAD")
        left = head.with_name("HEAD.17.140.tmp")
        left.write_text("half")
        other = ContentStore(str(head.parents[2]), "other")
        tend_store(Capture(str(stage.workspace), other), FileTimeline())
        assert not left.exists()
        assert head.exists()


async def test_a_fork_that_nobody_opened_goes_in_its_turn_where_room_is_made(
    tmp_path: Path,
) -> None:
    """A compaction put what it inherited into an archive; it is as old as its log."""
    summary = Reply(text="Things were broken.")
    async with Stage(tmp_path, *script(), compactions=(summary,), yolo=True, capture=True) as stage:
        (stage.workspace / "c.txt").write_text("keep me\n")
        await stage.say("Break things " * 400)
        await stage.session.files.timeline()
        await stage.operations.compact()
        fork = await stage.operations.fork()
        (folder,) = stage.folder.glob("home/projects/*/workspace")
        (found,) = unlisted_forks(str(folder))
        assert found.session_id == fork
        assert hashlib.sha256(b"keep me\n").hexdigest() in dict(found.needed)
        os.utime(folder.parent / fork / "context.jsonl", (1, 1))
        use_store(folder, "younger", 2)
        own = folder / "sessions" / stage.session.session_id
        assert shrink([str(folder)], 0, str(own), unlisted_forks) == [fork, "younger"]
        assert shrink([str(folder)], 10**6, str(own), unlisted_forks) == []
        assert [path.name for path in (folder / "sessions").iterdir()] == [own.name]


async def test_a_fork_that_has_to_wait_too_long_says_later_what_it_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While another window reverts files, say."""
    soon = partialmethod(ContentStore.locked, seconds=0.1)
    async with Stage(tmp_path, *script(), yolo=True, capture=True) as stage:
        (stage.workspace / "c.txt").write_text("keep me\n")
        await stage.say("Break things")
        await stage.session.files.timeline()
        (folder,) = stage.folder.glob("home/projects/*/workspace")
        fork = await stage.engine.open_session(await stage.operations.fork())
        with ContentStore(str(folder), "other").locked(alone=True):
            monkeypatch.setattr(ContentStore, "locked", soon)
            await fork.files.changes()
        own = folder / "sessions" / fork.session_id
        assert not list(read_refs(str(own)))
        (stage.workspace / "d.txt").write_text("a person's\n")
        await fork.files.changes()
        assert stage.session.session_id in shrink([str(folder)], 0, str(own))
        plan = await fork.files.plan_since(0)
        await fork.operations.revert_files(plan, plan.default)
        assert (stage.workspace / "c.txt").read_text() == "keep me\n"
        await fork.close()


async def test_what_is_captured_is_never_sent_and_never_exported(tmp_path: Path) -> None:
    async with Stage(tmp_path, *script(), yolo=True, capture=True) as stage:
        (stage.workspace / "c.txt").write_text("keep me\n")
        await stage.say("Break things")
        await stage.session.files.timeline()
        assert captures(stage)
        for message in stage.session._parts.now.context.history:
            assert "_workspace" not in json.dumps(str(message))
        for form in FORMATS:
            exported = (await export_view(stage.session.view, form)).content.decode()
            assert "_workspace" not in exported
            state = captures(stage)[1].delta[0].new
            assert state is not None
            assert state.hash not in exported


async def test_files_go_back_after_a_compaction(tmp_path: Path) -> None:
    """Others lose the history of files together with the messages that are summarised."""
    summary = Reply(text="Things were broken.")
    async with Stage(tmp_path, *script(), compactions=(summary,), yolo=True, capture=True) as stage:
        work = stage.workspace
        (work / "a.txt").write_text("one\ntwo\nthree\n")
        (work / "c.txt").write_text("keep me\n")
        await stage.say("Break things " * 400)
        first = stage.session.view.checkpoints()[0]
        uuid = stage.session._log.state.checkpoints[first.id].record.stamp.uuid
        await stage.session.files.timeline()
        await stage.operations.compact()
        assert "compacted" in stage.transcript()
        # The first is in the archive now, the last told with the call that was kept.
        assert [change.path for each in captures(stage) for change in each.delta] == [
            "b.txt",
            "c.txt",
        ]
        plan = await stage.session.files.plan_since(uuid)
        await stage.operations.revert_files(plan, plan.default)
        assert (work / "a.txt").read_text() == "one\ntwo\nthree\n"
        assert (work / "c.txt").read_text() == "keep me\n"
        assert not (work / "b.txt").exists()
        session_id = stage.session.session_id
    async with Stage(tmp_path, yolo=True, capture=True, resume=session_id) as stage:
        await stage.operations.undo()
        assert (stage.workspace / "b.txt").read_text() == "shell\n"


async def test_a_checkpoint_after_a_compaction_does_not_undo_what_came_before(
    tmp_path: Path,
) -> None:
    """Nothing was captured since, so the log that the checkpoint is in names no capture."""
    summary = Reply(text="Things were broken.")
    async with Stage(tmp_path, *script(), compactions=(summary,), yolo=True, capture=True) as stage:
        (stage.workspace / "c.txt").write_text("keep me\n")
        await stage.say("Break things " * 400)
        await stage.session.files.timeline()
        await stage.operations.compact()
        assert not (await stage.session.files.plan_since(0)).paths
        (stage.workspace / "a.txt").write_text("a person's\n")
        (later,) = (await stage.session.files.plan_since(0)).paths
        assert (later.path, later.own) == ("a.txt", False)


async def test_what_a_kept_call_changed_is_still_told_after_a_compaction(tmp_path: Path) -> None:
    summary = Reply(text="Things were broken.")
    async with Stage(tmp_path, *script(), compactions=(summary,), yolo=True, capture=True) as stage:
        await stage.say("Break things " * 400)
        before = await stage.session.files.timeline()
        ids = [each.stamp.uuid for each in before.captures]
        told = [each for each in captures(stage) if each.call]
        await stage.operations.compact()
        records = list(stage.session.view.records)
        kept = [each.tool_call_id for each in records if isinstance(each, ToolMessage)]
        assert kept == [told[-1].call]
        assert captures(stage) == told[-1:]
        blocks = RecordBlocks(records)
        shown = [blocks.block(index) for index in range(len(records))]
        changed = [block.changed for block in shown if isinstance(block, ToolBlock)]
        assert changed == [Changed(1, 1, 0)]
        after = await stage.session.files.timeline()
        assert [each.stamp.uuid for each in after.captures] == ids  # none is there twice


async def test_a_prompt_does_not_wait_for_a_capture(tmp_path: Path) -> None:
    """The store is locked all the while: a turn that waited for it could not end."""
    async with Stage(tmp_path, Reply(text="Hello."), capture=True) as stage:
        (stage.workspace / "a.txt").write_text("a\n")
        store = stage.session.files._store
        with store.locked(alone=True):
            assert await stage.say("Hi") == "done"
            assert not captures(stage)
        await stage.session.files.timeline()
        assert [each.status for each in captures(stage)] == ["captured"]


async def test_a_tool_waits_for_a_capture_up_to_a_limit_and_then_its_changes_are_doubtful(
    tmp_path: Path,
) -> None:
    async with Stage(tmp_path, *script(), yolo=True, capture=True) as stage:
        (stage.workspace / "c.txt").write_text("keep me\n")
        await stage.say("Break things")
        await stage.session.files.timeline()
        capture = stage.session._parts.equipment.watch.capture
        assert capture is not None
        capture.limits = replace(capture.limits, wait_seconds=0.05)
        with stage.session.files._store.locked(alone=True):
            async with stage.session._parts.equipment.watch.around(
                ToolCall("id", "run_command", "{}")
            ):
                (stage.workspace / "d.txt").write_text("agent\n")
        await stage.session.files.timeline()
        found = [each for each in captures(stage) if any(c.path == "d.txt" for c in each.delta)]
        assert [each.cause for each in found] == ["outside"]
        assert "could not be captured before run_command ran" in found[0].why


async def test_what_could_not_be_written_down_is_nobodys_later(tmp_path: Path) -> None:
    """The disk was full for a moment: what a person changed before a call is not the call's."""
    async with Stage(tmp_path, *script(), yolo=True, capture=True) as stage:
        await stage.session.files.changes()
        watch = stage.session._parts.equipment.watch
        note = watch._note

        async def fail(_: WorkspaceRecord) -> list[Record]:
            raise StorageError("No space left on device")

        (stage.workspace / "mine.txt").write_text("a person's\n")
        watch._note = fail
        async with watch.around(ToolCall("id", "run_command", "{}")):
            watch._note = note
            (stage.workspace / "d.txt").write_text("agent\n")
        await stage.session.files.timeline()
        (found,) = [each for each in captures(stage) if each.delta]
        assert [change.path for change in found.delta] == ["d.txt", "mine.txt"]
        assert (found.cause, found.why) == ("outside", UNWRITTEN)
        plan = await stage.session.files.plan_since(None)
        assert not any(plan.default.values())
        (stage.workspace / "e.txt").write_text("agent\n")
        async with watch.around(ToolCall("id2", "run_command", "{}")):
            (stage.workspace / "e.txt").write_text("agent again\n")
        await stage.session.files.timeline()
        assert captures(stage)[-1].cause == "tool_call"


async def test_a_rebase_in_progress_is_told_and_only_the_conversation_is_offered(
    tmp_path: Path,
) -> None:
    async with Stage(tmp_path, *script(), yolo=True, capture=True) as stage:
        git(stage.workspace, "init", "-q")
        (stage.workspace / "c.txt").write_text("keep me\n")
        await stage.say("Break things")
        (stage.workspace / ".git" / "rebase-merge").mkdir()
        plan = await stage.session.files.plan_since(0)
        assert plan.conversation_only
        assert plan.notices == (
            "Git is in the middle of a rebase. Its refs and index are not changed.",
        )
