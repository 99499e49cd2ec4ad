"""Which of a session's compactions to look at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from textual.app import App

from agent_tui.core.errors import UsageError
from agent_tui.core.format import format_age, format_tokens
from agent_tui.core.records import CompactionRecord
from agent_tui.core.words import describe_strategy, describe_trigger
from agent_tui.ui.screens.dialogs.choice import Choice, ChoiceScreen


async def choose_compaction(app: App[Any], found: Sequence[tuple[int, CompactionRecord]]) -> int:
    """Let the user choose among compactions; the archive of the chosen one, or 0.

    Raises:
        UsageError: there is none to choose from.
    """
    if not found:
        raise UsageError("No compactions yet. /compact to make one, with a preview.")
    choices = tuple(
        Choice(
            str(archive),
            f"{format_tokens(record.pre_tokens)} → {format_tokens(record.post_tokens)}",
            " · ".join(filter(None, _facts(record))),
        )
        for archive, record in found
    )
    chosen = await app.push_screen_wait(ChoiceScreen("Compactions", choices, enter="compare"))
    return int(chosen) if chosen else 0


def _facts(record: CompactionRecord) -> tuple[str, ...]:
    """Who began a compaction, how it was made and when, as far as the log tells."""
    made = describe_trigger(record.trigger), describe_strategy(record.strategy)
    return *made, format_age(record.stamp.at or "")
