"""A session whose agent changes files: reverted, undone, redone, and after a restart."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from agent_tui.core.events import FilesChanged
from agent_tui.core.messages import ToolCall
from agent_tui.core.records import WorkspaceRecord
from agent_tui.library.exports.table import FORMATS
from agent_tui.providers.demo.scenario import Reply
from agent_tui.runtime.stored.exporting import export_view
from tests.agent.stage import Stage, call
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
        report = await stage.operations.revert_files(plan, plan.default)
        assert report.told == "3 files reverted."
        assert (work / "a.txt").read_text() == "one\ntwo\nthree\nMINE\n"
        assert not (work / "b.txt").exists()
        assert (work / "c.txt").read_text() == "keep me\n"

        await stage.operations.undo()
        assert (work / "a.txt").read_text() == "one\nAGENT\nthree\nMINE\n"
        assert (work / "b.txt").read_text() == "shell\n"
        assert not (work / "c.txt").exists()
        await stage.operations.redo()
        assert (work / "a.txt").read_text() == "one\ntwo\nthree\nMINE\n"
        assert (work / "c.txt").exists()


async def test_every_call_tells_what_it_really_changed(tmp_path: Path) -> None:
    async with Stage(tmp_path, *script(), yolo=True, capture=True) as stage:
        (stage.workspace / "a.txt").write_text("one\ntwo\nthree\n")
        (stage.workspace / "c.txt").write_text("keep me\n")
        await stage.say("Break things")
        await stage.session.files.timeline()
        told = [event for event in stage.events if isinstance(event, FilesChanged)]
        assert [(each.files, each.added, each.removed) for each in told] == [(1, 1, 1), (2, 1, 1)]
        assert [each.cause for each in captures(stage)] == ["outside", "tool_call", "tool_call"]


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
        assert not captures(stage)  # they are in the archive now
        plan = await stage.session.files.plan_since(uuid)
        await stage.operations.revert_files(plan, plan.default)
        assert (work / "a.txt").read_text() == "one\ntwo\nthree\n"
        assert (work / "c.txt").read_text() == "keep me\n"
        assert not (work / "b.txt").exists()
        session_id = stage.session.session_id
    async with Stage(tmp_path, yolo=True, capture=True, resume=session_id) as stage:
        await stage.operations.undo()
        assert (stage.workspace / "b.txt").read_text() == "shell\n"


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
        assert plan.notices == ("Git is in the middle of a rebase; refs and index are left alone.",)
