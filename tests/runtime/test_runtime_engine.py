"""Sessions of an engine: found, listed, renamed, thrown away, brought back, exported, mended."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from agent_tui.config import ContextSettings
from agent_tui.core.errors import SessionError, SessionNotFound, SessionReadOnly, StorageError
from agent_tui.core.events import (
    ApprovalAnswer,
    ApprovalRequested,
    CompactionFinished,
    Event,
    ShellBegan,
    ShellEnded,
    ShellOutput,
)
from agent_tui.core.records import DAMAGED_LINES, ModelRecord, UnknownRecord
from agent_tui.core.summary import SessionSummary
from agent_tui.providers.demo.scenario import Reply
from agent_tui.runtime.stored.exporting import export_to, export_view
from agent_tui.runtime.stored.headers import new_session_id
from agent_tui.sessions.index import LogIndex
from tests.agent.stage import Stage, call
from tests.agent.test_agent_stopped_calls import cancel_at_the_end_of_a_command
from tests.importers.foreign_files import FORMATS, claude_user
from tests.importers.session_files import write_lines


async def test_a_session_is_found_by_the_beginning_of_its_id(tmp_path: Path) -> None:
    async with Stage(tmp_path) as stage:
        session_id = stage.session.session_id
        await stage.session.close()
        for typed in (session_id, session_id[:-1], session_id[:-6]):
            session = await stage.engine.open_session(typed)
            assert session.session_id == session_id
            await session.close()
        for typed, why in (("nothing", "is not a session's id"), ("", "is not a session's id")):
            with pytest.raises(SessionNotFound, match=why):
                await stage.engine.open_session(typed)
        other = await stage.engine.new_session()
        await other.close()
        with pytest.raises(SessionNotFound, match="beginning of several"):
            await stage.engine.open_session("20")


async def test_the_list_counts_messages_as_the_open_session_does(tmp_path: Path) -> None:
    async with Stage(tmp_path, Reply(text="ok"), Reply(text="ok")) as stage:
        await stage.say("The first thing")
        await stage.say("The second thing")
        (row,) = await stage.engine.stored.list_sessions()
        assert await stage.engine.stored.count_messages(row) == 4
        assert stage.session.view.message_count == 4
        count = stage.engine.stored.count_messages
        for size, counted in ((20 << 20, 4), (2 << 30, None)):
            assert await count(replace(row, size_bytes=size)) == counted
            gone = replace(row, folder=str(tmp_path / "gone"), size_bytes=size)
            assert await count(gone) is None
        log = Path(row.folder) / "context.jsonl"
        with log.open("a") as file:
            file.write('{"role": "_head", "uuid": "elsewhere"}\n')
        assert await count(replace(row, size_bytes=20 << 20)) is None


async def test_a_long_log_is_read_no_further_once_nobody_waits_for_its_messages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each log that the cursor rested on was read to its end, one beside the other."""
    async with Stage(tmp_path, Reply(text="ok")) as stage:
        await stage.say("The first thing")
        (row,) = await stage.engine.stored.list_sessions()
        read, is_over, grow = list[bool](), threading.Event(), LogIndex.grow

        def leave(index: LogIndex, *most: int) -> bool:
            loop.call_soon_threadsafe(counting.cancel)
            read.append(grow(index, *most))
            is_over.set()
            return read[-1]

        with monkeypatch.context() as patched:
            patched.setattr("agent_tui.runtime.stored.counting._PIECE_BYTES", 100)
            patched.setattr(LogIndex, "grow", leave)
            loop = asyncio.get_running_loop()
            long_row = replace(row, size_bytes=20 << 20)
            counting = asyncio.ensure_future(stage.engine.stored.count_messages(long_row))
            with pytest.raises(asyncio.CancelledError):
                await counting
            await asyncio.to_thread(is_over.wait)
        assert read == [True]  # there is more of it
        assert await stage.engine.stored.count_messages(long_row) == 2


