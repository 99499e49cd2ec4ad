"""Runs turns and operations on the open session, one after the other, and interrupts them."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeAlias

from textual.worker import Worker, WorkerCancelled, WorkerFailed

from agent_tui.core.errors import AgentTuiError, NothingToUndo

if TYPE_CHECKING:
    from textual.screen import Screen

    from agent_tui.runtime.live_session import LiveSession
    from agent_tui.ui.conversation.holder import SessionHolder
    from agent_tui.ui.conversation.notices import Notices

_GROUP = "session"

Work: TypeAlias = "Callable[[LiveSession], Coroutine[Any, Any, object]]"
"""A turn or an operation on a session."""


class OperationRunner:
    """Runs what is done to the session in workers; a failure is shown, never raised.

    Operations wait for each other, so none is lost when keys come quickly; Esc cancels them all.

    Args:
        screen: whose workers run.
        holder: the session.
        notices: say what went wrong.
        come_to_rest: is told of a session to which nothing is done any longer.
    """

    def __init__(
        self,
        screen: Screen[Any],
        holder: SessionHolder,
        notices: Notices,
        come_to_rest: Callable[[LiveSession], None],
    ) -> None:
        self._screen = screen
        self._holder = holder
        self._notices = notices
        self._come_to_rest = come_to_rest
        self._turn: Worker[None] | None = None

    @property
    def is_busy(self) -> bool:
        """Whether a turn, or a command that the user typed, runs or is about to."""
        return self._turn is not None and not self._turn.is_finished

    def start(self, work: Work) -> Worker[None]:
        """Carry out an operation."""
        run = self._run(self._holder.session, work)
        return self._screen.run_worker(run, group=_GROUP, exit_on_error=False)

    def start_turn(self, work: Work) -> None:
        """Work on a prompt, or run a command of the user: until its end the session is busy."""
        self._turn = self.start(work)

    async def _run(self, session: LiveSession | None, work: Work) -> None:
        if session is None:
            return
        try:
            await work(session)
        except NothingToUndo as error:
            self._notices.hint(str(error))
        except AgentTuiError as error:
            self._notices.failure(str(error))
        except Exception as error:
            self._notices.failure(f"Internal error: {type(error).__name__}: {error}.")
        finally:
            if not session.busy:
                self._come_to_rest(session)

    def under_way(self) -> list[Worker[Any]]:
        """What runs or waits."""
        workers = self._screen.workers
        return [each for each in workers if each.group == _GROUP and not each.is_finished]

    async def interrupt(self) -> None:
        """Cancel all of it, and wait until it has ended."""
        workers = self.under_way()
        for worker in workers:
            worker.cancel()
        for worker in workers:
            with suppress(WorkerCancelled, WorkerFailed):
                await worker.wait()
