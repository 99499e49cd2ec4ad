"""Every command, found by a few letters of its name."""

from __future__ import annotations

from textual import events, on
from textual.app import ComposeResult
from textual.content import Content
from textual.fuzzy import Matcher
from textual.widgets import Input

from agent_tui.resources import stylesheet
from agent_tui.ui.commands import COMMANDS, Command
from agent_tui.ui.keymap import key_label
from agent_tui.ui.screens.dialogs.popup import POPUP_SHEETS, Popup
from agent_tui.ui.widgets.lists.rows import Rows
from agent_tui.ui.widgets.prompt.line_input import LineInput

_HINTS = (("↑↓", "choose"), ("Enter", "run"), ("Esc", "back"))
_MOST_ROWS = 14
_LIST_KEYS = frozenset({"up", "down", "pageup", "pagedown"})


class PaletteScreen(Popup[str]):
    """Is dismissed with the name of a command, or None on Esc."""

    CSS_PATH = [*POPUP_SHEETS, stylesheet("screens/palette.tcss")]
    AUTO_FOCUS = "LineInput"

    def __init__(self) -> None:
        super().__init__()
        self._found: list[tuple[Command, Content]] = []
        self._rows = Rows(
            self._draw, choose_on_click=True, pointer=True, empty=Content("No such command")
        )
        self._rows.can_focus = False

    def compose(self) -> ComposeResult:
        with self.frame("Commands", _HINTS, id="palette"):
            yield LineInput("Search commands")
            yield self._rows

    def on_mount(self) -> None:
        self._search("")

    def on_resize(self) -> None:
        self._fit()

    def _fit(self) -> None:
        room = max(1, self.size.height - 8)
        self._rows.styles.height = max(1, min(len(self._found) or 1, _MOST_ROWS, room))

    @on(Input.Changed)
    def _take_query(self, event: Input.Changed) -> None:
        self._search(event.value.strip())

    def _search(self, query: str) -> None:
        self._found = find_commands(query)
        self._fit()
        self._rows.show_rows(len(self._found), cursor=0)

    def _draw(self, index: int, width: int) -> Content:
        command, title = self._found[index]
        key = key_label(self.app, command) or (f"/{command.name}" if command.slash else "")
        room = width - title.cell_length - len(key) - 4
        note = Content.styled(command.help, "$muted").truncate(max(0, room), ellipsis=True)
        left = Content.assemble(title, "  ", note if room > 16 else "")
        gap = " " * max(1, width - left.cell_length - len(key))
        return Content.assemble(left, gap, (key, "$faint"))

    def on_key(self, event: events.Key) -> None:
        if event.key in _LIST_KEYS and self._found:
            event.stop()
            step = 1 if event.key.endswith("down") else -1
            if event.key.startswith("page"):
                self._rows.action_page(step)
            else:
                self._rows.cursor = (self._rows.cursor + step) % len(self._found)

    @on(Input.Submitted)
    def _run(self) -> None:
        if self._found:
            self.dismiss(self._found[self._rows.cursor][0].name)

    @on(Rows.Chosen)
    def _choose(self, event: Rows.Chosen) -> None:
        self.dismiss(self._found[event.index][0].name)


def find_commands(query: str) -> list[tuple[Command, Content]]:
    """The commands that fit a query, best first, with what fits marked in their titles."""
    if not query:
        return [(command, Content(command.title)) for command in COMMANDS]
    matcher = Matcher(query)
    scored = [
        (max(matcher.match(each.title), matcher.match(each.name)), -place, each)
        for place, each in enumerate(COMMANDS)
    ]
    best = sorted((row for row in scored if row[0] > 0), key=lambda row: row[:2], reverse=True)
    return [(command, _marked(command.title, matcher)) for _, _, command in best]


def _marked(title: str, matcher: Matcher) -> Content:
    from textual.style import Style

    plain = matcher.highlight(title)
    accent = "bold $user"
    spans = [span for span in plain.spans if isinstance(span.style, Style)]
    marked = Content(title)
    for span in spans:
        marked = marked.stylize(accent, span.start, span.end)
    return marked