async def test_a_long_log_of_another_agent_is_counted_as_it_is_when_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Stage(tmp_path) as stage:
        count = stage.engine.stored.count_messages
        rows = []
        for name in ("claude", "opencode database"):
            (folder := tmp_path / name).mkdir()
            source, make = FORMATS[name]
            path = make(folder)
            row = SessionSummary("s", str(path), "", "", "", "", 20 << 20, 0, source=source)
            opened = await stage.engine.stored.open_path(path)
            assert await count(row) == opened.message_count, name
            rows.append((row, opened.message_count))
        monkeypatch.setattr(sys, "executable", "/bin/false")  # what was counted is known
        for row, counted in rows:
            assert await count(row) == counted, row.source
        row, _ = rows[0]
        write_lines(Path(row.folder), [{"type": "none"}])
        assert await count(row) is None


async def test_sessions_are_listed_newest_first_and_named(tmp_path: Path) -> None:
    async with Stage(tmp_path, Reply(text="ok"), Reply(text="ok")) as stage:
        await stage.say("The first thing")
        other = await stage.engine.new_session()
        await other.run_turn("The second thing")
        titles = [row.title for row in await stage.engine.stored.list_sessions()]
        assert titles == ["The second thing", "The first thing"]
        await other.operations.rename("Better\nname")
        await other.close()
        await stage.engine.stored.rename_session(other.session_id, "Best name")
        assert (await stage.engine.stored.list_sessions())[0].title == "Best name"


async def test_a_deleted_session_comes_back_as_it_was(tmp_path: Path) -> None:
    async with Stage(tmp_path, Reply(text="ok")) as stage:
        await stage.say("Hi")
        log = stage.log.read_bytes()
        await stage.session.close()
        token = await stage.engine.stored.delete_session(stage.session.session_id)
        assert await stage.engine.stored.list_sessions() == []
        await stage.engine.stored.undelete_session(token)
        assert stage.log.read_bytes() == log


async def test_an_empty_session_leaves_nothing_behind_and_any_other_stays(tmp_path: Path) -> None:
    async with Stage(tmp_path, Reply(text="ok")) as stage:
        empty = await stage.engine.new_session()
        await stage.engine.close_session(empty)
        await stage.say("Hi")
        await stage.operations.clear()
        await stage.engine.close_session(stage.session)
        rows = await stage.engine.stored.list_sessions()
        assert [row.session_id for row in rows] == [stage.session.session_id]


async def test_a_second_window_reads_and_follows_but_does_not_write(tmp_path: Path) -> None:
    async with Stage(tmp_path, Reply(text="ok")) as stage:
        other = await stage.engine.open_session(stage.session.session_id)
        assert "open in another window" in other.read_only
        with pytest.raises(SessionReadOnly, match=r"another window \(pid \d+, since"):
            await other.run_turn("Hi")
        await stage.say("Hi")
        assert await other.follow()
        assert list(other.view.records) == list(stage.session.view.records)
        await other.close()


async def test_acts_wait_for_a_turn_to_end(tmp_path: Path) -> None:
    async with Stage(tmp_path, Reply(calls=(call("run_command", command="true"),))) as stage:
        asked = asyncio.Event()
        stage.listeners.append(
            lambda event: asked.set() if isinstance(event, ApprovalRequested) else None
        )
        turn = asyncio.create_task(stage.say("Go"))
        await asked.wait()
        for act in (
            stage.operations.clear,
            stage.operations.undo,
            stage.operations.compact,
        ):
            with pytest.raises(SessionError):
                await act()
        with pytest.raises(SessionError, match="A turn is running"):
            await stage.say("Another")
        stage.session.approvals.answer("approval-1", ApprovalAnswer("once"))
        assert await turn == "done"


