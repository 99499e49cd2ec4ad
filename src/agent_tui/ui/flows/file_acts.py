"""What can be done with a file that is only looked at: continue it as a session of ours."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from agent_tui.ui.flows.browsing import Browser

if TYPE_CHECKING:
    from agent_tui.core.tree import Fork
    from agent_tui.history.found_record import FoundLine
    from agent_tui.history.view import SessionView
    from agent_tui.runtime.engine import Engine
    from agent_tui.ui.conversation.conversation import Conversation
    from agent_tui.ui.screens.time.tree import TreeChoice

Ready: TypeAlias = "Callable[[], Awaitable[Engine]]"
"""Gives the engine once everything was asked that has to be asked before a session begins."""


class FileActs:
    """Makes sessions of ours out of a file; the file itself is never changed.

    Args:
        ready: gives the engine that makes one; asked each time before anything is made.
        path: the file.

    Attributes:
        fork: the session that was made, once there is one.
    """

    can_continue = True
    told = ""

    def __init__(self, ready: Ready, path: Path) -> None:
        self._ready = ready
        self._path = path
        self.fork: Fork | None = None

    def restore(self, archive: int) -> None:
        """Nothing of a file can be restored in place."""

    def undo_compaction(self, archive: int) -> None:
        """Nothing of a file can be undone in place."""

    def find_can_undo(self) -> bool:
        """Nothing of a file can be undone in place."""
        return False

    async def continue_here(self, at: str = "") -> bool:
        """Continue the session in one of ours, from a message or whole."""
        engine = await self._ready()
        self.fork = await engine.stored.resume_path(self._path, at)
        return True

    async def act_on_tree(self, choice: TreeChoice) -> bool:
        """Continue from the row that was chosen; whether the tree is wanted again behind it."""
        if choice.act == "fork":
            place = await choice.tree.fork_place(choice.row)
            self.fork = await (await self._ready()).stored.fork_at(place)
        return False


async def open_file(
    chat: Conversation, path: Path, line: FoundLine | None = None, ready: Ready | None = None
) -> bool:
    """Show a file read-only until it is left; the session made of it, if one was, is then open.

    Args:
        chat: where it is shown.
        path: the file.
        line: where to begin; at the end without it.
        ready: gives the engine that a session is made with, where that may be another one by then.

    Returns:
        Whether a session was made of it.

    Raises:
        SessionError, StorageError: it cannot be read; the sentence says why.
    """
    fork = await _show_file(chat, path, ready or _same_engine(chat), line)
    if fork is None:
        return False
    await chat.show_session(await chat.holder.require_engine().open_session(fork.session_id))
    chat.prompts.return_prompt(fork.prompt)
    chat.notices.hint("This is a new session that continues it. The original is unchanged.")
    return True


def _same_engine(chat: Conversation) -> Ready:
    async def ready() -> Engine:
        return chat.holder.require_engine()

    return ready


async def _show_file(
    chat: Conversation, path: Path, ready: Ready, line: FoundLine | None = None
) -> Fork | None:
    """Show a file until it is left; the session made of it or of a subagent of it, if one was."""
    engine = chat.holder.require_engine()
    began = time.time_ns()
    tail = await engine.stored.open_tail(path)
    view = tail or await engine.stored.open_path(path)
    acts = FileActs(ready, path)
    whole = (lambda: engine.stored.open_path(path)) if tail else None
    follow = partial(engine.stored.follow_path, path, began)
    changes = partial(engine.stored.told_changes, path, None)
    browser = Browser(chat.app, view, acts)

    async def child(of: SessionView, name: str) -> bool:
        from agent_tui.history.opening import open_child

        found = next(each for each in of.children if each.session_id == name)
        if found.path:
            acts.fork = await _show_file(chat, Path(found.path), ready)
            return acts.fork is not None
        within = await open_child(found, path)
        return await Browser(chat.app, within).look(within)

    await browser.look(view, whole=whole, follow=follow, line=line, changes=changes, child=child)
    return acts.fork
