"""What can be done with the open session while its past is looked at."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING

from agent_tui.core.errors import UsageError
from agent_tui.core.format import format_count
from agent_tui.core.text import first_line
from agent_tui.ui.flows.browsing import Browser

if TYPE_CHECKING:
    from agent_tui.core.summary import OperationReport
    from agent_tui.core.tree import Fork, TreeRow
    from agent_tui.history.tree.session_tree import SessionTree
    from agent_tui.runtime.engine import Engine
    from agent_tui.runtime.live_session import LiveSession
    from agent_tui.ui.conversation.conversation import Conversation
    from agent_tui.ui.screens.time.tree import TreeChoice

_NAMED = 40
"""Characters of what is labelled in the title of the question."""


class SessionActs:
    """Carries out what is chosen in archives, compactions and the tree of the open session.

    Attributes:
        told: what the last undo or redo did, in words.
    """

    can_continue = False

    def __init__(self, chat: Conversation, session: LiveSession) -> None:
        self._chat = chat
        self._session = session
        self.told = ""

    async def continue_here(self, at: str = "") -> bool:
        """Do nothing: the session is already open here."""
        return False

    def restore(self, archive: int) -> None:
        """Make an archive the live log again."""
        self._chat.runner.start(lambda session: session.operations.restore(archive))

    def undo_compaction(self, archive: int) -> None:
        """Make the log before a compaction the live one again."""
        self._chat.runner.start(lambda session: session.operations.undo_compaction(archive))

    def find_can_undo(self) -> bool:
        """Whether there is an operation to undo, on the conversation or on files; blocks."""
        return self._session.operations.find_can_undo()

    async def act_on_tree(self, choice: TreeChoice) -> bool:
        """Do what was chosen in the tree; whether the tree is wanted again behind it."""
        chat, tree, row = self._chat, choice.tree, choice.row
        match choice.act:
            case "branch" | "switch" if row.session_id:
                await self._open_fork(row.session_id)
            case "branch":
                chat.runner.start(partial(branch_from, tree, row))
            case "switch":
                chat.runner.start(partial(_switch_to, tree, row))
            case "fork":
                await self._fork(tree, row)
            case "summarise":
                chat.runner.start(partial(self._summarise, tree, row))
            case "label":
                await self._label(tree, row)
                return True
            case "undo":
                await self._undo_or_redo(lambda session: session.operations.undo())
                return True
            case "redo":
                await self._undo_or_redo(lambda session: session.operations.redo())
                return True
            case "leave":
                pass
        return False

    async def _undo_or_redo(self, act: Callable[[LiveSession], Awaitable[OperationReport]]) -> None:
        """Undo or redo while the tree is closed; it is then shown again with what was done."""
        self.told = ""

        async def carry_out(session: LiveSession) -> None:
            self.told = (await act(session)).told

        await self._chat.runner.start(carry_out).wait()

    async def _open_fork(self, session_id: str) -> None:
        engine = self._engine_at_rest()
        await self._chat.show_session(await engine.open_session(session_id))

    async def _fork(self, tree: SessionTree, row: TreeRow) -> None:
        """Continue in a fork that ends at a row; a prompt comes back to be edited."""
        engine = self._engine_at_rest()
        fork = await engine.stored.fork_at(await tree.branch_place(row))
        await show_fork(self._chat, engine, fork)

    async def _label(self, tree: SessionTree, row: TreeRow) -> None:
        from agent_tui.history.tree.record_words import describe_record
        from agent_tui.ui.screens.dialogs.ask_line import AskLineScreen

        record = (await tree.describe([row.place])).get(row.place)
        of = f" of \u201c{first_line(describe_record(record), _NAMED)}\u201d" if record else ""
        note = "Leave empty to remove the label." if row.label else ""
        screen = AskLineScreen(f"Label{of}", note, row.label)
        label = await self._chat.app.push_screen_wait(screen)
        if label is not None and label.strip() != row.label:
            entry, archived = tree.entry_id(row), tree.label_of(row)
            await self._session.operations.label(entry, label, archived)
            if not self._chat.runner.is_busy:  # a turn's own end shows it
                self._chat.timeline.settle()

    async def _summarise(self, tree: SessionTree, row: TreeRow, session: LiveSession) -> None:
        """Have the branch summarised while the status line shows how much is written."""
        written = 0
        status = self._chat.status

        def show(text: str) -> None:
            nonlocal written
            written += len(text)
            status.work = f"summarising the branch, {format_count(written, 'character')}"

        status.work = "summarising the branch"
        try:
            leaf, left = await tree.end_place(row), await tree.messages_left(row)
            await session.operations.summarise_branch(leaf.name, left, show)
            self._chat.log.load()
        finally:
            status.work = ""

    def _engine_at_rest(self) -> Engine:
        if self._chat.runner.is_busy:
            raise UsageError("A turn is running: interrupt it first.")
        return self._chat.holder.require_engine()


async def show_fork(chat: Conversation, engine: Engine, fork: Fork) -> None:
    """Continue in a fork that was made; a prompt that it ends before comes back to be edited."""
    await chat.show_session(await engine.open_session(fork.session_id))
    chat.prompts.return_prompt(fork.prompt)
    chat.notices.hint("This is the fork. The original session is unchanged.")


async def branch_from(tree: SessionTree, row: TreeRow, session: LiveSession) -> None:
    """Branch from a row of the tree."""
    await session.operations.branch(await tree.branch_place(row))


async def _switch_to(tree: SessionTree, row: TreeRow, session: LiveSession) -> None:
    await session.operations.switch_branch(await tree.end_place(row))


def browse_session(chat: Conversation) -> Browser:
    """Shows the past of the open session; raises UsageError while none is open."""
    session = chat.holder.require_session()
    return Browser(chat.app, session.view, SessionActs(chat, session))
