"""A question stands in the prompt's place: what led to it can be read above, the state below."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual._compositor import ChopsUpdate, LayoutUpdate
from textual.geometry import Region
from textual.pilot import Pilot

from agent_tui.core.events import ApprovalRequest, Question, TurnFinished
from agent_tui.core.messages import DiffDisplay, ToolCall
from agent_tui.runtime.starting.launch import Launch
from agent_tui.ui.app import AgentTui
from agent_tui.ui.blocks import AssistantBlock, ToolBlock
from agent_tui.ui.conversation import asking
from agent_tui.ui.screens.dialogs.answer_guard import GUARD_SECONDS
from agent_tui.ui.screens.dialogs.approval import ApprovalScreen
from agent_tui.ui.screens.dialogs.sheet import SheetFrame
from agent_tui.ui.widgets.panes.action_body import ActionBody
from agent_tui.ui.widgets.panes.side_panel import SidePanel
from tests.ui.stage import hurry
from tests.waiting import until

pytestmark = pytest.mark.slow

REASON = "The sum is rounded twice, so I change one line."
SIZES = [(80, 24), (120, 40), (200, 60)]


def edit(lines: int = 3) -> ApprovalRequest:
    added = "".join(f"+line {number}\n" for number in range(lines))
    diff = f"--- a/sum.py\n+++ b/sum.py\n@@ -1,1 +1,{lines + 1} @@\n total\n{added}"
    call = ToolCall("c1", "edit_file", '{"path": "sum.py"}')
    return ApprovalRequest("r1", call, "Edit sum.py", DiffDisplay("sum.py", diff))


class Place:
    """The running program after a long conversation, which ends with the agent's reason."""

    def __init__(self, app: AgentTui, pilot: Pilot[int]) -> None:
        self.app, self.pilot = app, pilot
        self.timeline = app.chat.timeline

    async def talk(self) -> None:
        self.app.chat.panes.show_conversation(shown=True)
        for number in range(60):
            self.timeline.append(AssistantBlock(f"Answer {number}."))
        self.timeline.append(AssistantBlock(REASON))
        await self.pilot.pause()

    async def ask(self, request: ApprovalRequest) -> None:
        call = request.call
        block = ToolBlock(call.id, call.name, call.arguments, "approval", "", request.display)
        self.timeline.append(block)
        self.app.chat.requests.approve(request, is_own=True)
        await self.until_fitted()

    @property
    def above(self) -> int:
        """The row below the conversation, and below the air that it keeps on a tall screen."""
        return int(self.timeline.region.bottom + self.timeline.styles.margin.bottom)

    async def until_fitted(self) -> None:
        await until(self.pilot, lambda: bool(self.app.screen.query(SheetFrame)))
        await until(self.pilot, lambda: self.above == self.frame.y)

    async def until_below(self, row: int) -> None:
        await until(self.pilot, lambda: self.frame.bottom == row)

    async def until_left_of(self, column: int) -> None:
        await until(self.pilot, lambda: self.frame.right <= column)

    async def reject(self) -> None:
        """Press Esc when it counts, and wait until the question is gone."""
        asked = self.app.screen
        assert isinstance(asked, ApprovalScreen)
        await until(self.pilot, lambda: not asked.guard.is_hidden)
        await self.pilot.pause(GUARD_SECONDS + 0.05)
        await self.pilot.press("escape")
        await until(self.pilot, lambda: self.app.screen is self.app.chat_screen)

    @property
    def frame(self) -> Region:
        return self.app.screen.query_one(SheetFrame).region

    @property
    def rows(self) -> list[str]:
        strips = self.app.screen._compositor.render_strips()
        return ["".join(segment.text for segment in strip) for strip in strips]


@asynccontextmanager
async def place(
    folder: Path, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
) -> AsyncIterator[Place]:
    monkeypatch.setenv("AGENT_TUI_HOME", str(folder / "home"))
    hurry(monkeypatch)
    app = AgentTui(Launch(folder, demo=True))
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: app.screen_stack != [] and app.chat.session is not None)
        await until(pilot, lambda: app.chat.panes.side is not None)
        here = Place(app, pilot)
        await here.talk()
        yield here
        await app.chat_screen.end()


