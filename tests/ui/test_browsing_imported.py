"""Another agent's session on the screen: its end at once, and continued as one of ours."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from agent_tui.core.messages import text_of
from agent_tui.core.record_writing import record_fields
from agent_tui.core.records import (
    AssistantMessage,
    Record,
    SessionHeader,
    ToolMessage,
    UserMessage,
    damage_row,
)
from agent_tui.history.opening import open_view, open_view_tail
from agent_tui.runtime.starting.launch import Launch
from agent_tui.runtime.stored.sessions import read_last_exchanges
from agent_tui.ui.app import AgentTui
from agent_tui.ui.screens.time.browse import BrowseScreen
from agent_tui.ui.screens.time.tree import TreeScreen
from agent_tui.ui.widgets.lists.tree_rows import TreeRows
from agent_tui.ui.widgets.timeline.timeline import Timeline
from tests.importers.foreign_files import (
    called,
    claude_answer,
    claude_session,
    claude_user,
    codex_said,
    codex_session,
    returned,
    said,
)
from tests.importers.session_files import write_lines
from tests.ui.stage import shown
from tests.waiting import until


@pytest.fixture(autouse=True)
def _apart(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("AGENT_TUI_HOME", str(tmp_path / "home"))


def contents(app: AgentTui) -> list[str]:
    assert app.chat.session is not None
    kinds = (UserMessage, AssistantMessage, ToolMessage)
    records = app.chat.session.view.records
    return [text_of(record.content) for record in records if isinstance(record, kinds)]


async def test_a_session_of_another_agent_is_resumed_here(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "S.jsonl", claude_session())
    app = AgentTui(Launch(tmp_path, demo=True, path=path))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, BrowseScreen))
        await until(pilot, lambda: "fix the bug" in shown(app))
        assert "5 messages" in shown(app)
        await pilot.press("o")
        assert app.clipboard == "cd /w && claude --resume S"
        await pilot.press("f")
        await until(pilot, lambda: app.chat.session is not None and app.screen is app.chat_screen)
        assert contents(app) == ["fix the bug", "Looking.", "ok", "no", "Done."]
        await until(pilot, lambda: "ready" in shown(app))
        await pilot.press(*"on")
        await until(pilot, lambda: app.chat.prompt_box.text == "on")
        assert app.chat.session is not None
        assert app.chat.session.view.title == "fix the bug (from Claude Code)"
        await until(pilot, lambda: "ready" in shown(app), "it starts forever")
        await until(pilot, lambda: app.chat.panes.side is not None, "it has no side panel")


async def test_it_is_resumed_from_the_message_under_the_cursor(tmp_path: Path) -> None:
    more = [codex_said("user", 5, "and now?"), codex_said("assistant", 6, "nothing")]
    path = write_lines(tmp_path / "rollout.jsonl", [*codex_session(), *more])
    app = AgentTui(Launch(tmp_path, demo=True, path=path))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, BrowseScreen))
        await until(pilot, lambda: "f continue all" in shown(app))
        await pilot.press("up", "up", "up")
        await until(pilot, lambda: "f continue from here" in shown(app))
        assert "continue all" not in shown(app)
        await pilot.press("f")
        await until(pilot, lambda: app.chat.session is not None and app.screen is app.chat_screen)
        assert contents(app)[-1] == "one file"
        assert app.chat.prompt_box.text == ""


async def test_from_a_prompt_under_the_cursor_it_comes_back_to_be_edited(tmp_path: Path) -> None:
    more = [codex_said("user", 5, "and now?"), codex_said("assistant", 6, "nothing")]
    path = write_lines(tmp_path / "rollout.jsonl", [*codex_session(), *more])
    app = AgentTui(Launch(tmp_path, demo=True, path=path))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, BrowseScreen))
        await until(pilot, lambda: "f continue all" in shown(app))
        await pilot.press("up", "up", "f")
        await until(pilot, lambda: app.chat.session is not None and app.screen is app.chat_screen)
        assert contents(app)[-1] == "one file"
        assert app.chat.prompt_box.text == "and now?"


async def test_it_is_resumed_from_any_prompt_of_its_tree(tmp_path: Path) -> None:
    more = [codex_said("user", 5, "and now?"), codex_said("assistant", 6, "nothing")]
    path = write_lines(tmp_path / "rollout.jsonl", [*codex_session(), *more])
    app = AgentTui(Launch(tmp_path, demo=True, path=path))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, BrowseScreen))
        await pilot.press("t")
        await until(pilot, lambda: isinstance(app.screen, TreeScreen))
        rows = app.screen.query_one(TreeRows)
        await until(pilot, lambda: rows.count > 1)
        rows.cursor = rows.count - 1
        await pilot.press("f")
        await until(pilot, lambda: app.chat.session is not None and app.screen is app.chat_screen)
        assert contents(app)[-1] == "one file"
        assert app.chat.prompt_box.text == "and now?"


@pytest.mark.parametrize("torn", ["not json\n", "[1]\n\n{\n"])
async def test_damaged_lines_of_a_log_of_ours_are_shown_where_they_stand(
    tmp_path: Path, torn: str
) -> None:
    said: list[Record] = [
        SessionHeader("s", "/w", "", ""),
        UserMessage("ask"),
        AssistantMessage("answer"),
    ]
    header, ask, answer = (json.dumps(record_fields(each)) for each in said)
    path = tmp_path / "context.jsonl"
    path.write_text(f"{header}\n{ask}\n{torn}{answer}\n")
    app = AgentTui(Launch(tmp_path, demo=True, path=path))
    lines = torn.count("\n") - torn.count("\n\n")
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, BrowseScreen))
        await until(pilot, lambda: "answer" in shown(app))
        text = shown(app)
        assert text.index("ask") < text.index(f"{lines} damaged line") < text.index("answer")
        assert text.count("damaged line") == 1
    view = await open_view(path)
    assert len(view.records) == 3
    assert view.damaged == lines


async def test_where_nobody_knows_the_place_damaged_lines_are_told_at_the_end(
    tmp_path: Path,
) -> None:
    path = write_lines(tmp_path / "S.jsonl", claude_session())
    with path.open("a") as file:
        file.write("not json\n")
    view = await open_view(path)
    assert [*view.shown_records] == [*view.records, damage_row(1)]


def long_session(turns: int) -> list[dict[str, Any]]:
    lines: list[dict[str, Any]] = []
    parent: str | None = None
    for number in range(turns):
        lines += [
            claude_user(f"u{number}", parent, 1, f"ask {number} " + "x" * 200),
            claude_answer(f"a{number}", f"u{number}", 2, f"m{number}", said(f"answer {number}")),
        ]
        parent = f"a{number}"
    return lines


async def test_the_end_of_a_long_session_is_shown_before_it_is_read(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "S.jsonl", long_session(20_000))
    begin = time.perf_counter()
    tail = await open_view_tail(path)
    middle = time.perf_counter()
    whole = await open_view(path)
    end = time.perf_counter()
    assert tail is not None
    assert tail.records[-1] == whole.records[-1]
    assert middle - begin < (end - middle) / 5
    assert "still being read" in tail.tree_refusal


async def test_the_whole_takes_the_place_of_the_end(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "S.jsonl", long_session(2_000))
    app = AgentTui(Launch(tmp_path, demo=True, path=path))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, BrowseScreen))
        await until(pilot, lambda: "answer 1999" in shown(app))
        await until(pilot, lambda: "4000 messages" in shown(app).replace(",", ""))
        assert "answer 1999" in shown(app)
        timeline = app.screen.query_one(Timeline)
        await pilot.press("home")
        await until(pilot, lambda: timeline.scroll_y == 0)
        assert "ask 0" in shown(app)


async def test_short_files_have_no_separate_end(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "S.jsonl", claude_session())
    assert await open_view_tail(path) is None


async def test_the_list_leads_to_another_agents_session_and_on_from_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "claude" / "projects" / "-w"
    folder.mkdir(parents=True)
    write_lines(folder / "S.jsonl", claude_session())
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    app = AgentTui(Launch(tmp_path, demo=True))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app.screen_stack != [] and app.chat.session is not None)
        app.chat_screen.run_command("sessions")
        await until(pilot, lambda: "fix the bug" in shown(app) and "claude-code" in shown(app))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, BrowseScreen))
        await pilot.press("escape")
        await until(pilot, lambda: "claude-code" in shown(app))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, BrowseScreen))
        await pilot.press("f")
        await until(pilot, lambda: app.screen is app.chat_screen and bool(contents(app)))
        assert contents(app)[0] == "fix the bug"


def test_the_preview_of_another_agents_session_shows_its_end(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "S.jsonl", claude_session())
    (last,) = read_last_exchanges(path)
    assert (last.prompt, last.answer) == ("fix the bug", "Done.")
    assert read_last_exchanges(tmp_path / "gone") == ()


async def test_what_another_process_writes_is_followed(tmp_path: Path) -> None:
    lines = claude_session()[:-1]
    path = write_lines(tmp_path / "S.jsonl", lines)
    app = AgentTui(Launch(tmp_path, demo=True, path=path))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, BrowseScreen))
        await until(pilot, lambda: "5 messages" in shown(app))
        await pilot.pause(0.5)  # until the folder is watched
        more = claude_user("u5", "a4", 9, "and now?")
        write_lines(path, [*lines, more])
        await until(pilot, lambda: "and now?" in shown(app))
        assert "6 messages" in shown(app)
        await pilot.press("t")
        await until(pilot, lambda: isinstance(app.screen, TreeScreen))
        await until(pilot, lambda: "and now?" in shown(app))


async def test_a_change_in_the_middle_of_what_is_followed_is_shown_and_said(
    tmp_path: Path,
) -> None:
    lines = long_session(60)
    path = write_lines(tmp_path / "S.jsonl", lines)
    app = AgentTui(Launch(tmp_path, demo=True, path=path))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, BrowseScreen))
        await until(pilot, lambda: "120 messages" in shown(app))
        await pilot.pause(0.5)  # until the folder is watched
        lines.append(claude_user("more", "a59", 9, "and now?"))
        write_lines(path, lines)
        await until(pilot, lambda: "121 messages" in shown(app))
        assert "rewritten" not in shown(app)
        lines[40] = claude_user("u20", "a19", 1, "asked otherwise")
        lines.append(claude_user("most", "more", 9, "and then?"))
        write_lines(path, lines)
        await until(pilot, lambda: "122 messages" in shown(app))
        assert "File was rewritten on disk; reloaded." in shown(app)
        assert isinstance(app.screen, BrowseScreen)
        timeline = app.screen.query_one(Timeline)
        await pilot.press("home")
        await until(pilot, lambda: timeline.scroll_y == 0)
        while "asked otherwise" not in shown(app):
            assert timeline.scroll_y < timeline.max_scroll_y
            await pilot.press("pagedown")


def edited() -> list[dict[str, Any]]:
    """A session that edits a file with a diff, and writes another one whole."""
    hunk = {"oldStart": 3, "oldLines": 1, "newStart": 3, "newLines": 1, "lines": ["-old", "+new"]}
    edit = called("t1", "Edit", file_path="/w/a.py", old_string="old", new_string="new")
    write = called("t2", "Write", file_path="/w/b.py", content="one\ntwo\n")
    answered = {
        **claude_user("r1", "a1", 3, [returned("t1")]),
        "toolUseResult": {"filePath": "/w/a.py", "structuredPatch": [hunk]},
    }
    return [
        claude_user("u1", None, 1, "change " + "both files " * 20),
        claude_answer("a1", "u1", 2, "msg_1", edit, write),
        answered,
        claude_user("r2", "r1", 4, [returned("t2")]),
    ]


@pytest.mark.parametrize("size", [(80, 24), (200, 60)], ids=str)
async def test_what_the_calls_of_another_agent_changed_is_shown_with_diffs(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    path = write_lines(tmp_path / "S.jsonl", [{**line, "cwd": "/w"} for line in edited()])
    app = AgentTui(Launch(tmp_path, demo=True, path=path))
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: isinstance(app.screen, BrowseScreen))
        await until(pilot, lambda: "d changes" in shown(app))
        assert "4 messages" in shown(app)  # a long title leaves room for it
        await pilot.press("d")
        await until(pilot, lambda: "2 files" in shown(app))
        assert "+3 -1  from the log, not checked on disk" in shown(app)
        assert "revert" not in shown(app)
        await pilot.press("a", "u", "t")
        await until(pilot, lambda: "whole file written" in shown(app))
        for line in ("- old", "+ new", "+ one", "+ two", "a.py  +1 -1", "b.py  +2 -0"):
            assert line in shown(app)
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, BrowseScreen))


async def test_a_resume_command_that_is_longer_than_a_line_is_shown_whole(tmp_path: Path) -> None:
    long = [{**line, "cwd": "/w" + "/deep" * 20} for line in claude_session()]
    path = write_lines(tmp_path / "S.jsonl", long)
    app = AgentTui(Launch(tmp_path, demo=True, path=path))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, BrowseScreen))
        await until(pilot, lambda: "copy command" in shown(app))
        await pilot.press("o")
        await until(pilot, lambda: "claude --resume S" in shown(app))
        assert app.clipboard.endswith("claude --resume S")
