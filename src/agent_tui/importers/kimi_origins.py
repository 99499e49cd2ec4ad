"""Who really spoke in a kimi log, whose user messages say nothing of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from agent_tui.core.messages import text_of
from agent_tui.core.origins import Origin
from agent_tui.core.records import (
    AssistantMessage,
    Checkpoint,
    Record,
    ToolMessage,
    UserMessage,
)
from agent_tui.core.summary_format import opens_summary

_MARKS: tuple[tuple[str, Origin], ...] = (
    ("<system>CHECKPOINT ", "checkpoint"),
    ("<system>You just got a D-Mail from your future self", "dmail"),
    ("<system", "reminder"),
)
"""How messages begin that are written in the user's name, by kimi or by us before an export to
kimi's format dropped their origin; the first that fits counts."""


def infer_origins(records: Iterable[Record]) -> Iterator[Record]:
    """The records, with an origin for every user message that has none.

    A prompt follows a checkpoint. Text that follows an answer without one came in while the agent
    ran, except behind a summary, where the checkpoints of what was kept are gone.
    """
    running = kept = False
    for record in records:
        if isinstance(record, Checkpoint):
            running = kept = False
        elif isinstance(record, AssistantMessage | ToolMessage):
            running = not kept
        elif isinstance(record, UserMessage):
            if record.origin is None:
                text = text_of(record.content).lstrip()
                record = replace(record, origin=_origin_of(text, running))
            kept = kept or record.origin == "compaction"
        yield record


def _origin_of(text: str, running: bool) -> Origin:
    if opens_summary(text):
        return "compaction"
    for beginning, origin in _MARKS:
        if text.startswith(beginning):
            return origin
    return "steer" if running else "human"
