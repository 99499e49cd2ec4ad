"""Finding text in what is shown: in the words of a block, and in the rows they are drawn in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from agent_tui.core.arguments import show_arguments
from agent_tui.core.messages import CommandDisplay, DiffDisplay
from agent_tui.ui.blocks import AssistantBlock, Block, EarlierBlock, ToolBlock, plain_text
from agent_tui.ui.themes.palette import Palette

_MARK = Style(reverse=True)
_CURRENT = Style(reverse=True, bold=True, underline=True)  # visible without colours, too
_RAILS = " │▌┆▎✻╰"
_MARKDOWN = str.maketrans("", "", "*`")


def wanted_words(text: str) -> str:
    """What is looked for, as everything here expects it: in small letters, with single blanks."""
    return " ".join(text.lower().split())


def block_holds(block: Block, wanted: str) -> bool:
    """Whether a block contains some words, in folded parts and across line ends too."""
    text = _all_text(block).lower()
    if wanted in text:
        return True
    if " " not in wanted:
        return False
    plain = " ".join(text.split())
    return wanted in plain or wanted in plain.translate(_MARKDOWN)


def rows_with(rows: Sequence[str], wanted: str) -> Iterator[int]:
    """The rows that hold some words, or in which they begin."""
    after = ""
    for index in range(len(rows) - 1, -1, -1):
        row = " ".join(rows[index].strip(_RAILS).lower().split())
        if wanted in row or (wanted in f"{row} {after}" and wanted not in after):
            yield index
        after = row


def mark_text(strip: Strip, wanted: str, palette: Palette, *, current: bool = False) -> Strip:
    """A row with each place that holds some words reversed; where the reader is, in a colour."""
    text = strip.text.lower()
    start = text.find(wanted)
    if start < 0:
        return strip
    first = cell_len(text[:start])
    last = first + cell_len(wanted)
    style = palette.attention + _CURRENT if current else _MARK
    found = Segment.apply_style(strip.crop(first, last), post_style=style)
    after = mark_text(strip.crop(last), wanted, palette, current=current)
    return Strip.join([strip.crop(0, first), Strip(found), after])


def _all_text(block: Block) -> str:
    """All that a block says when it is opened."""
    match block:
        case AssistantBlock(text, thinking, calls):
            return "\n".join([thinking, text, *map(_all_text, calls)])
        case ToolBlock():
            fields = show_arguments(block.arguments).values()
            return f"{block.name} {' '.join(fields)}\n{_displayed(block)}\n{block.output}"
        case EarlierBlock(inner):
            return _all_text(inner)
        case _:
            return plain_text(block)


def _displayed(block: ToolBlock) -> str:
    match block.display:
        case DiffDisplay(diff=diff):
            return diff.replace("\n+", "\n").replace("\n-", "\n").replace("\n ", "\n")
        case CommandDisplay(command=command):
            return command
        case None:
            return ""
