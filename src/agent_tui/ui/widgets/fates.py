"""How the fate of a message is shown: one glyph and one colour each, everywhere the same."""

from __future__ import annotations

from textual.content import Content

from agent_tui.core.summary import CompactionView, Fate
from agent_tui.ui.format import format_percent, format_tokens

GLYPHS: dict[Fate, str] = {"kept": "●", "summarised": "◐", "dropped": "○"}
STYLES: dict[Fate, str] = {
    "kept": "$fate-kept",
    "summarised": "$fate-summarised",
    "dropped": "$fate-dropped",
}
PINNED = "◉"
FATES: tuple[Fate, ...] = ("kept", "summarised", "dropped")
_GOING_FIRST: tuple[Fate, ...] = ("dropped", "summarised", "kept")


def draw_counts(view: CompactionView) -> Content:
    """How many messages each fate has: ``● 4 kept  ◐ 30 summarised  ○ 6 dropped``."""
    report = view.report
    counts = {"kept": report.kept, "summarised": report.summarised, "dropped": report.dropped}
    parts = [
        Content.assemble((GLYPHS[fate], STYLES[fate]), f" {counts[fate]:,} {fate}")
        for fate in FATES
        if counts[fate]
    ]
    return Content("  ").join(parts)


def count_untouched(view: CompactionView) -> int:
    """The tokens of what no compaction touches: the system prompt and the tools."""
    report = view.report
    counted = sum(message.tokens for message in view.before)
    kept = sum(message.tokens for message in view.before if message.fate == "kept")
    return max(0, min(report.tokens_before - counted, report.tokens_after - kept))


def draw_balance(view: CompactionView, width: int, *, final: bool) -> Content:
    """Two bars on one scale, before over after, each with its tokens.

    What no compaction touches (the system prompt, the tools) comes first in both.

    Args:
        view: both sides.
        width: cells to use.
        final: whether the summary is complete; until then the second bar still grows.
    """
    report = view.report
    room = max(4, width - 32)
    sums: dict[Fate, float] = dict.fromkeys(FATES, 0.0)
    for message in view.before:
        sums[message.fate] += message.tokens
    counted = sum(sums.values())
    always = count_untouched(view)
    kept = min(sums["kept"], report.tokens_after)
    summary = report.tokens_after - always - kept
    stretch = (report.tokens_before - always) / counted if counted else 0.0
    before = [(always, "$faint"), *((sums[fate] * stretch, STYLES[fate]) for fate in _GOING_FIRST)]
    after = [(always, "$faint"), (summary, STYLES["summarised"]), (kept, STYLES["kept"])]
    scale = max(report.tokens_before, report.tokens_after, 1)
    saved = f"  {format_percent(report.saved_share)} saved" if final else "  …"
    return Content.assemble(
        ("Before ", "$muted"),
        _bar(before, scale, room),
        f" {format_tokens(report.tokens_before)}",
        ("\nAfter  ", "$muted"),
        _bar(after, scale, room),
        f" {format_tokens(report.tokens_after, estimated=True)}",
        (saved, "$ok" if report.saved_share > 0 else "$danger"),
    )


def _bar(parts: list[tuple[float, str]], scale: int, width: int) -> Content:
    cells: list[tuple[str, str]] = []
    reached, end = 0.0, 0
    for amount, style in parts:
        reached += amount
        start, end = end, round(reached / scale * width)
        cells.append(("█" * (end - start), style))
    cells.append((" " * (width - end), "on $gauge-track"))
    return Content.assemble(*cells)
