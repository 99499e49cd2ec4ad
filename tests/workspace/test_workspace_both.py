"""A revert of files and conversation together: both halves or none, wherever it is cut off."""

from __future__ import annotations

import asyncio
import errno
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from agent_tui.core.errors import AgentTuiError
from agent_tui.core.records import RevertRecord, UserMessage, WorkspaceRecord
from agent_tui.core.words import describe_archive
from agent_tui.history.tree.record_words import describe_record
from agent_tui.providers.demo.scenario import Reply
from tests.agent.stage import Stage, call
from tests.faults.acts import SameThread
from tests.faults.shim import Call, Died, Fault, Shim

SCRIPT = (
    Reply(calls=(call("write_file", path="a.txt", content="agent\n"),)),
    Reply(calls=(call("run_command", command="echo shell > b.txt; rm c.txt"),)),
    Reply(text="done"),
)
OLD = {"a.txt": "agent\n", "b.txt": "shell\n"}
NEW = {"a.txt": "mine\n", "c.txt": "keep me\n"}


@dataclass(slots=True)
class Torn:
    """A session whose revert is broken at some call, again and again from the same start."""

    folder: Path
    session_id: str = ""
    calls: list[Call] = field(default_factory=list)
    fault: Fault | None = None
    error: BaseException | None = None
    told: str = ""

    def stage(self) -> Stage:
        return Stage(self.folder / "now", *SCRIPT, yolo=True, capture=True, resume=self.session_id)

    async def prepare(self) -> None:
        (self.folder / "now" / "work").mkdir(parents=True)
        for name, text in NEW.items():
            (self.folder / "now" / "work" / name).write_text(text)
        async with self.stage() as stage:
            await stage.say("Break things")
            await stage.session.files.timeline()
            self.session_id = stage.session.session_id
        shutil.copytree(self.folder / "now", self.folder / "kept")

    async def act(self, stage: Stage, what: str, shim: Shim | None = None) -> None:
        """Revert, undo or redo; what is broken in a revert is broken after its preview."""
        acts = {"undo": stage.operations.undo, "redo": stage.operations.redo}
        if what == "revert":
            plan = await stage.session.files.plan_since(0)
            if shim is not None:
                shim.arm(self.fault)
            await stage.operations.revert_both(plan, plan.default, 0)
            return
        if shim is not None:
            shim.arm(self.fault)
        self.told = (await acts[what]()).told

    async def break_at(self, fault: Fault | None, what: str) -> None:
        """Do something with a fault; a dead process is left as it lies."""
        self.error, self.fault, self.told = None, fault, ""
        shim = Shim()
        with shim.in_place():
            stage = self.stage()
            stage.engine._store._writer._thread = SameThread()
            await stage.__aenter__()
            acting = asyncio.ensure_future(self.act(stage, what, shim))
            while not acting.done() and not shim.dead:
                await asyncio.wait([acting], timeout=0.02)
            if shim.dead:  # what waits for a dead thread waits in vain
                await asyncio.wait([acting], timeout=2)
                self.error = acting.exception()
                return
            self.error = acting.exception()
            shim.disarm()
            self.calls = list(shim.calls)
            await stage.__aexit__(None, None, None)

    def reset(self) -> None:
        shutil.rmtree(self.folder / "now")
        shutil.copytree(self.folder / "kept", self.folder / "now")

    def keep(self) -> None:
        """From now on this is the start."""
        shutil.rmtree(self.folder / "kept")
        shutil.copytree(self.folder / "now", self.folder / "kept")

    def files(self) -> dict[str, str]:
        places = sorted((self.folder / "now" / "work").glob("*"))
        return {place.name: place.read_text() for place in places if place.is_file()}

    def halves(self, stage: Stage, where: str = "") -> tuple[bool, bool]:
        """Whether the files, and the conversation, are as the agent left them."""
        files = self.files()
        assert files in (OLD, NEW), f"{where}: {files}"
        return files == OLD, was_said(stage)

    async def judge(self, where: str) -> bool:
        """Open the session again; both halves say the same: whether all is as the agent left it."""
        async with self.stage() as stage:
            files, conversation = self.halves(stage, where)
            told = stage.session.notices
            assert files == conversation, f"{where}: files {files}, conversation {conversation}"
            assert not list((self.folder / "now" / "work").glob(".agent-tui-*")), where
            recovered = any("interrupted" in notice for notice in told)
            assert not (recovered and isinstance(self.error, type(None))), where
        async with self.stage() as stage:
            assert not stage.session.notices, where
        return files


def was_said(stage: Stage) -> bool:
    """Whether the prompt is in the conversation."""
    return any(isinstance(each, UserMessage) for each in stage.session.view.records)


