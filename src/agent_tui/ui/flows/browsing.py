"""Looking at a session: its archives, compactions, tree and moments, from one screen to the next.

The conversation's commands, markers and files opened by path all go this way, so that a marker
leads to the same place wherever it stands.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from textual.app import App

    from agent_tui.core.changes import ChangeGroup
    from agent_tui.core.tree import TreeRow
    from agent_tui.history.exchanges import Exchange
    from agent_tui.history.found_record import FoundLine
    from agent_tui.history.opening import NewerView
    from agent_tui.history.tree.session_tree import SessionTree
    from agent_tui.history.view import SessionView
    from agent_tui.ui.screens.time.tree import TreeChoice


class TimeActs(Protocol):
    """What can be done with a session while its past is looked at.

    Attributes:
        can_continue: whether the session is a file that can be continued as a session of ours.
    """

    can_continue: bool

    async def continue_here(self, at: str = "") -> bool:
        """Continue the file in a session of ours, as ``Lead`` says; whether that was done."""
        ...

    def restore(self, archive: int) -> None:
        """Make an archive the live log again."""
        ...

    def undo_compaction(self, archive: int) -> None:
        """Make the log before a compaction the live one again."""
        ...

    @property
    def told(self) -> str:
        """What the last operation on the tree did, to be shown; empty if nothing is to be said."""
        ...

    def find_can_undo(self) -> bool:
        """Whether an undo would undo something; blocks."""
        ...

    async def act_on_tree(self, choice: TreeChoice) -> bool:
        """Do what was chosen in the tree; whether the tree is wanted again behind it."""
        ...


class Browser:
    """Shows the past of one session; see ``Lead`` for what its methods return.

    Args:
        app: where the screens are shown.
        view: the session.
        acts: what can be done with it; None where it is only looked at.
    """

    def __init__(self, app: App[Any], view: SessionView, acts: TimeActs | None = None) -> None:
        self._app = app
        self._view = view
        self._acts = acts

    @property
    def can_restore(self) -> bool:
        return self._acts is not None and not self._view.read_only

    def restore(self, archive: int) -> None:
        if self._acts is not None:
            self._acts.restore(archive)

    def find_can_undo(self) -> bool:
        return self._acts is not None and self._acts.find_can_undo()

    @property
    def can_continue(self) -> bool:
        return self._acts is not None and self._acts.can_continue

    @property
    def resume_command(self) -> str:
        return self._view.resume_command

    async def continue_here(self, at: str = "") -> bool:
        return self._acts is not None and await self._acts.continue_here(at)

    async def look(
        self,
        view: SessionView,
        whole: Callable[[], Awaitable[SessionView]] | None = None,
        follow: Callable[[], AsyncIterator[NewerView]] | None = None,
        line: FoundLine | None = None,
        changes: Callable[[], Awaitable[Sequence[ChangeGroup]]] | None = None,
        child: Callable[[SessionView, str], Awaitable[bool]] | None = None,
    ) -> bool:
        """Show a log of the session, read-only.

        Args:
            view: the log.
            whole: reads all of the session where ``view`` is only its end.
            follow: gives the session again whenever another process wrote it.
            line: where to begin; at the end without it.
            changes: gives what the log tells of changed files, where only the log knows.
            child: shows the session of a subagent of a view, by its id; returns what ``Lead`` does.
        """
        from agent_tui.history.opening import NewerView
        from agent_tui.ui.screens.time.browse import BrowseScreen

        async def newer() -> AsyncIterator[NewerView]:
            if whole is not None:
                self._view = await whole()
                yield NewerView(self._view)
            if follow is not None:
                async for found in follow():
                    self._view = found.view
                    yield found

        is_tail = whole is not None
        anew = newer if whole or follow else None
        screen = BrowseScreen(
            view, self, anew, line=line, is_tail=is_tail, changes=changes, child=child
        )
        changed = await self._app.push_screen_wait(screen)
        return bool(changed)

    async def archives(self) -> bool:
        from agent_tui.ui.screens.time.archives import ArchivesScreen

        screen = ArchivesScreen(
            self._view.archives, self, self._view.read_only, self._last_in_archive
        )
        changed = await self._app.push_screen_wait(screen)
        return bool(changed)

    async def _last_in_archive(self, number: int) -> Sequence[Exchange]:
        from agent_tui.history.exchanges import last_exchanges

        view = await self._view.open_archive(number)
        return await asyncio.to_thread(last_exchanges, view.records)

    async def archive(self, number: int) -> bool:
        return await self.look(await self._view.open_archive(number))

    async def compare_archive(self, number: int) -> None:
        from agent_tui.ui.screens.time.compare import CompareScreen

        screen = CompareScreen(lambda: self._view.compare_archive(number))
        await self._app.push_screen_wait(screen)

    async def compactions(self) -> bool:
        from agent_tui.ui.screens.dialogs.compaction_choice import choose_compaction

        archive = await choose_compaction(self._app, await self._view.compactions())
        return bool(archive) and await self.compaction(archive)

    async def compaction(self, archive: int) -> bool:
        from agent_tui.ui.screens.context.compaction import PastCompactionScreen

        screen = PastCompactionScreen(
            archive, lambda: self._view.view_compaction(archive), can_undo=self.can_restore
        )
        match await self._app.push_screen_wait(screen):
            case ("undo", number) if self._acts is not None:
                self._acts.undo_compaction(number)
                return True
            case ("open", number):
                return await self.archive(number)
            case _:
                return False

    async def tree(self, entry: str = "") -> bool:
        from agent_tui.ui.screens.time.tree import PRESENT, TreeScreen

        view, acts = self._view, self._acts
        screen = TreeScreen(view, self, can_fork=acts is not None, at=entry or PRESENT)
        while choice := await self._app.push_screen_wait(screen):
            if choice.act == "leave" or acts is None or not await acts.act_on_tree(choice):
                return True
            is_undo = choice.act in ("undo", "redo")
            at, told = (PRESENT, acts.told) if is_undo else (choice.row.place, "")
            screen = TreeScreen(view, self, can_fork=True, at=at, detail=choice.detail, told=told)
        return False

    async def scrub(self, tree: SessionTree | None = None, place: int = -1) -> None:
        from agent_tui.ui.screens.time.scrubber import ScrubberScreen

        view = self._view
        screen = ScrubberScreen(lambda: view.scrub(tree), view.title, at=place)
        await self._app.push_screen_wait(screen)

    async def moment(self, tree: SessionTree, row: TreeRow, title: str) -> bool:
        return await self.look(await self._view.at_row(tree, row, title))