async def test_a_session_whose_folder_is_gone_opens_and_its_tools_say_so(tmp_path: Path) -> None:
    async with Stage(tmp_path, Reply(text="ok")) as stage:
        await stage.say("Hi")
        session_id = stage.session.session_id
    shutil.rmtree(tmp_path / "work")
    calls = (
        call("read_file", path="a"),
        call("find_files", pattern="*"),
        call("search_files", pattern="x"),
        call("write_file", path="a", content="x"),
        call("run_command", command="true"),
    )
    stage = Stage(tmp_path, Reply(calls=calls), Reply(text="I see."), resume=session_id, yolo=True)
    shutil.rmtree(tmp_path / "work")
    async with stage:
        (notice,) = stage.session.notices
        assert "no longer exists" in notice
        assert await stage.say("Look") == "done"
        results = stage.on_disk("tool")
        assert len(results) == 5
        for result in results:
            assert result["is_error"]
            assert "work" in result["content"]


async def test_tools_do_not_write_our_own_data(tmp_path: Path) -> None:
    script = (
        Reply(calls=(call("write_file", path="home/config.toml", content="x"),)),
        Reply(text="ok"),
    )
    stage = Stage(tmp_path, *script, yolo=True)
    stage.engine.workspace = tmp_path
    async with stage:
        await stage.say("Write")
        assert "own files are read-only" in stage.on_disk("tool")[0]["content"]
        assert not (tmp_path / "home" / "config.toml").exists()


async def test_another_model_is_asked_from_then_on_and_permissions_stay(tmp_path: Path) -> None:
    same = Reply(calls=(call("run_command", command="true"),))
    async with Stage(tmp_path, same, Reply(text="ok"), same, Reply(text="ok")) as stage:
        stage.answers.append(ApprovalAnswer("session"))
        await stage.say("a")
        await stage.operations.use_model("gpt-4.1-mini")
        assert stage.session.model == "gpt-4.1-mini"
        assert stage.session.gauge.window == 1_047_576
        assert await stage.say("b") == "done"
        assert sum(isinstance(event, ApprovalRequested) for event in stage.events) == 1
        models = [r.model for r in stage.session.view.records if isinstance(r, ModelRecord)]
        assert models == ["scripted", "gpt-4.1-mini"]
        assert [m["model"] for m in stage.on_disk("assistant")][-1] == "gpt-4.1-mini"


async def test_exports_are_private_and_never_overwrite(tmp_path: Path) -> None:
    async with Stage(tmp_path, Reply(text="ok")) as stage:
        await stage.say("Hi")
        first, second = [
            (await export_to(stage.session.view, "markdown", stage.engine.workspace))[0]
            for _ in range(2)
        ]
        assert first != second
        assert first.stat().st_mode & 0o777 == 0o600
        assert "Hi" in first.read_text()
        assert b"Hi" in (await export_view(stage.session.view, "kimi")).content


@pytest.mark.parametrize("name", ["{folder}/away", "../away", "..", "", "a\0b", "x" * 300])
async def test_an_id_in_a_file_does_not_choose_where_its_export_is_written(
    tmp_path: Path, name: str
) -> None:
    async with Stage(tmp_path) as stage:
        said = claude_user("u", None, 1, "Hi") | {"sessionId": name.format(folder=tmp_path)}
        view = await stage.engine.stored.open_path(write_lines(tmp_path / "S.jsonl", [said]))
        path, _ = await export_to(view, "markdown", stage.engine.workspace)
        assert path.parent == stage.engine.workspace
        assert not path.name.startswith(".")
        assert "Hi" in path.read_text()


async def test_a_shell_command_of_the_user_is_seen_by_the_agent(tmp_path: Path) -> None:
    async with Stage(tmp_path, Reply(text="ok")) as stage:
        await stage.session.run_shell("echo hello")
        (message,) = stage.on_disk("user")
        assert "echo hello" in message["content"]
        assert "[exit code 0]" in message["content"]
        assert message["origin"] == "shell"
        assert message["display"]["command"] == "echo hello"
        assert await stage.say("What did it say?") == "done"


async def test_a_shell_command_tells_what_it_prints_while_it_runs(tmp_path: Path) -> None:
    async with Stage(tmp_path) as stage:
        heard: list[Event] = []
        stage.session.subscribe(heard.append)
        await stage.session.run_shell("echo first; sleep 0.4; echo second")
        command = "echo first; sleep 0.4; echo second"
        assert heard[0] == ShellBegan(command)
        assert ShellOutput("first\n") in heard
        assert heard[-2] == ShellEnded(command, "first\nsecond\n[exit code 0]", 0)


