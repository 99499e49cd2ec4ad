"""How the fate of a message is shown: one glyph and one colour each, everywhere the same."""

from __future__ import annotations

from textual.content import Content

from agent_tui.core.format import format_percent, format_tokens
from agent_tui.core.summary import CompactionView, Fate

GLYPHS: dict[Fate, str] = {"kept": "●", "masked": "◌", "summarised": "◐", "dropped": "○"}
STYLES: dict[Fate, str] = {
    "kept": "$fate-kept",
    "masked": "$muted",
    "summarised": "$fate-summarised",
    "dropped": "$fate-dropped",
}
PINNED = "◉"
FATES: tuple[Fate, ...] = ("kept", "masked", "summarised", "dropped")
_GOING_FIRST: tuple[Fate, ...] = ("dropped", "summarised", "masked", "kept")


def draw_counts(view: CompactionView) -> Content:
    """How many messages each fate has: ``● 4 kept  ◐ 30 summarised  ○ 6 dropped``."""
    report = view.report
    counts: dict[Fate, int] = {
        "kept": report.kept - report.masked,
        "masked": report.masked,
        "summarised": report.summarised,
        "dropped": report.dropped,
    }
    parts = [
        Content.assemble((GLYPHS[fate], STYLES[fate]), f" {counts[fate]:,} {fate}")
        for fate in FATES
        if counts[fate]
    ]
    return Content("  ").join(parts)


class Balance:
    """The tokens of both sides, by fate; they are added up once, as there may be many messages."""

    def __init__(self, view: CompactionView) -> None:
        self._report = view.report
        self._sums: dict[Fate, int] = dict.fromkeys(FATES, 0)
        for message in view.before:
            self._sums[message.fate] += message.tokens
        self._staying = sum(row.tokens for row in view.after if row.before is not None)

    @property
    def untouched(self) -> int:
        """The tokens of what no compaction touches: the system prompt and the tools."""
        report = self._report
        before = report.tokens_before - sum(self._sums.values())
        return max(0, min(before, report.tokens_after - self._staying))

    def draw(self, width: int, *, final: bool) -> Content:
        """Two bars on one scale, before over after, each with its tokens.

        Args:
            width: cells to use.
            final: whether the summary is complete; until then the second bar still grows.
        """
        report = self._report
        share = report.saved_share
        size = f"{format_percent(abs(share))} {'larger' if share < 0 else 'saved'}"
        saved = f"  {size}" if final else "  …"
        scale = max(report.tokens_before, report.tokens_after, 1)
        room = max(4, width - 32)
        return Content.assemble(
            ("Before ", "$muted"),
            _bar(self._before(), scale, room),
            f" {format_tokens(report.tokens_before)}",
            ("\nAfter  ", "$muted"),
            _bar(self._after(), scale, room),
            f" {format_tokens(report.tokens_after, estimated=True)}",
            (saved, "$ok" if share > 0 else "$danger"),
        )

    def _before(self) -> list[tuple[float, str]]:
        counted = sum(self._sums.values())
        going = self._report.tokens_before - self.untouched
        stretch = going / counted if counted else 0.0
        parts = [(self._sums[fate] * stretch, STYLES[fate]) for fate in _GOING_FIRST]
        return [(self.untouched, "$share-5"), *parts]

    def _after(self) -> list[tuple[float, str]]:
        after = self._report.tokens_after
        kept = min(self._staying, after)
        summary = after - self.untouched - kept
        parts = [(summary, STYLES["summarised"]), (kept, STYLES["kept"])]
        return [(self.untouched, "$share-5"), *parts]


def _bar(parts: list[tuple[float, str]], scale: int, width: int) -> Content:
    cells: list[tuple[str, str]] = []
    reached, end = 0.0, 0
    for amount, style in parts:
        reached += amount
        start, end = end, round(reached / scale * width)
        cells.append(("█" * (end - start), style))
    cells.append((" " * (width - end), "on $gauge-track"))
    return Content.assemble(*cells)