def faults(calls: list[Call]) -> Iterator[tuple[Fault, str]]:
    """Death before every call that changes something, and an error in it."""
    for at, each in enumerate(calls, 1):
        if each.changes:
            yield Fault(at), f"death at {at} ({each.name} {each.about})"
            yield Fault(at, "error", errno.EIO), f"error at {at} ({each.name} {each.about})"


@pytest.mark.timeout(900)
@pytest.mark.parametrize("what", ["revert", "undo", "redo"])
async def test_both_halves_or_none_wherever_it_is_cut_off(tmp_path: Path, what: str) -> None:
    torn = Torn(tmp_path)
    await torn.prepare()
    for before in ("revert", "undo")[: ("revert", "undo", "redo").index(what)]:
        await torn.break_at(None, before)
        torn.keep()
    await torn.break_at(None, what)
    assert torn.error is None
    calls, wanted = torn.calls, what == "undo"
    assert await torn.judge("undisturbed") is wanted
    seen = set()
    every = 1 if what == "revert" else 3
    for fault, where in list(faults(calls))[::every]:
        torn.reset()
        await torn.break_at(fault, what)
        if "left as they are" in torn.told:  # it could not be read, and that is said
            continue
        found = await torn.judge(where)
        seen.add(found)
        if torn.error is None:
            assert found is wanted, f"{where}: it returned, but nothing was done"
    assert seen == {True, False}


async def test_a_death_between_the_halves_is_finished_at_the_next_start(tmp_path: Path) -> None:
    torn = Torn(tmp_path)
    await torn.prepare()
    await torn.break_at(None, "revert")
    names = [each.name for each in torn.calls]
    torn.reset()
    await torn.break_at(Fault(names.index("link") + 1), "revert")  # the log becomes an archive
    assert isinstance(torn.error, Died)
    assert torn.files() == NEW
    async with torn.stage() as stage:
        assert torn.halves(stage) == (False, False)
        assert "it is finished now" in stage.session.notices[0]
        await torn.act(stage, "undo")
        assert torn.halves(stage) == (True, True)


async def test_one_undo_and_one_redo_move_both(tmp_path: Path) -> None:
    torn = Torn(tmp_path)
    await torn.prepare()
    async with torn.stage() as stage:
        for what, wanted in (("revert", False), ("undo", True), ("redo", False), ("undo", True)):
            await torn.act(stage, what)
            assert torn.halves(stage) == (wanted, wanted), what
        with pytest.raises(AgentTuiError, match="nothing to undo"):
            await stage.operations.undo()
        await torn.act(stage, "redo")
        assert torn.halves(stage) == (False, False)
        archives = sorted(await stage.session.view.archives(), key=lambda each: each.number)
        assert [describe_archive(each) for each in archives[:3]] == [
            "before “Break things” was reverted",
            "before a revert was undone",
            "before a revert was redone",
        ]
    async with torn.stage() as stage:
        await torn.act(stage, "undo")
        assert torn.halves(stage) == (True, True)


async def test_undo_goes_back_through_every_operation_in_its_order(tmp_path: Path) -> None:
    torn = Torn(tmp_path)
    await torn.prepare()
    async with torn.stage() as stage:
        plan = await stage.session.files.plan_since(0)
        for path in ("a.txt", "b.txt"):
            await stage.operations.revert_files(plan, {(path, True): plan.default[path, True]})
        await stage.operations.revert(0)
        assert torn.files() == {"a.txt": "mine\n"}
        await stage.operations.undo()
        assert was_said(stage)
        assert torn.files() == {"a.txt": "mine\n"}
        await stage.operations.undo()
        assert torn.files() == {"a.txt": "mine\n", "b.txt": "shell\n"}
        await stage.operations.undo()
        assert torn.files() == OLD
        for wanted in ({"a.txt": "mine\n", "b.txt": "shell\n"}, {"a.txt": "mine\n"}):
            await stage.operations.redo()
            assert torn.files() == wanted


async def test_what_was_undone_and_redone_is_told_where_it_happened(tmp_path: Path) -> None:
    torn = Torn(tmp_path)
    await torn.prepare()
    async with torn.stage() as stage:
        await stage.operations.clear()
        for act, wanted in (("undo", "clear undone"), ("redo", "clear redone")):
            await torn.act(stage, act)
            records = stage.session.view.records
            (done,) = (describe_record(r) for r in records[-3:] if isinstance(r, RevertRecord))
            assert done == wanted


async def test_the_log_names_one_operation_for_both_halves(tmp_path: Path) -> None:
    torn = Torn(tmp_path)
    await torn.prepare()
    async with torn.stage() as stage:
        await torn.act(stage, "revert")
        records = stage.session.view.records
        (files,) = [
            each for each in records if isinstance(each, WorkspaceRecord) and each.operation
        ]
        (conversation,) = [each for each in records if isinstance(each, RevertRecord)]
        assert files.operation == conversation.operation
        plan = await stage.session.files.plan_since(None)
        assert not plan.default  # what was reverted is not offered again
