"""What an empty conversation shows: the name, the folder, the model, and what to do next."""

from __future__ import annotations

from rich.cells import cell_len
from textual import events
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from agent_tui.core.dataclass import dataclass
from agent_tui.core.text import first_line
from agent_tui.ui.commands import key_label
from agent_tui.ui.commands.table import BY_NAME
from agent_tui.ui.widgets.cells import fit_cells

_WORDMARK = (
    "▄▀█ █▀▀ █▀▀ █▄░█ ▀█▀ ▄▄ ▀█▀ █░█ █",
    "█▀█ █▄█ ██▄ █░▀█ ░█░ ░░ ░█░ █▄█ █",
)
_COLUMN = 72
_WITH_NOTES = 50
"""Below this many cells a note is cut to its first part."""
_POINTER = "\u276f "
_SEEN = 6


@dataclass(frozen=True, slots=True)
class Suggestion:
    """One thing to do next: ``command`` is a command of the table, or empty for a prompt.

    ``note`` stands at the right of it; without one the key of the command does.
    """

    text: str
    command: str = ""
    argument: str = ""
    note: str = ""


_PROMPTS = (
    Suggestion("Explain what this project does and how it is built"),
    Suggestion("Find the part most likely to break, and say why"),
    Suggestion("Review what I have not committed yet"),
)
_WAITING = tuple(Suggestion("", argument=str(place)) for place in range(_SEEN))
"""Rows for prompts that are still being read, each told from the others by its place."""
NOTHING = Suggestion("")
"""An empty row before the commands, where the last session stands once it is found."""
_COMMANDS = (
    Suggestion("Browse all sessions", "sessions"),
    Suggestion("Connect a model", "connect"),
    Suggestion("Keys and commands", "help"),
)


