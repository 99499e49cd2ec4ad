"""Where the tokens of the context are, kind by kind, and what a compaction would free."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content

from agent_tui.core.format import format_percent, format_tokens
from agent_tui.core.summary import CheckpointSummary
from agent_tui.core.text import reveal
from agent_tui.core.usage import Gauge, Share
from agent_tui.resources import stylesheet
from agent_tui.ui.screens.dialogs.panel import ONE_PAGE, PANEL_SHEETS, Panel
from agent_tui.ui.screens.time.checkpoints import CheckpointsScreen
from agent_tui.ui.widgets.bars.gauge import TokenGauge
from agent_tui.ui.widgets.bars.shares import share_style, shares_by_kind
from agent_tui.ui.widgets.cells import fit_cells
from agent_tui.ui.widgets.lists.fitted import Fitted
from agent_tui.ui.widgets.lists.rows import Rows

_COLUMNS = (("compaction", "compaction_frees"), ("revert", "revert_frees"))
_WIDEST_NAME = 56
"""Figures stand where they can be read along with their names, not at the edge of the screen."""


@dataclass(frozen=True, slots=True)
class _Line:
    """One line of the table: a kind with its sum, or one thing of that kind."""

    kind: str
    detail: str
    tokens: int
    compaction_frees: int
    revert_frees: int


class _MeasuredScreen(CheckpointsScreen):
    """The same list, to choose of which revert the screen below tells: nothing is reverted."""

    BINDINGS = [
        Binding(
            "enter",
            "choose",
            "show what it frees",
            key_display="Enter",
            id="checkpoints-choose",
        ),
    ]


class AttributionScreen(Panel[None]):
    """The table behind the gauge.

    What a compaction and a revert would free gets a column each, where the shares know it; the
    revert is to the newest checkpoint before a prompt, until another one is chosen.

    Args:
        gauge: how full the context is.
        load: gives the shares for a checkpoint, for example ``session.shares.attribution``.
        checkpoints: gives the places to return to, for example ``session.checkpoints``.
    """

    DEFAULT_CLASSES = ONE_PAGE
    CSS_PATH = [
        *PANEL_SHEETS,
        stylesheet("widgets/gauge.tcss"),
        stylesheet("screens/attribution.tcss"),
    ]
    AUTO_FOCUS = "Rows"
    BINDINGS = [Binding("c", "choose_checkpoint", "another checkpoint", key_display="c")]
    ABOUT_ROWS = frozenset({"choose_checkpoint"})

    def __init__(
        self,
        gauge: Gauge,
        load: Callable[[int | None], Awaitable[Sequence[Share]]],
        checkpoints: Callable[[], Sequence[CheckpointSummary]] = tuple,
    ) -> None:
        super().__init__()
        self._find_checkpoints = checkpoints
        self._checkpoints: Sequence[CheckpointSummary] = ()
        self._checkpoint: int | None = None
        self._gauge = TokenGauge()
        self._level = gauge
        self._load_shares = load
        self._lines: list[_Line] = []
        self._total = self._most = 0
        self._columns: list[tuple[str, list[int]]] = []
        self._rows = Rows(self._draw, empty=Content("Counting…"))

    def compose(self) -> ComposeResult:
        yield self.heading()
        yield self._gauge
        yield Fitted(self._draw_heads, id="heads")
        yield self._rows
        yield self.key_hints()

    def on_mount(self) -> None:
        self.show_heading("What fills the context")
        self._gauge.gauge = self._level
        self._begin()

    @work(exclusive=True, group="attribution")
    async def _begin(self) -> None:
        self._checkpoints = await asyncio.to_thread(self._find_checkpoints)
        prompts = (each.id for each in reversed(self._checkpoints) if not each.step)
        self._checkpoint = next(prompts, None)
        self.refresh_bindings()
        self._load()

    def has_rows(self) -> bool:
        return bool(self._checkpoints)

    @work(exclusive=True, group="attribution-choice")
    async def action_choose_checkpoint(self) -> None:
        chosen = await self.app.push_screen_wait(_MeasuredScreen(self._checkpoints))
        if isinstance(chosen, int):
            self._checkpoint = chosen
            self._load()

    @work(exclusive=True, group="attribution-load")
    async def _load(self) -> None:
        shares = await self.attempt(self._load_shares(self._checkpoint))
        self._rows.show_empty(Content("The context is empty."))
        self._show(tuple(shares or ()))

    def _show(self, shares: tuple[Share, ...]) -> None:
        level = self._level
        self._gauge.gauge = Gauge(
            level.tokens, level.window, level.trigger_at, level.estimated, shares
        )
        self._total = sum(share.tokens for share in shares)
        self._lines = []
        for kind, _ in sorted(shares_by_kind(shares), key=lambda pair: -pair[1]):
            parts = sorted(
                (share for share in shares if share.kind == kind), key=lambda share: -share.tokens
            )
            self._lines.append(_summarise(kind, parts))
            self._lines += [_summarise(kind, [part], part.detail) for part in parts if part.detail]
        self._most = max((line.tokens for line in self._lines), default=0)
        self._columns = [
            (title, [getattr(line, field) for line in self._lines])
            for title, field in _COLUMNS
            if any(getattr(line, field) for line in self._lines)
        ]
        self._rows.show_rows(len(self._lines))
        self.draw_heads()
        self._explain_columns()

    async def on_resize(self) -> None:
        await super().on_resize()
        self.call_after_refresh(self._explain_columns)  # the rows have a width then

    def _explain_columns(self) -> None:
        """Say what the last columns are, where there is room for them."""
        shown = [title for title, _ in self._freed(self._rows.scrollable_content_region.width)]
        means = {"compaction": "by compaction", "revert": f"by revert to ◇ {self._checkpoint}"}
        freed = ", ".join(means[title] for title in shown)
        columns = "column" if len(shown) == 1 else "columns"
        note = f"last {columns}: freed {freed}" if freed else ""
        self.show_heading("What fills the context", note)

    def _draw(self, index: int, width: int) -> Content:
        line = self._lines[index]
        share = line.tokens / self._total if self._total else 0.0
        freed = "".join(
            _freed(amounts[index]).rjust(len(title) + 3) for title, amounts in self._freed(width)
        )
        bar_width, name_width = self._widths(width)
        mark = ("  " if line.detail else "\u25a0 ", share_style(line.kind))
        name = reveal(line.detail) if line.detail else reveal(line.kind.replace("_", " "))
        part = line.tokens / self._most * bar_width if self._most else 0.0
        bar = "\u2588" * round(part) or ("\u258f" if bar_width and line.tokens else "")
        return Content.assemble(
            mark,
            (_fit_name(name, name_width), "$muted" if line.detail else "bold"),
            f"{format_tokens(line.tokens):>8}",
            (f"{format_percent(share):>6}  ", "$muted"),
            (bar.ljust(bar_width), share_style(line.kind)),
            (freed, "$muted"),
        )

    def _freed(self, width: int) -> list[tuple[str, list[int]]]:
        """The columns of what would be freed, where there is room for them."""
        return self._columns if width >= 76 else []

    def _widths(self, width: int) -> tuple[int, int]:
        """Cells for the bar and for the name."""
        freed = sum(len(title) + 3 for title, _ in self._freed(width))
        bar = max(0, min(24, (width - freed) // 4))
        return bar, max(8, min(_WIDEST_NAME, width - bar - 18 - freed))

    def _draw_heads(self, width: int) -> Content:
        inner = width - 1
        bar, name = self._widths(inner)
        freed = "".join(title.upper().rjust(len(title) + 3) for title, _ in self._freed(inner))
        return Content(f"  {'WHAT':<{name}}{'TOKENS':>8}{'SHARE':>6}  {'':<{bar}}{freed}")


def _fit_name(name: str, width: int) -> str:
    """The name in so many cells; of the path of a file its end is kept."""
    if not name.startswith("/") or cell_len(name) <= width:
        return fit_cells(name, width)
    while name and cell_len(name) > width - 1:
        name = name[1:]
    return fit_cells(f"…{name}", width)


def _freed(tokens: int) -> str:
    return f"-{format_tokens(tokens)}" if tokens else ""


def _summarise(kind: str, shares: Sequence[Share], detail: str = "") -> _Line:
    return _Line(
        kind,
        detail,
        sum(share.tokens for share in shares),
        sum(share.compaction_frees for share in shares),
        sum(share.revert_frees for share in shares),
    )
