"""What may be completed in a prompt, and the list that offers it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from rich.cells import cell_len
from textual.content import Content
from textual.fuzzy import FuzzySearch
from textual.reactive import reactive

from agent_tui.core.dataclass import dataclass
from agent_tui.core.text import first_line, format_count, reveal
from agent_tui.ui.commands import Command
from agent_tui.ui.commands.table import find_command, slash_commands
from agent_tui.ui.widgets.lists.rows import Rows

Kind: TypeAlias = Literal["command", "path", "history"]


_NONE: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class Candidate:
    """One thing that may be put into the prompt in place of what was typed."""

    kind: Kind
    text: str
    label: str
    note: str = ""
    needs_argument: bool = False


def match_commands(query: str, own: Mapping[str, str] = _NONE) -> list[Candidate]:
    """Commands whose name, or a word of whose title, fits what follows the slash; best first.

    ``own``: the descriptions of prompts kept in files, by name; they stand behind the others.
    """
    scored: list[tuple[float, int, Command]] = []
    search = FuzzySearch()
    for place, command in enumerate(slash_commands()):
        score = _score(search, query.lower(), command)
        if score > 0:
            scored.append((-score, place, command))
    scored.sort(key=lambda row: row[:2])
    return [
        Candidate("command", f"/{found.name}", found.usage, found.help, found.needs_argument)
        for _, _, found in scored
    ] + [
        Candidate("command", f"/{name}", f"/{name}", description)
        for name, description in own.items()
        if query.lower() in name.lower()
    ]


def _score(search: FuzzySearch, query: str, command: Command) -> float:
    if not query:
        return 1.0
    if find_command(query) is command:  # its name, or a short form of it
        return 10_000.0
    if command.name.startswith(query):
        return 1_000.0 - len(command.name)
    if command.name[0] != query[0]:
        words = command.title.lower().split()
        return 1.0 if len(query) > 1 and any(word.startswith(query) for word in words) else 0.0
    return search.match(query, command.name)[0]


def path_candidates(paths: Sequence[str]) -> list[Candidate]:
    """Paths of the workspace as candidates; names that hide something are left out."""
    return [Candidate("path", path, path) for path in paths if reveal(path) == path]


def history_candidates(prompts: Sequence[str]) -> list[Candidate]:
    """Earlier prompts as candidates, each shown by its first line."""
    return [
        Candidate("history", prompt, first_line(prompt, 200), _more(prompt)) for prompt in prompts
    ]


def _more(prompt: str) -> str:
    lines = prompt.strip().count("\n")
    return f"+{format_count(lines, 'line')}" if lines else ""


class Completion(Rows, can_focus=False):
    """The list over the prompt; the prompt keeps the focus and drives it."""

    offered: reactive[Kind | None] = reactive(None, repaint=False)
    """What there is to choose from; None while there is nothing."""

    def __init__(self) -> None:
        super().__init__(choose_on_click=True, pointer=True)
        self._candidates: Sequence[Candidate] = ()
        self._label_width = 0

    @property
    def is_offering(self) -> bool:
        """Whether there is something to choose from."""
        return bool(self.display and self._candidates)

    @property
    def chosen(self) -> Candidate | None:
        """The candidate under the cursor."""
        return self._candidates[self.cursor] if self._candidates else None

    def candidate(self, index: int) -> Candidate:
        return self._candidates[index]

    def offer_commands(self, query: str, own: Mapping[str, str]) -> None:
        """Show the commands that fit; ``own``: descriptions of prompts kept in files, by name."""
        self.offer(match_commands(query, own))

    def offer_paths(self, paths: Sequence[str]) -> None:
        """Show paths of the workspace."""
        self.offer(path_candidates(paths))

    def offer_history(self, prompts: Sequence[str]) -> None:
        """Show earlier prompts."""
        self.offer(history_candidates(prompts))

    def offer(self, candidates: Sequence[Candidate]) -> None:
        """Show these candidates, or hide when there are none."""
        self._candidates = candidates
        self._label_width = max((cell_len(each.label) for each in candidates), default=0)
        self.display = bool(candidates)
        self.offered = candidates[0].kind if candidates else None
        rows = min(8, max(3, self.app.size.height // 3), max(1, len(candidates)))
        self.styles.height = rows + 2
        self.show_rows(len(candidates), cursor=0)

    def dismiss(self) -> None:
        """Hide the list."""
        if self.display:
            self.offer(())

    def draw_row(self, index: int, width: int) -> Content:
        candidate = self._candidates[index]
        if candidate.kind == "command":
            label = Content.styled(candidate.label.ljust(self._label_width), "$user")
        else:
            label = Content(candidate.label)
        if not candidate.note:
            return label
        return Content.assemble(label, "  ", (candidate.note, "$muted"))