class Welcome(Widget):
    """Fills the place of the timeline until the first message.

    ``waits``: suggestions will come; room is kept for them, so that nothing jumps then.

    The prompt keeps the keys: it hands Up, Down and Enter on while it is empty. A click chooses.
    """

    ALLOW_SELECT = False

    place: reactive[str] = reactive("")
    model: reactive[str] = reactive("")
    instructions: reactive[str] = reactive("")
    suggestions: reactive[tuple[str, ...]] = reactive(())
    last: reactive[Suggestion] = reactive(NOTHING)
    """Continues the last session of the folder; nothing moves when it is found."""
    chosen: reactive[Suggestion | None] = reactive(None)
    """The suggestion that Enter takes, wherever it stands; None, and an empty Enter does nothing.

    Not its place: others come above and below it once they are found, and go in a low window.
    """

    class Suggested(Message):
        """A suggestion was chosen: a prompt to send, or a command to run."""

        def __init__(self, suggestion: Suggestion) -> None:
            super().__init__()
            self.text = suggestion.text
            self.command, self.argument = suggestion.command, suggestion.argument

    def __init__(self, *, waits: bool = False) -> None:
        super().__init__()
        self._waits = waits
        self._is_early = False
        self._first_row = self._left = 0

    def on_mount(self) -> None:
        self.app.screen_change_signal.subscribe(self, lambda _: self.refresh())

    @property
    def offered(self) -> tuple[Suggestion, ...]:
        """What can be chosen, in order: of the prompts as many as there is room for."""
        prompts = self._given or (_WAITING if self._waits else _PROMPTS)
        room = self.size.height - len(_COMMANDS) - 1 if self.size.height else len(prompts)
        return (*prompts[: max(1, room)], self.last, *_COMMANDS)

    @property
    def _given(self) -> tuple[Suggestion, ...]:
        return tuple(Suggestion(text) for text in self.suggestions[:_SEEN])

    @property
    def cursor(self) -> int:
        """The row of the chosen suggestion; -1 where none is, or where it is not offered now."""
        offered = self.offered
        return offered.index(self.chosen) if self.chosen in offered else -1

    def watch_suggestions(self) -> None:
        """Take a suggestion chosen before it had loaded; an empty row chooses nothing."""
        if not self.suggestions or self.chosen not in _WAITING:
            return
        place, given = _WAITING.index(self.chosen), self._given
        self.chosen = given[place] if place < len(given) else None
        if self._is_early:
            self.forget_early()
            self.choose()

    def forget_early(self) -> None:
        """Drop a suggestion chosen before it had loaded: the user has done something else since."""
        self._is_early = False

    def move(self, step: int) -> None:
        """Move to the next or previous suggestion; up from the first deselects."""
        self.forget_early()
        offered = self.offered
        to = self.cursor + step
        if 0 <= to < len(offered) and offered[to] is NOTHING:
            to += step
        to = min(to, len(offered) - 1)
        self.chosen = offered[to] if to >= 0 else None

    def take_key(self, key: str) -> bool:
        """Handle a key of the empty prompt; False if it means nothing here."""
        match key:
            case "down":
                self.move(1)
            case "up" if self.cursor >= 0:
                self.move(-1)
            case "enter":
                return self.choose()
            case _:
                return False
        return True

    def choose(self) -> bool:
        """Take the suggestion under the cursor; False where there is none."""
        chosen = self.chosen
        if chosen is None or chosen not in self.offered:
            return False
        if chosen in _WAITING:
            self._is_early = True
            return True
        self.post_message(self.Suggested(chosen))
        return True

    def on_click(self, event: events.Click) -> None:
        if self._point(event):
            self.choose()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        self._point(event)

    def _point(self, event: events.MouseEvent) -> bool:
        """Put the cursor where the mouse is; False where nothing can be chosen."""
        index, offered = event.y - self._first_row, self.offered
        if not 0 <= index < len(offered) or offered[index] is NOTHING:
            return False
        self.chosen = offered[index]
        return True

    def render(self) -> Content:
        """All of it; nothing while something is open over it, which would cut the wordmark."""
        if self.app.screen is not self.screen:
            return Content("")
        width, height = self.size
        column = min(_COLUMN, width - 2)
        rows = [self._suggestion(each, column) for each in self.offered]
        head = self._head(column, height - len(rows))
        above = max(0, (height - len(head) - len(rows)) // 2)
        self._left = max(0, (width - column) // 2)
        self._first_row = above + len(head)
        lines = [Content("")] * above + head + rows
        pad = " " * self._left
        return Content("\n").join([Content.assemble(pad, line) for line in lines[:height]])

    def _head(self, column: int, room: int) -> list[Content]:
        """Wordmark and facts, as far as there is room above the suggestions."""
        facts = self._facts(column)
        if room < len(facts) + 1:
            return []
        name = [Content.styled("agent-tui", "bold $user")]
        if room >= len(_WORDMARK) + len(facts) + 3 and column >= cell_len(_WORDMARK[0]):
            name = [Content.styled(row.replace("░", " "), "$user") for row in _WORDMARK]
        middle = [*name, Content(""), *facts] if room >= 6 else [*name, *facts]
        return [*(_centred(line, column) for line in middle), Content("")]

    def _facts(self, column: int) -> list[Content]:
        facts = [first_line(each, 200) for each in (self.place, self.model, self.instructions)]
        text = " · ".join(filter(None, facts)) or "Starting"
        return [Content.styled(text, "$muted").truncate(column, ellipsis=True)]

    def _suggestion(self, suggestion: Suggestion, column: int) -> Content:
        known = BY_NAME.get(suggestion.command)
        own = suggestion.note if column >= _WITH_NOTES else suggestion.note.partition(" · ")[0]
        named = (key_label(self.app, known) or f"/{known.name}") if known and not own else own
        room = column - len(_POINTER) - cell_len(named) - 2
        text = fit_cells(first_line(suggestion.text, 200), max(4, room))
        note = named.rjust(column - len(_POINTER) - cell_len(text))
        if suggestion == self.chosen:
            line = Content.assemble((_POINTER, "bold $user"), (text, "bold"), (note, "$muted"))
            return line.stylize("on $selected")
        style = "" if not suggestion.command else "$muted"
        return Content.assemble(" " * len(_POINTER), (text, style), (note, "$faint"))


def _centred(line: Content, column: int) -> Content:
    return Content.assemble(" " * max(0, (column - line.cell_length) // 2), line)
