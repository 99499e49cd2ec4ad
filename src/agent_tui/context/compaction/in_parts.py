"""A summary whose request is itself too long for the model: parts are summarised, then joined."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TypeAlias

from agent_tui.context.compaction.briefing import Brief
from agent_tui.core.errors import CompactionError, ProviderError
from agent_tui.resources import prompt

Summarise: TypeAlias = Callable[[str, str, Callable[[str], None]], Awaitable[str]]
"""Writes the summary for a system prompt and a brief, and tells it as it comes.

What it returns counts, and not what it told: an answer that was cut off may have started again.
Raises ProviderError when it gives up.
"""

_MOST_HALVINGS = 4
_SPLIT = "\n\n(The request was too long: it is summarised in parts.)\n\n"


async def summarise_brief(
    brief: Brief, summarise: Summarise, tell: Callable[[str], None], halvings: int = 0
) -> str:
    """The summary of a brief, whole or in parts.

    Raises:
        CompactionError: the model sent an empty summary.
        ProviderError: the model could not be asked, or even small parts were too long for it.
    """
    try:
        summary = (await summarise(brief.system, brief.text, tell)).strip()
    except ProviderError as error:
        if not error.too_long or len(brief.said) < 2 or halvings == _MOST_HALVINGS:
            raise
        tell(_SPLIT)
        return await _in_halves(brief, summarise, tell, halvings + 1)
    if not summary:
        raise CompactionError("The model sent an empty summary; nothing was changed.")
    return summary


async def _in_halves(
    brief: Brief, summarise: Summarise, tell: Callable[[str], None], halvings: int
) -> str:
    """The second half is told what the first came to, and the one summary takes both up."""
    first, second = brief.halves()
    so_far = await summarise_brief(first, summarise, tell, halvings)
    rest = replace(second, system=prompt("compact_update"), previous=so_far)
    return await summarise_brief(rest, summarise, tell, halvings)
