"""The facts of the open session, around the conversation: title, model, mode, place, gauge."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from textual.screen import Screen

    from agent_tui.core.usage import Usage
    from agent_tui.runtime.live_session import LiveSession
    from agent_tui.ui.conversation.holder import SessionHolder
    from agent_tui.ui.conversation.panes import Panes


class SessionFacts:
    """Shows what is known of the open session; called whenever it may have changed."""

    def __init__(self, screen: Screen[Any], panes: Panes, holder: SessionHolder) -> None:
        self._screen = screen
        self._panes = panes
        self._holder = holder
        self._spent = 0.0
        self._told_path: Path | None = None

    def show(self, session: LiveSession) -> None:
        """Show title, model, mode and gauge, and why nothing can be written where that is so."""
        status, prompt_box = self._panes.status, self._panes.prompt_box
        self._panes.gauge.gauge = session.gauge
        has_past = session.view.has_archives or not session.view.is_empty
        if self._panes.side is not None or not session.view.is_empty:
            # Else a first prompt may wait: what it counts is loaded and told after its answer.
            self.colour_gauge(session)
        self._run(partial(self._show_cost, session, has_past=has_past), "cost")
        status.title = session.view.title
        status.model = session.model
        self.show_connection(session)
        status.banner = session.read_only
        status.mode = session.approvals.mode
        status.background = len(session.commands.titles)
        if session.folder.path != self._told_path:
            self.update_place()
        prompt_box.frame.read_only = session.read_only
        from agent_tui.ui.conversation.todo import show_last_todo  # not for the first frame

        show_last_todo(self._panes, session.view.records)
        self._panes.update_side()

    def show_connection(self, session: LiveSession) -> None:
        """Show whether there is a model to ask."""
        from agent_tui.core.words import NO_PROVIDER  # not for the first frame

        self._panes.status.is_connected = session.provider != NO_PROVIDER

    def colour_gauge(self, session: LiveSession) -> None:
        """Show in the gauge what fills the context: counted between turns, kept until then."""
        # What was said last is drawn first.
        self._screen.call_after_refresh(self._run, partial(self._colour_gauge, session), "shares")

    async def _colour_gauge(self, session: LiveSession) -> None:
        gauge = session.gauge
        if gauge.tokens <= gauge.window:
            shares = await session.shares.filling()
            if session is self._holder.session:
                shown = self._panes.gauge
                shown.gauge = replace(shown.gauge, shares=shares)

    async def _show_cost(self, session: LiveSession, *, has_past: bool) -> None:
        """Say what the session cost so far, where its model has a price."""
        engine, self._spent = self._holder.engine, 0.0
        self._panes.status.cost = self._panes.status.rate = ""
        self._panes.status.steps = 0
        if engine is not None and engine.connections.price_of(session.model) is not None:
            if has_past:
                costs = await session.view.costs(engine.connections.price_of)
                if session is not self._holder.session:
                    return
                self._spent += costs.total
            self._tell_cost()

    def add_usage(self, usage: Usage, model: str) -> None:
        """A call of a model ended: how fast it wrote, and what it cost."""
        engine = self._holder.engine
        self._panes.status.show_rate(usage.output_tokens)
        price = engine.connections.price_of(model) if engine is not None else None
        if price is not None:
            self._spent += price.of(usage)
            self._tell_cost()

    def _tell_cost(self) -> None:
        from agent_tui.core.cost import format_cost  # not before there is a price

        self._panes.status.cost = format_cost(self._spent)

    def update_place(self) -> None:
        """Update where the session works, once that is known."""
        if self._panes.status.place:
            self._run(self.show_place, "place")

    async def show_place(self) -> None:
        """Say where the session works, and on which branch now."""
        if (folder := self._holder.folder) is not None:
            self._told_path = folder.path
            where = await folder.where()
            status = self._panes.status
            status.place, status.branch = where.name, where.branch + "*" * where.changed
            self._panes.welcome.place = " · ".join(filter(None, (where.path, where.branch)))

    async def follow_place(self) -> None:
        """Update the branch when git changed it from outside; call this every second or so."""
        folder = self._holder.folder
        if folder is not None and await folder.has_moved():
            self.update_place()

    def _run(self, work: Callable[[], Awaitable[None]], group: str) -> None:
        # Called by the worker: one that is replaced before it starts leaves nothing unawaited.
        self._screen.run_worker(work, group=group, exclusive=True, exit_on_error=False)
