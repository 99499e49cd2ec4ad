"""Keeping only the newest part of a session's context; the rest goes into an archive."""

from __future__ import annotations

from agent_tui.context.compaction.assembly import read_parts, with_captures
from agent_tui.context.context import Context
from agent_tui.context.filters import ContextFilter, filter_messages
from agent_tui.context.tokens.message_tokens import messages_of
from agent_tui.core.errors import SessionError
from agent_tui.core.records import Checkpoint, CompactionRecord, Record, UsageRecord
from agent_tui.core.text import format_count
from agent_tui.sessions.replay import Entry


async def trim_context(context: Context, wanted: ContextFilter) -> int:
    """Keep what a filter keeps; returns the archive that holds all of it.

    Raises:
        SessionError: the filter keeps nothing, or everything.
    """
    mark = await context.log.mark()
    parts = read_parts(context.state, mark.size)
    messages = messages_of(parts.messages)
    kept = {id(message) for message in filter_messages(messages, wanted, context.count_message)}
    staying = [entry for entry in parts.messages if id(entry.record) in kept]
    if not staying or len(staying) == len(messages):
        many = format_count(len(messages), "message")
        told = f"all {many}: choose narrower ones" if staying else f"none of {many}: widen them"
        raise SessionError(f"These limits keep {told}.")
    counts = context.counter.count_messages(messages_of(staying))
    after = context.overhead_tokens + sum(counts)
    before = context.token_count

    def build(archive: int) -> list[Record | Entry]:
        record = CompactionRecord(
            trigger="manual",
            strategy="newest",
            pre_tokens=before,
            post_tokens=after,
            archive=archive,
            kept=len(staying),
            dropped=len(messages) - len(staying),
        )
        usage = UsageRecord(after, estimated=True)
        logged = with_captures(parts, zip(staying, staying, strict=True))
        return [*parts.in_force, record, Checkpoint(0), *logged, usage]

    return await context.log.compact(mark, build)