async def test_an_interrupted_shell_command_leaves_what_it_printed(tmp_path: Path) -> None:
    async with Stage(tmp_path) as stage:
        started = asyncio.Event()
        stage.session.subscribe(lambda e: started.set() if isinstance(e, ShellOutput) else None)
        running = asyncio.create_task(stage.session.run_shell("echo first; sleep 600"))
        await started.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        (message,) = stage.on_disk("user")
        assert message["content"].endswith("first\n[interrupted]")
        assert message["display"]["exit"] is None


async def test_a_shell_command_that_ends_in_the_moment_of_the_interruption_ended_and_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Stage(tmp_path) as stage:
        running = asyncio.create_task(stage.session.run_shell("echo first; exit 3"))
        cancel_at_the_end_of_a_command(monkeypatch, running)
        with pytest.raises(asyncio.CancelledError):
            await running
        (message,) = stage.on_disk("user")
        assert "first\n[exit code 3]" in message["content"]
        assert "interrupted" not in message["content"]
        assert message["display"]["exit"] == 3


async def test_an_interrupted_shell_command_leaves_the_beginning_of_long_output_too(
    tmp_path: Path,
) -> None:
    async with Stage(tmp_path) as stage:
        ended = asyncio.Event()
        stage.session.subscribe(
            lambda e: (
                ended.set() if isinstance(e, ShellOutput) and e.text.endswith("5000\n") else None
            )
        )
        running = asyncio.create_task(stage.session.run_shell("seq 1 5000; sleep 600"))
        await ended.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        (message,) = stage.on_disk("user")
        assert "\n".join([*map(str, range(1, 5_001)), "[interrupted]"]) in message["content"]


async def test_damaged_lines_are_shown_where_they_are(tmp_path: Path) -> None:
    async with Stage(tmp_path, Reply(text="One."), Reply(text="Two."), Reply(text="3.")) as stage:
        await stage.say("a")
        session_id = stage.session.session_id
        with stage.log.open("ab") as log:
            log.write(b"garbage\n{}\n")
        await stage.say("b")
        with stage.log.open("ab") as log:
            log.write(b"more\n")
    async with Stage(tmp_path, Reply(text="3."), resume=session_id) as again:
        shown = again.session.view.shown_records
        damage = [n for n, each in enumerate(shown) if isinstance(each, UnknownRecord)]
        assert [shown[n] for n in damage] == [
            UnknownRecord(DAMAGED_LINES, {"lines": 2}),
            UnknownRecord(DAMAGED_LINES, {"lines": 1}),
        ]
        whole = list(again.session.view.records)
        assert [each for n, each in enumerate(shown) if n not in damage] == whole
        assert "a" in str(shown[: damage[0]])
        assert whole[damage[0]] == shown[damage[0] + 1]
        await again.say("c")
        assert len(shown) == len(again.session.view.records) + 2
        assert shown[-1] == again.session.view.records[-1]


async def test_a_damaged_session_is_copied_clean(tmp_path: Path) -> None:
    async with Stage(tmp_path, Reply(text="ok")) as stage:
        await stage.say("Hi")
        session_id = stage.session.session_id
        with stage.log.open("ab") as file:
            file.write(b"\xff not a record\n")
        report = await stage.engine.stored.repair(session_id)
        assert any("UTF-8" in left.reason for left in report.left_out)
        copy = await stage.engine.open_session(report.session_id)
        assert copy.view.damaged == 0
        assert copy.view.message_count == 2
        await copy.close()


async def test_a_sound_session_is_not_copied(tmp_path: Path) -> None:
    async with Stage(tmp_path, Reply(text="ok")) as stage:
        await stage.say("Hi")
        with pytest.raises(SessionError, match="Nothing to repair"):
            await stage.engine.stored.repair(stage.session.session_id)
        assert len(await stage.engine.stored.list_sessions()) == 1


