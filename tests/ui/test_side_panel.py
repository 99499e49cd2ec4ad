"""The panel beside a wide conversation: what is to do, what changed, where one can go back to."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_tui.core.changes import FileDiff, net_changes
from agent_tui.core.file_changes import FileChange, FileState
from agent_tui.core.summary import CheckpointSummary
from agent_tui.core.todo import TodoItem
from agent_tui.core.usage import Gauge, Share
from agent_tui.resources import stylesheet
from agent_tui.runtime.live_session import LiveSession
from agent_tui.runtime.starting.launch import Launch
from agent_tui.ui.app import AgentTui
from agent_tui.ui.conversation.todo import show_todo
from agent_tui.ui.widgets.panes.side_panel import SidePanel
from agent_tui.ui.widgets.timeline.timeline import Timeline
from tests.ui.stage import Stage
from tests.waiting import settle, until

WIDE = (200, 40)
FILES = (FileDiff("src/tide/report.py", "changed", 12, 3), FileDiff("new.bin", "created", 0, 0))
PAST = tuple(CheckpointSummary(n, "", n, 1, 0, f"prompt {n}") for n in range(9, 0, -1))


class Host(Stage):
    CSS_PATH = [*Stage.CSS_PATH, stylesheet("widgets/side_panel.tcss")]

    def __init__(self) -> None:
        self.panel = SidePanel()
        super().__init__([self.panel])
        self.chosen: list[tuple[str, str]] = []

    def on_side_panel_chosen(self, event: SidePanel.Chosen) -> None:
        self.chosen.append((event.name, event.argument))


def state(digest: str) -> FileState:
    return FileState("file", 0o644, digest, 1)


def test_what_was_changed_and_changed_back_is_no_change() -> None:
    one, two = state("1"), state("2")
    changes = [
        FileChange("back", one, two, 4, 1),
        FileChange("kept", None, one, 2, 0),
        FileChange("back", two, one, 1, 4),
        FileChange("kept", one, two, 1, 1),
        FileChange("gone again", None, one, 1, 0),
        FileChange("gone again", one, None, 0, 1),
    ]
    assert net_changes(changes) == (FileDiff("kept", "created", 3, 1),)


async def test_the_panel_has_a_share_for_each_of_its_lists() -> None:
    async with (app := Host()).run_test(size=(60, 16)) as pilot:
        app.panel.styles.display = "block"
        app.panel.show_todo([TodoItem("Read it", "done"), TodoItem("Test it", "doing")])
        app.panel.show_facts(FILES, PAST)
        await pilot.pause()
        for said in ("1 of 2", "✓ Read it", "◐ Test it", "report.py", "+12 -3", "created"):
            assert said in app.text
        assert "◇ 9 prompt 9" in app.text
        assert "more" in app.text


async def test_what_fills_the_context_stands_at_the_bottom_whatever_is_above() -> None:
    shares = (Share("user", 300), Share("tools", 200))
    async with (app := Host()).run_test(size=(60, 30)) as pilot:
        app.panel.styles.display = "block"
        app.panel.show_gauge(Gauge(500, 8_000, 6_000, estimated=False, shares=shares))
        for files, past in (((), ()), (FILES, PAST), (FILES * 20, PAST * 9)):
            app.panel.show_facts(files, past)
            await pilot.pause()
            lines = [" ".join(line.split()) for line in app.text.split("\n")]
            assert lines[-1] == "┃ compacts at 6.0k"
            assert lines[-4] == "Context F8"
            assert not lines[-5]
        await pilot.click(offset=(40, 29))
        await pilot.pause()
        assert app.chosen == [("compact", "")]


@pytest.mark.parametrize("height", [5, 8, 10, 12, 14])
async def test_what_fills_the_context_is_seen_in_a_low_panel_too(height: int) -> None:
    shares = (Share("user", 300), Share("tools", 200))
    async with (app := Host()).run_test(size=(60, height)) as pilot:
        app.panel.styles.display = "block"
        app.panel.show_gauge(Gauge(500, 8_000, 6_000, estimated=False, shares=shares))
        app.panel.show_todo([TodoItem("Read it", "done")] * 9)
        app.panel.show_facts(FILES * 9, PAST)
        await pilot.pause()
        lines = [" ".join(line.split()) for line in app.text.split("\n")]
        assert "Context F8" in lines[-4:-2]
        assert lines[-1]
        assert not lines[lines.index("Context F8") - 1]


async def test_a_click_on_a_checkpoint_goes_back_there() -> None:
    async with (app := Host()).run_test(size=(60, 30)) as pilot:
        app.panel.styles.display = "block"
        app.panel.show_facts((), PAST)
        await pilot.pause()
        row = next(y for y, line in enumerate(app.text.split("\n")) if "prompt 8" in line)
        await pilot.click(offset=(40, row))
        await pilot.pause()
        assert app.chosen == [("revert", "8")]


async def test_it_stands_beside_a_wide_conversation_until_it_is_put_away(
    tmp_path: Path,
) -> None:
    async with (app := AgentTui(Launch(cwd=tmp_path, demo=True))).run_test(size=WIDE) as pilot:
        while not app.chat.screen.query(SidePanel):
            await pilot.pause(0.05)
        panel = app.chat.screen.query_one(SidePanel)
        assert not panel.display
        app.chat.prompts.send("What have we done so far?")
        while not panel.size.width:
            await pilot.pause(0.02)
        timeline = app.chat.screen.query_one(Timeline)
        assert timeline.size.width + panel.outer_size.width == WIDE[0]
        await pilot.press("alt+p")
        await pilot.pause()
        assert not panel.display
        assert timeline.size.width == WIDE[0]
        await pilot.press("alt+p")
        await pilot.resize_terminal(150, 40)
        await pilot.pause()
        assert not panel.display


async def test_it_is_right_again_after_an_operation_that_no_event_tells_of(tmp_path: Path) -> None:
    """Such as a revert of files alone."""
    async with (app := AgentTui(Launch(cwd=tmp_path, demo=True))).run_test(size=WIDE) as pilot:
        await until(pilot, lambda: app.chat.screen.query(SidePanel))
        panel = app.chat.screen.query_one(SidePanel)
        app.chat.prompts.send("What have we done so far?")
        await until(pilot, lambda: panel.size.width and not app.chat.runner.is_busy)
        await settle(pilot, workers=True)
        panel.show_facts(FILES, PAST)
        await app.chat.runner.start(_do_nothing).wait()
        await settle(pilot, workers=True)
        assert not panel._files


async def _do_nothing(_session: LiveSession) -> None:
    """No event, as of a revert of files."""


@pytest.mark.parametrize(("columns", "taken"), [(160, 44), (219, 44), (220, 64), (300, 64)])
async def test_it_grows_with_the_screen(
    columns: int, taken: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENT_TUI_HOME", str(tmp_path / "home"))
    app = AgentTui(Launch(cwd=tmp_path, demo=True))
    async with app.run_test(size=(columns, 40)) as pilot:
        await until(pilot, lambda: app.screen_stack != [] and app.chat.session is not None)
        app.chat.panes.show_conversation(shown=True)
        await until(pilot, lambda: app.chat.panes.side is not None)
        await until(pilot, lambda: app.chat.panes.side_width == taken)
        await app.chat_screen.end()


async def test_a_list_that_is_done_stays_in_it_as_long_as_over_the_prompt(tmp_path: Path) -> None:
    async with (app := AgentTui(Launch(cwd=tmp_path, demo=True))).run_test(size=WIDE) as pilot:
        while not app.chat.screen.query(SidePanel):
            await pilot.pause(0.05)
        app.chat.prompts.send("What have we done so far?")
        panel = app.chat.screen.query_one(SidePanel)
        while app.chat.runner.is_busy or not panel.size.width:
            await pilot.pause(0.02)
        show_todo(app.chat.panes, [TodoItem("Read it", "done")])
        app.chat.panes.update_side()
        while any(each.group == "side" and not each.is_finished for each in app.workers):
            await pilot.pause(0.02)
        assert "1 of 1" in panel.render().plain
