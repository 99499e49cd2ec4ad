"""The panel beside the conversation: shown where there is room, kept up to date while it is."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

from agent_tui.core.todo import last_todo
from agent_tui.ui.widgets.bars.gauge import TokenGauge
from agent_tui.ui.widgets.panes.side_panel import SidePanel
from agent_tui.ui.widgets.panes.todo_panel import TodoPanel

if TYPE_CHECKING:
    from textual.screen import Screen

    from agent_tui.core.records import Record
    from agent_tui.core.summary import CheckpointSummary
    from agent_tui.ui.conversation.holder import SessionHolder

_WANTED = "-panel"
_NEWEST_RECORDS = 4_000
"""How far back checkpoints are listed: the panel has no room for more."""


class Side:
    """Shows the panel or puts it away, and brings it what it shows.

    Args:
        screen: where it stands. ``holder``: knows the open session.
        wide: the columns from which on there is room for it.
    """

    def __init__(self, screen: Screen[Any], holder: SessionHolder, wide: int) -> None:
        self._screen = screen
        self._holder = holder
        self._wide = wide
        self.panel = SidePanel()

    async def mount(self, *, on: bool) -> None:
        """Bring the panel in; it is seen where it is wanted and there is room."""
        await self._screen.mount(self.panel)
        self._screen.watch(self._screen.query_one(TokenGauge), "gauge", self.panel.show_gauge)
        self.switch(on=on)

    @property
    def is_on(self) -> bool:
        """Whether it is wanted; it is shown where the screen is wide enough."""
        return self._screen.has_class(_WANTED)

    @property
    def width(self) -> int:
        """The columns that it takes now; 0 while it is not shown."""
        return self.panel.outer_size.width if self._is_shown else 0

    @property
    def _is_shown(self) -> bool:
        is_wide = self._screen.size.width >= self._wide
        return self.is_on and is_wide and self._screen.has_class("-conversing")

    def switch(self, *, on: bool) -> None:
        """Want it, or not."""
        self._screen.set_class(on, _WANTED)
        self.update()

    def update(self) -> None:
        """Reload what it shows, in the background, while it is shown."""
        if self._is_shown:
            work: Callable[[], Awaitable[None]] = self._update
            self._screen.run_worker(work, group="side", exclusive=True, exit_on_error=False)

    async def _update(self) -> None:
        session = self._holder.session
        if session is None:
            return
        checkpoints = await asyncio.to_thread(_turns, session.view.records)
        files = await session.files.net_changes()
        if session is self._holder.session:
            shown = self._screen.query(TodoPanel)  # a list that is done stays until the next turn
            self.panel.show_todo(shown.first().items if shown else last_todo(session.view.records))
            self.panel.show_facts(files, checkpoints)


def _turns(records: Sequence[Record]) -> tuple[CheckpointSummary, ...]:
    """The checkpoint of each turn, the newest first."""
    from agent_tui.history.records.checkpoints import list_checkpoints

    first: dict[int, CheckpointSummary] = {}
    for one in list_checkpoints(records[-_NEWEST_RECORDS:]):
        if one.prompt and one.turn is not None:
            first.setdefault(one.turn, one)
    return tuple(reversed(first.values()))
