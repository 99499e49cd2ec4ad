"""Looking around in logs that are not the live one: files, archives, their compactions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from textual.app import App

    from agent_tui.history.browsed_session import BrowsedSession


async def browse(app: App[Any], browsed: BrowsedSession, restorable: int = 0) -> int:
    """Show a log read-only, with the archives and compactions that belong to it.

    Returns:
        The number of the archive that the user wants restored; 0 for none.
    """
    from agent_tui.ui.screens.time.browse import BrowseScreen

    while True:
        match await app.push_screen_wait(BrowseScreen(browsed, restorable)):
            case ("restore", number):
                return number
            case ("archive", number):
                await _browse_archive(app, browsed, number)
            case ("compaction", number):
                await _look_at_compaction(app, browsed, number)
            case ("tree", _):
                await _look_at_tree(app, browsed)
            case ("scrub", _):
                await _scrub_through(app, browsed)
            case _:
                return 0


async def _browse_archive(app: App[Any], browsed: BrowsedSession, number: int) -> None:
    from agent_tui.ui.screens.time.archives import ArchivesScreen

    if not number:
        screen = ArchivesScreen(browsed.archives, "it was opened read-only")
        choice = await app.push_screen_wait(screen)
        if choice is None:
            return
        act, number = choice
        if act == "compare":
            await _compare(app, browsed, number)
            return
    await browse(app, await browsed.open_archive(number))


async def _compare(app: App[Any], browsed: BrowsedSession, number: int) -> None:
    from agent_tui.ui.screens.time.compare import CompareScreen

    await app.push_screen_wait(CompareScreen(lambda: browsed.compare_archive(number)))


async def _look_at_tree(app: App[Any], browsed: BrowsedSession) -> None:
    from agent_tui.history.session_tree import browsed_tree
    from agent_tui.ui.screens.time.tree import TreeScreen

    screen = TreeScreen(lambda: browsed_tree(browsed), browsed.title, "it was opened read-only")
    await app.push_screen_wait(screen)


async def _scrub_through(app: App[Any], browsed: BrowsedSession) -> None:
    from agent_tui.history.scrub import Scrub, start_scrub
    from agent_tui.history.session_tree import browsed_tree
    from agent_tui.ui.screens.time.scrubber import ScrubberScreen

    async def load() -> Scrub:
        return await start_scrub(await browsed_tree(browsed))

    await app.push_screen_wait(ScrubberScreen(load, browsed.title))


async def _look_at_compaction(app: App[Any], browsed: BrowsedSession, number: int) -> None:
    from agent_tui.ui.screens.context.compaction import PastCompactionScreen

    screen = PastCompactionScreen(number, lambda: browsed.view_compaction(number), can_undo=False)
    match await app.push_screen_wait(screen):
        case ("open", archive):
            await _browse_archive(app, browsed, archive)
