"""The screen of the conversation, as those see it that act on it or speak in it."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:
    from textual.app import App
    from textual.timer import Timer
    from textual.worker import Worker
    from textual.worker_manager import WorkerManager

    from agent_tui.core.events import ApprovalRequest
    from agent_tui.runtime.engine import Engine
    from agent_tui.runtime.live_session import LiveSession
    from agent_tui.ui.widgets.bars.gauge import TokenGauge
    from agent_tui.ui.widgets.bars.status_line import StatusLine
    from agent_tui.ui.widgets.panes.welcome import Welcome
    from agent_tui.ui.widgets.prompt.prompt_box import PromptBox
    from agent_tui.ui.widgets.timeline.timeline import Timeline


class Speaker(Protocol):
    """Says things to the user, each in its place; see ``Notices``."""

    def failure(self, sentence: str) -> None: ...
    def notice(self, sentence: str) -> None: ...
    def warning(self, sentence: str) -> None: ...
    def hint(self, sentence: str) -> None: ...
    def drop_progress(self) -> None: ...


Work: TypeAlias = "Callable[[LiveSession], Coroutine[Any, Any, object]]"
"""A turn or an operation on a session."""


class Runner(Protocol):
    """Runs what is done to the session; see ``OperationRunner``."""

    @property
    def is_busy(self) -> bool: ...
    def start(self, work: Work) -> Worker[None]: ...
    def start_turn(self, work: Work) -> None: ...
    def under_way(self) -> list[Worker[Any]]: ...
    async def interrupt(self) -> None: ...


class Conversation(Protocol):
    """Holds the open session, its widgets, and those who run and say things."""

    engine: Engine | None
    session: LiveSession | None
    has_timeline: bool
    timeline: Timeline
    prompt_box: PromptBox
    status: StatusLine
    gauge: TokenGauge
    welcome: Welcome

    @property
    def notices(self) -> Speaker: ...
    @property
    def runner(self) -> Runner: ...
    @property
    def app(self) -> App[Any]: ...
    @property
    def workers(self) -> WorkerManager: ...
    def run_worker(
        self,
        work: Coroutine[Any, Any, None],
        name: str | None = "",
        group: str = "default",
        description: str = "",
        exit_on_error: bool = True,  # as Textual declares it
        start: bool = True,
        exclusive: bool = False,
        thread: bool = False,
    ) -> Worker[None]: ...
    def set_timer(self, delay: float, callback: Callable[[], object] | None = None) -> Timer: ...

    async def show_session(self, session: LiveSession) -> None:
        """Put a session on the screen in place of the one that is there, which is closed."""
        ...

    def reload(self) -> None:
        """Show the session as its log is now."""
        ...

    def reload_compacted(self) -> None:
        """Show the log as it is after a compaction, below what it took out."""
        ...

    def send(self, prompt: str) -> None:
        """Start a turn, or steer the one that runs."""
        ...

    def settle(self) -> None:
        """Show what was written meanwhile in place of the live blocks."""
        ...

    def show_facts(self, session: LiveSession) -> None:
        """Show the session's title, model, mode and gauge."""
        ...

    def show_conversation(self, *, shown: bool) -> None:
        """Show the timeline, or the welcome in its place."""
        ...

    def colour_gauge(self, session: LiveSession) -> Worker[None]:
        """Show in the gauge what fills the context."""
        ...

    async def show_place(self) -> None:
        """Show where the session works."""
        ...

    def come_to_rest(self, session: LiveSession) -> None:
        """Nothing is done to the session any more."""
        ...

    def give_back(self, unsaid: Sequence[str]) -> None:
        """Prompts that nobody took up go back to be edited."""
        ...

    def keep_drafts(self) -> None:
        """Keep what is typed and what waits, so that a kill does not lose it."""
        ...

    def ask_approval(self, request: ApprovalRequest) -> None:
        """Ask the user about an action that waits."""
        ...

    def return_prompt(self, prompt: str) -> None:
        """Put a prompt that an operation removed back to be edited."""
        ...

    def escape(self) -> None:
        """Interrupt what runs."""
        ...

    def leave(self) -> None:
        """Ask the app to end."""
        ...
