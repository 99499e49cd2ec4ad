"""Every command, found by a few letters of its name."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.content import Content
from textual.fuzzy import Matcher

from agent_tui.resources import stylesheet
from agent_tui.ui.commands import Command, key_label
from agent_tui.ui.commands.table import COMMANDS
from agent_tui.ui.screens.dialogs.filtered_popup import FilteredPopup
from agent_tui.ui.screens.dialogs.popup import POPUP_SHEETS

_HINTS = (("↑↓", "choose"), ("Enter", "run"), ("Esc", "back"))
_MOST_ROWS = 14


class PaletteScreen(FilteredPopup):
    """Is dismissed with the name of a command, or None on Esc."""

    CSS_PATH = [*POPUP_SHEETS, stylesheet("screens/palette.tcss")]

    def __init__(self) -> None:
        super().__init__(
            self._search, self._draw, self._name_at, most_rows=_MOST_ROWS, empty="No such command"
        )
        self._found: list[tuple[Command, Content]] = []
        self._widest = 0

    def compose(self) -> ComposeResult:
        yield from self.compose_list("Commands", "Search commands", _HINTS, "palette")

    def on_mount(self) -> None:
        self.show_found("")

    def _search(self, query: str) -> int:
        self._found = find_commands(query)
        self._widest = max((title.cell_length for _, title in self._found), default=0)
        return len(self._found)

    def _name_at(self, index: int) -> str:
        return self._found[index][0].name

    def _draw(self, index: int, width: int) -> Content:
        command, title = self._found[index]
        key = key_label(self.app, command) or (f"/{command.name}" if command.slash else "")
        title = title.pad_right(self._widest - title.cell_length)
        room = width - title.cell_length - len(key) - 4
        note = Content.styled(command.help, "$muted").truncate(max(0, room), ellipsis=True)
        left = Content.assemble(title, "  ", note if room > 16 else "")
        gap = " " * max(1, width - left.cell_length - len(key))
        return Content.assemble(left, gap, (key, "$faint"))


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