async def test_in_a_low_window_a_long_action_leaves_the_line_of_state_in_view(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with place(tmp_path, monkeypatch, (40, 12)) as here:
        request = edit(lines=200)
        here.app.chat.requests.approve(request, is_own=True)
        await until(here.pilot, lambda: bool(here.app.screen.query(SheetFrame)))
        await here.until_below(11)
        assert here.frame.height == 11
        await until(here.pilot, lambda: here.app.chat.status.region.y == 11)
        await here.pilot.pause()
        assert " ask " in here.rows[-1]


async def test_ctrl_c_says_in_the_frame_of_a_question_what_the_next_one_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with place(tmp_path, monkeypatch, (80, 24)) as here:
        here.app.chat.requests.approve(edit(lines=3), is_own=True)
        await here.until_fitted()
        here.app.notify("Press Ctrl+C again to quit.")
        await until(here.pilot, lambda: any("Press Ctrl+C again" in row for row in here.rows))


@pytest.mark.parametrize("size", SIZES)
async def test_the_reason_and_the_mode_can_be_read_while_an_action_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
) -> None:
    async with place(tmp_path, monkeypatch, size) as here:
        before = here.timeline.region
        await here.ask(edit(lines=200))
        assert here.frame.bottom == size[1] - 1
        assert here.frame.height <= max(size[1] * 2 // 3, size[1] - 7)
        assert any(REASON in row for row in here.rows[: here.frame.y])
        assert " ask " in here.rows[-1]
        await here.reject()
        await until(here.pilot, lambda: here.timeline.region == before)
        assert here.timeline.at_end


async def test_a_question_of_the_agent_leaves_its_reason_readable_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with place(tmp_path, monkeypatch, (120, 40)) as here:
        here.app.chat.requests.ask(Question("q1", "Which?\n" * 80, ("This", "That")))
        await here.until_fitted()
        assert any(REASON in row for row in here.rows[: here.frame.y])
        assert " ask " in here.rows[-1]
        assert "1 This" in "\n".join(here.rows)


async def test_the_conversation_scrolls_while_an_action_waits_and_stays_where_it_is_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with place(tmp_path, monkeypatch, (120, 40)) as here:
        await here.ask(edit())
        await here.pilot.press("pageup", "pageup")
        assert not here.timeline.at_end
        top = here.timeline.scroll_y
        await here.reject()
        await here.pilot.pause()
        assert here.timeline.scroll_y == top


async def test_page_keys_scroll_conversation_and_action_as_one_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with place(tmp_path, monkeypatch, (120, 40)) as here:
        await here.ask(edit(lines=200))
        body = here.app.screen.query_one(ActionBody)
        await here.pilot.press("pageup")
        assert (here.timeline.at_end, body.scroll_y) == (False, 0)
        await here.pilot.press("pagedown")
        assert (here.timeline.at_end, body.scroll_y) == (True, 0)
        await here.pilot.press("pagedown")
        assert here.timeline.at_end
        assert body.scroll_y > 0
        await here.pilot.press("pageup")
        assert (here.timeline.at_end, body.scroll_y) == (True, 0)


async def test_an_action_that_waits_gives_way_to_another_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with place(tmp_path, monkeypatch, (120, 40)) as here:
        await here.ask(edit(lines=30))
        for columns, rows in [*SIZES, (120, 40)]:
            await here.pilot.resize_terminal(columns, rows)
            await here.until_below(rows - 1)
            await here.until_fitted()
            side = here.app.chat_screen.query_one(SidePanel)
            await here.until_left_of(columns - side.outer_size.width * side.display)
            assert any(REASON in row for row in here.rows[: here.frame.y])


async def test_of_several_actions_each_finds_its_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with place(tmp_path, monkeypatch, (120, 40)) as here:
        before = here.timeline.region
        for lines in (3, 40, 1):
            await here.ask(edit(lines=lines))
            await here.reject()
        await until(here.pilot, lambda: here.timeline.region == before)


async def test_a_question_is_taken_apart_only_when_what_came_of_it_is_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with place(tmp_path, monkeypatch, (120, 40)) as here:
        await here.ask(edit())
        asked = here.app.screen
        await here.reject()
        assert asked.is_running
        await until(here.pilot, lambda: not asked.is_running)


async def test_a_rejection_that_ends_the_turn_is_drawn_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "_END_SECONDS", 60.0)  # until the turn ends, however slowly
    async with place(tmp_path, monkeypatch, (120, 40)) as here:
        await here.ask(edit())
        app, display, frames = here.app, here.app._display, list[object]()
        asked = app.screen

        def watch(screen: object, update: object) -> None:
            if screen is app.chat_screen is app.screen and not app._batch_count:
                frames.append(update)
            display(screen, update)  # type: ignore[arg-type]

        monkeypatch.setattr(app, "_display", watch)
        await here.reject()
        assert frames == []
        app.chat.log.view.handle(TurnFinished(1, "rejected", 1, "Stopped."))
        await until(here.pilot, lambda: "Stopped." in "".join(here.rows) and bool(frames))
        await until(here.pilot, lambda: not asked.is_running)
        await here.pilot.pause()
        whole = [each for each in frames if is_whole(each)]
        assert len(whole) == 1, "laid out, painted and scrolled in the same frame"


def is_whole(update: object) -> bool:
    """Whether more than half of the screen is painted."""
    if isinstance(update, ChopsUpdate):
        return sum(stop - start for _, start, stop in update.spans) > 60 * 40
    return isinstance(update, LayoutUpdate)
