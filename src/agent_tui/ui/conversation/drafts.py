"""What stands in the prompt box unsent: kept in a file, and given back when a prompt returns."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from agent_tui.core.dataclass import dataclass
from agent_tui.core.drafts import Drafts
from agent_tui.core.errors import AgentTuiError

if TYPE_CHECKING:
    from textual.screen import Screen

    from agent_tui.runtime.live_session import LiveSession
    from agent_tui.ui.conversation.holder import SessionHolder
    from agent_tui.ui.widgets.prompt.prompt_box import PromptBox

_PAUSE_SECONDS = 0.4


class DraftKeeper:
    """Writes the newest drafts of the open session; what comes quickly is written once.

    Args:
        screen: whose workers write.
        prompt_box: where it is typed, and where it waits.
        holder: the session they belong to.
    """

    def __init__(self, screen: Screen[Any], prompt_box: PromptBox, holder: SessionHolder) -> None:
        self._screen = screen
        self._prompt_box = prompt_box
        self._holder = holder
        self._kept: Drafts | None = None

    @property
    def _drafts(self) -> Drafts:
        return Drafts(self._prompt_box.text, self._prompt_box.queue.prompts)

    def keep(self) -> None:
        """Write the drafts after a pause; a newer call ends the one before."""
        if self._holder.session is not None:
            # Called by the worker: one that is replaced before it starts leaves nothing unawaited.
            keep: Callable[[], Awaitable[None]] = partial(
                self._keep, self._holder.session, self._drafts
            )
            self._screen.run_worker(keep, group="drafts", exclusive=True, exit_on_error=False)

    async def keep_now(self) -> None:
        """Write the drafts of the open session at once."""
        if self._holder.session is not None:
            await self._write(self._holder.session, self._drafts)

    async def take_up(self, before: LiveSession | None, session: LiveSession) -> None:
        """Another session is open: restore what was typed or queued in it.

        What is in the prompt moves along from the session before, behind what was kept.
        """
        if before is not None:
            await self._write(before, Drafts())
        # What another window keeps is in its prompt; it is taken up with the right to write.
        is_new = session.view.is_empty
        kept = Drafts()
        if not session.read_only:
            kept = await asyncio.to_thread(session.drafts.read, is_new=is_new)
        self._kept = kept
        if kept != Drafts():
            texts = [*kept.queued, kept.text, self._prompt_box.text]
            self._prompt_box.set_text("\n\n".join(filter(None, texts)))
        self.keep()

    async def _keep(self, session: LiveSession, drafts: Drafts) -> None:
        await asyncio.sleep(_PAUSE_SECONDS)
        if session is self._holder.session:
            await self._write(session, drafts)

    async def _write(self, session: LiveSession, drafts: Drafts) -> None:
        """Write the drafts if they changed; a disk that refuses them is no reason to interrupt."""
        if drafts == self._kept or session.read_only:
            return
        self._kept = drafts
        with suppress(AgentTuiError):
            is_new = session.view.is_empty
            await asyncio.to_thread(session.drafts.write, drafts, is_new=is_new)


@dataclass(frozen=True, slots=True)
class _Return:
    """A prompt came back: what the box held before, and what it held with it."""

    prompt: str
    before: str
    after: str


class ReturnedPrompts:
    """Decides what the box holds; what a person has written there since is never replaced."""

    def __init__(self) -> None:
        self._returns: list[_Return] = []

    def forget(self) -> None:
        """The box was sent: what is in it from here on was typed."""
        self._returns.clear()

    def may_replace(self, text: str) -> bool:
        """Whether the box is empty, or as it was when the last prompt came."""
        return not text or self._is_unchanged(text)

    def add(self, prompt: str, text: str) -> str:
        """A prompt comes back into a box that holds ``text``: what it is to hold.

        A prompt that came before and was not edited leaves; what was written stays behind the new.
        """
        if not prompt:
            return text
        last = self._returns[-1] if self._returns else None
        written = text
        if last is not None and self._is_unchanged(text):
            written = text.removeprefix(last.prompt).removeprefix("\n\n")
        after = "\n\n".join(filter(None, [prompt, written]))
        self._returns.append(_Return(prompt, text, after))
        return after

    def remove(self, prompt: str, text: str) -> str:
        """A prompt is in the conversation again: what the box that holds ``text`` is to hold."""
        if not self._returns or self._returns[-1].prompt != prompt:
            return text
        last = self._returns.pop()
        return last.before if text == last.after else text

    def _is_unchanged(self, text: str) -> bool:
        return bool(self._returns) and self._returns[-1].after == text
