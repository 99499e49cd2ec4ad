"""What the tree and the scrubber lead to: branches, forks, labels, summaries, one flow each."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING

from agent_tui.core.errors import UsageError
from agent_tui.core.text import clean
from agent_tui.ui.screens.time.tree import PRESENT, TreeChoice, TreeScreen

if TYPE_CHECKING:
    from agent_tui.core.summary import OperationReport
    from agent_tui.core.tree import TreeRow
    from agent_tui.history.scrub import Scrub
    from agent_tui.history.session_tree import SessionTree
    from agent_tui.runtime.engine import Engine
    from agent_tui.runtime.open_session import OpenSession
    from agent_tui.ui.screens.chat import ChatScreen


async def use_tree(chat: ChatScreen, session: OpenSession, entry: str = "") -> None:
    """Show the tree until the user leaves it, or goes on in a branch.

    ``entry`` is the id of the one to begin at; the present where it is empty.
    """
    engine = _engine(chat)
    screen = TreeScreen(
        lambda: engine.build_tree(session),
        session.title,
        session.read_only,
        can_fork=True,
        at=entry or PRESENT,
    )
    while (choice := await chat.app.push_screen_wait(screen)) is not None:
        if not await _carry_out(chat, session, choice):
            return
        place, detail = choice.row.place, choice.detail
        at = PRESENT if choice.act in ("undo", "redo") else place
        screen = TreeScreen(
            lambda: engine.build_tree(session),
            session.title,
            session.read_only,
            can_fork=True,
            at=at,
            detail=detail,
        )


async def _carry_out(chat: ChatScreen, session: OpenSession, choice: TreeChoice) -> bool:
    """Do what was chosen; whether the tree is wanted again behind it."""
    tree, row = choice.tree, choice.row
    match choice.act:
        case "branch" | "switch" if row.session_id:
            await _open_fork(chat, row.session_id)
        case "branch":
            chat.act(lambda session: session.branch(tree, row))
        case "switch":
            chat.act(lambda session: session.switch_branch(tree, row))
        case "fork":
            await _fork(chat, tree, row)
        case "sum_up":
            chat.act(lambda session: _sum_up(chat, session, tree, row))
        case "label":
            await _label(chat, session, tree, row)
            return True
        case "undo":
            await chat.act(lambda session: _tell(chat, session.undo())).wait()
            return True
        case "redo":
            await chat.act(lambda session: _tell(chat, session.redo())).wait()
            return True
    return False


async def _tell(chat: ChatScreen, act: Awaitable[OperationReport]) -> None:
    """Say what an undo or redo did where the tree does not cover it."""
    chat.app.notify(clean((await act).told), markup=False)


async def _open_fork(chat: ChatScreen, session_id: str) -> None:
    _require_idle(chat)
    await chat.show_session(await _engine(chat).open_session(session_id))


async def _fork(chat: ChatScreen, tree: SessionTree, row: TreeRow) -> None:
    """Go on in a session of its own from a row; a prompt comes back to be edited."""
    _require_idle(chat)
    fork = await _engine(chat).fork_at(tree, row)
    await chat.show_session(await _engine(chat).open_session(fork.session_id))
    chat.return_prompt(fork.prompt)
    chat.show_hint("This is the fork; the session it began as stays as it is.")


async def _label(chat: ChatScreen, session: OpenSession, tree: SessionTree, row: TreeRow) -> None:
    from agent_tui.ui.screens.dialogs.ask_line import AskLineScreen

    screen = AskLineScreen("Label", "An empty line takes the label away.", row.label)
    label = await chat.app.push_screen_wait(screen)
    if label is not None and label.strip() != row.label:
        await session.label(tree, row, label)
        if not chat.is_busy:  # a turn's own end shows it
            chat.timeline.settle()


async def _sum_up(chat: ChatScreen, session: OpenSession, tree: SessionTree, row: TreeRow) -> None:
    """Have the branch summed up while the status line shows the end of what is written."""
    written: list[str] = []

    def show(text: str) -> None:
        written.append(text)
        chat.status.notice = "".join(written[-40:]).replace("\n", " ").strip()[-60:]

    chat.status.work = "summing up the branch"
    try:
        await session.sum_up_branch(tree, row, show)
        chat.reload()
    finally:
        chat.status.work = chat.status.notice = ""


async def scrub_through(chat: ChatScreen, session: OpenSession) -> None:
    """Walk the session step by step."""
    from agent_tui.ui.screens.time.scrubber import ScrubberScreen

    async def load() -> Scrub:
        from agent_tui.history.scrub import start_scrub

        return await start_scrub(await session.build_tree())

    await chat.app.push_screen_wait(ScrubberScreen(load, session.title))


def _require_idle(chat: ChatScreen) -> None:
    if chat.is_busy:
        raise UsageError("A turn is running: interrupt it with Esc first.")


def _engine(chat: ChatScreen) -> Engine:
    if chat.engine is None:
        raise UsageError("The engine is still starting; try again in a moment.")
    return chat.engine
