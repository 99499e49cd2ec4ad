"""Runs turns and operations on the open session, one after the other, and interrupts them."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from textual.worker import Worker, WorkerCancelled, WorkerFailed

from agent_tui.core.errors import AgentTuiError, NothingToUndo

if TYPE_CHECKING:
    from agent_tui.runtime.live_session import LiveSession
    from agent_tui.ui.conversation.conversation import Conversation, Work

_GROUP = "session"


class OperationRunner:
    """Runs what is done to the session in workers; a failure is shown, never raised.

    Operations wait for each other, so none is lost when keys come quickly; Esc cancels them all.

    Args:
        chat: the screen whose session it is.
    """

    def __init__(self, chat: Conversation) -> None:
        self._chat = chat
        self._turn: Worker[None] | None = None

    @property
    def is_busy(self) -> bool:
        """Whether a turn, or a command that the user typed, runs or is about to."""
        return self._turn is not None and not self._turn.is_finished

    def start(self, work: Work) -> Worker[None]:
        """Carry out an operation."""
        run = self._run(self._chat.session, work)
        return self._chat.run_worker(run, group=_GROUP, exit_on_error=False)

    def start_turn(self, work: Work) -> None:
        """Work on a prompt, or run a command of the user: until its end the session is busy."""
        self._turn = self.start(work)

    async def _run(self, session: LiveSession | None, work: Work) -> None:
        if session is None:
            return
        notices = self._chat.notices
        try:
            await work(session)
        except NothingToUndo as error:
            notices.hint(str(error))
        except AgentTuiError as error:
            notices.failure(str(error))
        except Exception as error:
            notices.failure(f"Internal error: {type(error).__name__}: {error}.")
        finally:
            if not session.busy:
                self._chat.come_to_rest(session)

    def under_way(self) -> list[Worker[Any]]:
        """What runs or waits."""
        workers = self._chat.workers
        return [each for each in workers if each.group == _GROUP and not each.is_finished]

    async def interrupt(self) -> None:
        """Cancel all of it, and wait until it has ended."""
        workers = self.under_way()
        for worker in workers:
            worker.cancel()
        for worker in workers:
            with suppress(WorkerCancelled, WorkerFailed):
                await worker.wait()