async def test_a_file_of_every_format_opens_with_its_archives(tmp_path: Path) -> None:
    async with Stage(tmp_path) as stage:
        for name, (source, make) in FORMATS.items():
            folder = tmp_path / f"foreign {name}"
            folder.mkdir()
            path = make(folder)
            found = await stage.engine.stored.describe_path(path)
            view = await stage.engine.stored.open_path(path)
            row = SessionSummary("s", str(path), "", "", "", "", 0, 0, source=source)
            counted = await stage.engine.stored.count_messages(row)
            assert counted == view.message_count == found["messages"]
            assert len(view.checkpoints()) >= found["checkpoints"]
            for archive in await view.archives():
                opened = await view.open_archive(archive.number)
                assert opened.message_count == archive.messages
            for number, _ in await view.compactions():
                assert (await view.view_compaction(number)).summary


async def test_a_copy_is_refused_where_its_id_means_another_folder(tmp_path: Path) -> None:
    async with Stage(tmp_path, Reply(text="ok")) as stage:
        await stage.say("Hi")
        name, stored, folder = stage.session.session_id, stage.engine.stored, stage.log.parent
        copy = tmp_path / "home" / "projects" / "zzz" / name
        shutil.copytree(folder, copy)
        trouble = f"Two folders hold session {name}: {folder} and {copy}. Move one away."
        with pytest.raises(SessionError) as error:
            await stored.delete_session(name, str(copy))
        assert str(error.value) == trouble
        with pytest.raises(SessionError, match="Two folders"):
            await stored.rename_session(name, "new", str(copy))
        assert copy.exists()
        assert folder.exists()


@pytest.mark.slow
async def test_a_thousand_sessions_are_listed_and_found_quickly(tmp_path: Path) -> None:
    async with Stage(tmp_path, Reply(text="ok")) as stage:
        await stage.say("Hi")
        lines = stage.log.read_bytes()
        for number in range(1000):
            folder = tmp_path / "home" / "projects" / f"p{number % 7}" / new_session_id()
            folder.mkdir(parents=True)
            (folder / "context.jsonl").write_bytes(lines)
        began = time.process_time()
        rows = await stage.engine.stored.list_sessions()
        listed = time.process_time() - began
        assert len(rows) == 1001
        with pytest.raises(SessionNotFound):
            await stage.engine.open_session("nothing")
        print(f"1,001 sessions listed in {listed * 1000:.0f} ms")
        assert listed < 2.0


async def test_a_disk_without_room_for_a_new_session_says_so(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("this is no folder")
    stage = Stage(tmp_path)
    with pytest.raises((StorageError, SessionError)):
        await stage.engine.new_session()
    await stage.engine.aclose()


async def test_an_automatic_compaction_is_reviewed_first_also_after_a_change_of_model(
    tmp_path: Path,
) -> None:
    long = "What was said at length. " * 100
    script = (Reply(text=long, input_tokens=7_800), Reply(text=long), Reply(text="ok"))
    settings = ContextSettings(window=8_000)
    async with Stage(tmp_path, *script, window=8_000, context=settings) as stage:
        asked: list[str] = []

        async def review() -> None:
            asked.append("asked")

        stage.session.compacting.review_automatic(review)
        await stage.operations.use_model("other")
        await stage.say("a")
        await stage.say("b")
        assert asked
        assert not any(isinstance(event, CompactionFinished) for event in stage.events)


@pytest.mark.skipif(sys.platform != "linux", reason="Linux shows a process's environment in /proc")
def test_our_memory_is_closed_to_other_processes() -> None:
    code = (
        "import ctypes, subprocess, sys;"
        "from agent_tui.runtime.starting.secrecy import hide_memory;"
        "hide_memory(); print(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0));"
        "print(subprocess.run([sys.executable, '-c', 'print(1)'], capture_output=True).stdout)"
    )
    env = {"PATH": os.environ["PATH"], "OPENAI_API_KEY": "sk-canary"}
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, env=env, check=True)
    assert ran.stdout == b"0\nb'1\\n'\n"
