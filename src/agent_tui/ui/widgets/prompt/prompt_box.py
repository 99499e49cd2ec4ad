"""Where prompts are written: several lines, commands, files, history, pastes folded."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from textual import events, on, work
from textual.containers import Vertical
from textual.message import Message

from agent_tui.core.text import clean, late_pattern
from agent_tui.ui.widgets import read_sheets
from agent_tui.ui.widgets.prompt.history import PromptHistory
from agent_tui.ui.widgets.prompt.pastes import Pastes, literal_paste
from agent_tui.ui.widgets.prompt.prompt import Prompt
from agent_tui.ui.widgets.prompt.prompt_frame import PromptFrame

if TYPE_CHECKING:
    from agent_tui.ui.widgets.lists.rows import Rows
    from agent_tui.ui.widgets.prompt.completion import Candidate, Completion
    from agent_tui.ui.widgets.prompt.queue import PromptQueue

_COMMAND = late_pattern(r"/([a-zA-Z?][\w:-]*)(?:\s+(.*))?\Z", re.DOTALL)
_COMMAND_START = late_pattern(r"/([\w?:-]*)\Z")
_ROW_KEYS = {"up": -1, "down": 1}
_PAGE_KEYS = {"pageup": -1, "pagedown": 1}

CompletePath = Callable[[str], Sequence[str]]


class PromptBox(Vertical):
    """The prompt with its completions; it posts what was sent and knows nothing of the agent.

    Args:
        complete_path: gives paths of the workspace that begin like its argument; runs in a thread.
        history: earlier prompts, oldest first.

    Attributes:
        frame: says what stands in the edges around it, and whether it can be written.
        history: the earlier prompts.
    """

    class Submitted(Message):
        """A prompt was sent; ``shell`` when it began with ``!`` (which is taken off)."""

        def __init__(self, text: str, *, shell: bool = False) -> None:
            super().__init__()
            self.text, self.shell = text, shell

    class CommandEntered(Message):
        """A slash command was sent; its name may be unknown."""

        def __init__(self, name: str, argument: str) -> None:
            super().__init__()
            self.name, self.argument = name, argument

    class Edited(Message):
        """The text in the prompt changed."""

    class SearchLeft(Message):
        """Esc ended the search of earlier prompts."""

    class PageTurned(Message):
        """PgUp (-1) or PgDn (1) was pressed while writing: the conversation is meant.

        So it is by End (0) in an empty prompt: its end.
        """

        def __init__(self, step: int) -> None:
            super().__init__()
            self.step = step

    def __init__(
        self,
        complete_path: CompletePath | None = None,
        history: Sequence[str] = (),
        *,
        take_empty_key: Callable[[str], bool] | None = None,
        id: str | None = None,  # noqa: A002
    ) -> None:
        self._prompt = Prompt(self._take_key, self.paste, lambda text: self._pastes.expand(text))
        self.frame = PromptFrame(self._prompt)
        super().__init__(self.frame, id=id)
        self._complete_path = complete_path
        self._take_empty_key = take_empty_key
        self.history = PromptHistory(history)
        self._pastes = Pastes()
        self._quiet = self._followed = ""
        self._draft_before_search: str | None = None
        self._completion: Completion | None = None
        self._queue: PromptQueue | None = None
        self._own_commands: dict[str, str] = {}

    def on_resize(self) -> None:
        self.set_class(self.app.size.height < 18, "-short")
        self.frame.show_all()

    @property
    def queue(self) -> PromptQueue:
        """The prompts that wait for the agent; made when it is first asked for."""
        if self._queue is None:
            from agent_tui.ui.widgets.prompt.queue import PromptQueue  # not for the first frame

            read_sheets(self.app, "widgets/queue.tcss")
            self._queue = PromptQueue()
            self.mount(self._queue, before=self.frame)
        return self._queue

    @property
    def text(self) -> str:
        """The unsent prompt, pastes expanded."""
        return self._pastes.expand(self._prompt.text)

    def set_text(self, text: str) -> None:
        """Put a prompt in for editing, in place of what is there."""
        self._put(clean(text))

    def clear(self) -> None:
        """Empty the prompt; what stood there is the newest of the earlier prompts."""
        self.history.add(self.text)
        self._put("")

    def use_vim(self) -> None:
        """Take Vim's keys while writing."""
        self._prompt.use_vim()

    def hold_cursor(self) -> None:
        """Stop the cursor from blinking."""
        self._prompt.cursor_blink = False

    def set_own_commands(self, prompts: Mapping[str, str]) -> None:
        """Offer prompts kept in files too: their descriptions by name."""
        self._own_commands = dict(prompts)

    def focus(self, scroll_visible: bool = True) -> PromptBox:
        self._prompt.focus(scroll_visible)
        return self

    def paste(self, text: str) -> None:
        """Insert a paste: literal, cleaned, folded when long, never sent."""
        if self.disabled or self.frame.read_only or not text:
            return
        literal = self._pastes.fold(literal_paste(text))
        prompt = self._prompt
        prompt.replace(literal, *prompt.selection, maintain_selection_offset=False)
        self._quiet = prompt.text
        self.dismiss_completions()
        prompt.focus()

    def erase(self) -> None:
        """Delete the character before the cursor."""
        if not self.frame.read_only:
            self._prompt.action_delete_left()

    def send(self) -> bool:
        """Send what is written, as Enter does; False for a command, which waits for its turn."""
        if self.frame.read_only or self.text.lstrip()[:1] in ("", "/", "!"):
            return False
        self._press_enter()
        return not self.text

    @property
    def is_writing(self) -> bool:
        """Whether keys go into the prompt."""
        return self._prompt.has_focus and not self.frame.read_only

    def take_typed(self, key: events.Key) -> bool:
        """Type a key that was pressed elsewhere; False where nothing can be written."""
        if self.disabled or self.frame.read_only:
            return False
        self._prompt.begin_typing()
        self.screen.set_focus(self._prompt)  # at once: the next key is on its way
        self._prompt._forward_event(events.Key(key.key, key.character))
        return True

    def on_find_bar_closed(self) -> None:
        if self.screen.focused is None:
            self.focus()

    @on(Prompt.Changed)
    def _follow_text(self, event: Prompt.Changed) -> None:
        event.stop()
        self._follow(self._prompt.text)

    def _follow(self, text: str) -> None:
        self._followed = text
        self.post_message(self.Edited())
        self.frame.shell = text.startswith("!")
        self.frame.folded = self._prompt.can_unfold
        if text == self._quiet and self._draft_before_search is None:
            self.dismiss_completions()
            return
        self._quiet = ""
        self._offer(text)

    def _offer(self, text: str) -> None:
        if self._draft_before_search is not None:
            self._list.offer_history(self.history.search(text))
        elif (command := _COMMAND_START.match(text)) is not None:
            self._list.offer_commands(command.group(1), self._own_commands)
        elif (prefix := self._prompt.path_prefix) is not None and self._complete_path:
            self._offer_paths(prefix, self._complete_path)
        else:
            self.dismiss_completions()

    @work(exclusive=True, group="completion", exit_on_error=False)
    async def _offer_paths(self, prefix: str, complete: CompletePath) -> None:
        paths = await asyncio.to_thread(complete, prefix)
        if self._prompt.path_prefix == prefix:
            self._list.offer_paths(paths)

    @property
    def _list(self) -> Completion:
        """The list over the prompt; made when there is first something to offer."""
        if self._completion is None:
            from agent_tui.ui.widgets.prompt.completion import Completion  # not for the first frame

            read_sheets(self.app, "widgets/rows.tcss", "widgets/completion.tcss")
            self._completion = Completion()
            self.frame.follow(self._completion)
            self.mount(self._completion, before=0)
        return self._completion

    def dismiss_completions(self) -> None:
        """Close the completion list."""
        if self._completion is not None:
            self._completion.dismiss()

    def _take_key(self, key: str) -> bool:
        if self._followed != self._prompt.text:
            self._follow(self._prompt.text)  # the key was quicker than the news of the text
        completion = self._completion
        if completion and completion.is_offering and self._take_list_key(completion, key):
            return True
        if key in _PAGE_KEYS:
            self.post_message(self.PageTurned(_PAGE_KEYS[key]))
            return True
        if self.frame.read_only:
            return False
        if not self._prompt.text and self._take_empty_key and self._take_empty_key(key):
            return True
        match key:
            case "enter":
                self._press_enter()
            case "up" if self.queue.prompts and not self._prompt.text:
                self.queue.take_last()
            case "up" if self._prompt.is_on_first_line:
                return self._recall(self.history.earlier(self._prompt.text), at_end=False)
            case "down" if self._prompt.is_on_last_line:
                return self._recall(self.history.later(), at_end=True)
            case "ctrl+r":
                if self._draft_before_search is None:
                    self._draft_before_search = self._prompt.text
                    self.frame.searching = True
                self._offer(self._prompt.text)
            case "escape" if self._draft_before_search is not None:
                self._end_search(self._draft_before_search)
                self.post_message(self.SearchLeft())
            case "end" if not self._prompt.text:
                self.post_message(self.PageTurned(0))
            case "ctrl+d" if not self._prompt.text:
                self.post_message(self.CommandEntered("exit", ""))
            case "backspace":
                return self._prompt.delete_token(self._pastes.token_before)
            case "question_mark" if not self._prompt.text:
                self.post_message(self.CommandEntered("help", ""))
            case _:
                return False
        return True

    def _take_list_key(self, completion: Completion, key: str) -> bool:
        match key:
            case "up" | "down":
                completion.cursor = (completion.cursor + _ROW_KEYS[key]) % completion.count
            case "pageup" | "pagedown":
                completion.action_page(_PAGE_KEYS[key])
            case "tab" | "enter" if completion.chosen is not None:
                self._accept(completion.chosen, run=key == "enter")
            case "escape" if self._draft_before_search is None:
                self._quiet = self._prompt.text
                completion.dismiss()
            case _:
                return False
        return True

    def on_rows_chosen(self, event: Rows.Chosen) -> None:
        """One of the completions was clicked."""
        event.stop()
        self._accept(self._list.candidate(event.index), run=False)
        self._prompt.focus()

    def _accept(self, candidate: Candidate, *, run: bool) -> None:
        match candidate.kind:
            case "history":
                self.history.add(self._pastes.expand(self._draft_before_search or ""))
                self._end_search(clean(candidate.text))
            case "path":
                if self._prompt.complete_path(candidate.text):
                    self.dismiss_completions()
            case "command":
                self._put(f"{candidate.text} ")
                if run and not candidate.needs_argument:
                    self._send()

    def _press_enter(self) -> None:
        prompt = self._prompt
        if self._draft_before_search is not None:
            return
        if prompt.line_before_cursor.endswith("\\"):
            prompt.action_delete_left()
            prompt.insert("\n")
            return
        self._send()

    def _send(self) -> None:
        text = self.text.strip()
        if not text:
            return
        self.history.add(text)
        self._pastes = Pastes()
        self._put("")
        if (command := _COMMAND.match(text)) is not None:
            self.post_message(
                self.CommandEntered(command.group(1), (command.group(2) or "").strip())
            )
        elif text.startswith("!"):
            self.post_message(self.Submitted(text[1:].strip(), shell=True))
        else:
            self.post_message(self.Submitted(text))

    def _put(self, text: str, *, at_end: bool = True) -> None:
        self._quiet = text
        self.dismiss_completions()
        self._prompt.set_text(text, at_end=at_end)

    def _recall(self, prompt: str | None, *, at_end: bool) -> bool:
        if prompt is None:
            return False
        self._put(clean(prompt), at_end=at_end)
        return True

    def _end_search(self, text: str) -> None:
        self._draft_before_search = None
        self.frame.searching = False
        self._put(text)
