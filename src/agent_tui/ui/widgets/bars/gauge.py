"""One line that says how full the context is, what fills it, and when it will be compacted."""

from __future__ import annotations

from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from agent_tui.core.format import format_percent, format_tokens
from agent_tui.core.usage import Gauge

_EIGHTHS = " ▏▎▍▌▋▊▉█"
_SMALLEST_BAR = 6
_WIDEST_BAR = 48
_NEAR = 0.75
"""The share of the way to the compaction mark from which on the gauge warns."""

EMPTY = Gauge(tokens=0, window=0, trigger_at=0, estimated=False)


class TokenGauge(Widget):
    """Numbers and a bar; a click or ``AttributionRequested`` leads to the table behind them."""

    ALLOW_SELECT = False

    gauge: reactive[Gauge] = reactive(EMPTY)
    """What to show; its shares, where given, colour the bar."""

    class AttributionRequested(Message):
        """The gauge was clicked: its reader wants to know what fills the context."""

    def on_click(self) -> None:
        self.post_message(self.AttributionRequested())

    def render(self) -> Content:
        return draw_gauge(self.gauge, self.size.width)


def is_near(gauge: Gauge) -> bool:
    """Whether the context will be compacted soon."""
    return 0 < _NEAR * gauge.trigger_at <= gauge.tokens


def draw_gauge(gauge: Gauge, width: int) -> Content:
    """The gauge in ``width`` cells: the longest text that leaves room for a bar of use."""
    if not gauge.window:
        fitting = (text for text in _numbers(gauge) if len(text) <= width)
        return Content.styled(next(fitting, "") if gauge.tokens else "", "$muted")
    level = level_style(gauge)
    for text in _numbers(gauge):
        bar = min(_WIDEST_BAR, width - len(text) - 1)
        if bar >= _SMALLEST_BAR:
            return Content.assemble(draw_bar(gauge, bar), " ", (text, level))
    return Content.styled(_numbers(gauge)[-1][:width], level)


def level_style(gauge: Gauge) -> str:
    """The colour of fullness: measured against the compaction mark, or the window without one."""
    limit = gauge.trigger_at or gauge.window
    fullness = gauge.tokens / limit if limit else 0.0
    if fullness >= 0.95:
        return "$gauge-high"
    return "$gauge-middle" if fullness >= _NEAR else "$gauge-low"


def _numbers(gauge: Gauge) -> list[str]:
    tokens = format_tokens(gauge.tokens, estimated=gauge.estimated)
    if not gauge.window:
        return [f"{tokens} tokens", tokens]
    window, share = format_tokens(gauge.window), format_percent(gauge.fraction)
    plain = f"{tokens} / {window} tokens · {share}"
    sign = "~" if gauge.estimated else ""
    forms = [plain, f"{tokens}/{window}", f"{sign}{share}"]
    if not gauge.trigger_at:
        return forms
    left = gauge.trigger_at - gauge.tokens
    warning = f"compacts in {format_tokens(left)}" if left > 0 else "compacts next"
    if is_near(gauge):
        forms = [f"{tokens}/{window} · {warning}", *forms[1:]]
    return [f"{plain} · {warning}", *forms]


def draw_bar(gauge: Gauge, width: int) -> Content:
    """The bar alone: filled cells by share or by level, the track, and the compaction mark."""
    fill = min(1.0, gauge.fraction) * width
    whole = int(fill)
    part = _EIGHTHS[int((fill - whole) * 8)] if whole < width else ""
    styles = _cell_styles(gauge, fill, whole)
    mark = _mark_cell(gauge, width)
    cells: list[tuple[str, str]] = []
    for x in range(width):
        if x == mark:
            ground = styles[x] if x < whole else "$gauge-track"
            cells.append(("┃", f"$gauge-trigger on {ground}"))
        elif x < whole:
            cells.append(("█", styles[x]))
        elif x == whole and part.strip():
            cells.append((part, f"{styles[-1]} on $gauge-track"))
        else:
            cells.append((" ", "on $gauge-track"))
    return Content.assemble(*cells).simplify()


def _mark_cell(gauge: Gauge, width: int) -> int:
    if not gauge.trigger_at or gauge.trigger_at > gauge.window:
        return -1
    return min(width - 1, int(gauge.trigger_at / gauge.window * width))


def _cell_styles(gauge: Gauge, fill: float, whole: int) -> list[str]:
    """A colour for every filled cell and one for the part cell after them."""
    from agent_tui.ui.widgets.bars.shares import (  # not for the first frame
        share_style,
        shares_by_kind,
    )

    kinds = shares_by_kind(gauge.shares)
    total = sum(tokens for _, tokens in kinds)
    if not total or whole < 3:
        return [level_style(gauge)] * (whole + 1)
    styles: list[str] = []
    reached = 0
    for kind, tokens in kinds:
        reached += tokens
        end = round(reached / total * fill)
        styles.extend([share_style(kind)] * (end - len(styles)))
    styles.extend([styles[-1] if styles else level_style(gauge)] * (whole + 1 - len(styles)))
    return styles[: whole + 1]
