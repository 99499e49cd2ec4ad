"""What an empty conversation shows: who it is, where it runs, with what, and what to do next."""

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
from agent_tui.ui.widgets.lists.rows import fit_cells

_WORDMARK = (
    "▄▀█ █▀▀ █▀▀ █▄░█ ▀█▀ ▄▄ ▀█▀ █░█ █",
    "█▀█ █▄█ ██▄ █░▀█ ░█░ ░░ ░█░ █▄█ █",
)
_COLUMN = 72
_NOTE_WIDTH = 16
_POINTER = "\u276f "
_SEEN = 6


@dataclass(frozen=True, slots=True)
class Suggestion:
    """One thing to do next: ``command`` is a command of the table, or empty for a prompt."""

    text: str
    command: str = ""


_PROMPTS = (
    Suggestion("Explain what this project does and how it is built"),
    Suggestion("Find the part most likely to break, and say why"),
    Suggestion("Review what I have not committed yet"),
)
_WAITING = (Suggestion(""),) * 6
_COMMANDS = (
    Suggestion("Browse all sessions", "sessions"),
    Suggestion("Connect another model", "connect"),
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
    cursor: reactive[int] = reactive(-1)
    """The suggestion that Enter takes; -1 for none, so that an empty Enter does nothing."""

    @dataclass
    class Suggested(Message):
        """A suggestion was chosen: a prompt to send, or a command to run."""

        text: str
        command: str = ""

    def __init__(self, *, waits: bool = False) -> None:
        super().__init__()
        self._waits = waits
        self._early = -1
        self._first_row = self._left = 0

    @property
    def offered(self) -> tuple[Suggestion, ...]:
        """What can be chosen, in order."""
        given = tuple(Suggestion(text) for text in self.suggestions[:_SEEN])
        return (*(given or (_WAITING if self._waits else _PROMPTS)), *_COMMANDS)

    def watch_suggestions(self) -> None:
        """Take what was chosen before it was there."""
        if self.suggestions and self._early >= 0:
            self.cursor, self._early = self._early, -1
            self.choose()

    def move(self, step: int) -> None:
        """Go to the next suggestion or the one before; up from the first leaves them."""
        self.cursor = max(-1, min(self.cursor + step, len(self.offered) - 1))

    def take_key(self, key: str) -> bool:
        """Do what a key of an empty prompt means here; False where it means nothing."""
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
        if not 0 <= self.cursor < len(self.offered):
            return False
        chosen = self.offered[self.cursor]
        if not chosen.text:
            self._early = self.cursor
            return True
        self.post_message(self.Suggested(chosen.text, chosen.command))
        return True

    def on_click(self, event: events.Click) -> None:
        index = event.y - self._first_row
        if 0 <= index < len(self.offered):
            self.cursor = index
            self.choose()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        index = event.y - self._first_row
        if 0 <= index < len(self.offered):
            self.cursor = index

    def render(self) -> Content:
        width, height = self.size
        column = min(_COLUMN, width - 2)
        rows = [self._suggestion(n, each, column) for n, each in enumerate(self.offered)]
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

    def _suggestion(self, number: int, suggestion: Suggestion, column: int) -> Content:
        room = column - len(_POINTER) - (_NOTE_WIDTH if column >= 50 else 6)
        text = fit_cells(first_line(suggestion.text, 200), max(4, room))
        known = BY_NAME.get(suggestion.command)
        key = key_label(self.app, known) if known else ""
        note = key.rjust(column - len(_POINTER) - cell_len(text))
        if number == self.cursor:
            line = Content.assemble((_POINTER, "bold $user"), (text, "bold"), (note, "$muted"))
            return line.stylize("on $selected")
        style = "" if not suggestion.command else "$muted"
        return Content.assemble(" " * len(_POINTER), (text, style), (note, "$faint"))


def _centred(line: Content, column: int) -> Content:
    return Content.assemble(" " * max(0, (column - line.cell_length) // 2), line)
