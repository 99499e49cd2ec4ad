"""A conversation put together from the entries of a file, with its compactions and rewinds.

For agents whose file keeps everything: the records grow, the context is what of them counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from agent_tui.core.messages import text_of
from agent_tui.core.records import (
    CompactionRecord,
    Record,
    RevertRecord,
    SessionHeader,
    Stamp,
    TitleRecord,
    UsageRecord,
    UserMessage,
    is_prompt,
)
from agent_tui.core.text import first_line
from agent_tui.importers.accounting import Accounting
from agent_tui.importers.imported import (
    ImportedArchive,
    ImportedChild,
    ImportedCompaction,
    ImportedSession,
    Records,
    count_messages,
)

_NOT_A_HEADER = SessionHeader("", "", "", "")


class Conversation:
    """Takes the records of a session in their order.

    Attributes:
        records: all that was said on the active path, compacted messages included.
        context: what the model would be sent now.
    """

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.context: list[Record] = []
        self.archives: list[ImportedArchive] = []
        self.children: list[ImportedChild] = []
        self._compactions: list[ImportedCompaction] = []
        self._last_number = 0

    def add(self, *records: Record) -> None:
        """What was said or done next."""
        self.records += records
        self.context += records

    def replace(self, old: Record, new: Record) -> None:
        """Put a record in the place of one that was added, which is looked for from the end."""
        for records in (self.records, self.context):
            for index in range(len(records) - 1, -1, -1):
                if records[index] is old:
                    records[index] = new
                    break

    def compact(self, record: CompactionRecord, shown: Records, kept: Records = ()) -> None:
        """The context was compacted: ``shown`` took its place, ``kept`` of it stays behind that."""
        number = self._next_number()
        before = tuple(self.context)
        stays = count_messages(kept)
        record = replace(
            record,
            archive=number,
            kept=stays,
            summarised=max(count_messages(before) - stays, 0),
        )
        after = (record, *shown, *kept)
        self.records += (record, *shown)
        self.context = list(after)
        self._compactions.append(
            ImportedCompaction(number, before, after, _summary_in(shown), record.pre_tokens)
        )

    def add_summary(self, summary: UserMessage) -> None:
        """The summary of the last compaction, where it is told after it."""
        self.add(summary)
        if self._compactions and not self._compactions[-1].summary:
            last = self._compactions[-1]
            after = (*last.after, summary)
            self._compactions[-1] = replace(last, after=after, summary=text_of(summary.content))

    def rewind(self, place: int, reason: str, stamp: Stamp) -> None:
        """Go back to before the record at a place; what is left becomes an archive."""
        number = self._next_number()
        self.archives.append(ImportedArchive(number, reason, tuple(self.records)))
        left = {id(record) for record in self.records[place:]}
        told = RevertRecord(number, reason, stamp=stamp)
        self.records[place:] = [told]
        self.context = [record for record in self.context if id(record) not in left]
        self.context.append(told)

    def add_branch(self, records: Sequence[Record]) -> None:
        """A branch that was left: the whole path to its end."""
        self.archives.append(ImportedArchive(self._next_number(), "branch", tuple(records)))

    def finish(
        self, source: str, path: Path, *, title: str = "", damaged: int, accounting: Accounting
    ) -> ImportedSession:
        """The session as it was read."""
        tell = _Sizes(self.records).tell
        records, context = tell(self.records), tell(self.context)
        header = next((r for r in records if isinstance(r, SessionHeader)), _NOT_A_HEADER)
        return ImportedSession(
            source=source,
            session_id=header.session_id or path.stem,
            cwd=header.cwd,
            title=title or title_of(records),
            path=path,
            records=records,
            context=context,
            damaged=damaged,
            archives=tuple(replace(a, records=tell(a.records)) for a in self.archives),
            compactions=tuple(
                replace(each, before=tell(each.before), after=tell(each.after))
                for each in self._compactions
            ),
            children=tuple(self.children),
            accounting=accounting,
        )

    def _next_number(self) -> int:
        self._last_number += 1
        return self._last_number


class _Sizes:
    """Says after each compaction how large the context was then, as far as a later record tells."""

    def __init__(self, records: Sequence[Record]) -> None:
        self._new: dict[int, Records] = {}
        size = 0
        for record in reversed(records):
            if isinstance(record, UsageRecord):
                size = record.usage.input_tokens if record.usage else record.token_count
            elif isinstance(record, CompactionRecord):
                after = record.post_tokens or size
                usage = UsageRecord(after, estimated=True, stamp=Stamp(at=record.stamp.at))
                told = replace(record, post_tokens=after)
                self._new[id(record)] = (told, usage) if after else (told,)
                size = 0

    def tell(self, records: Iterable[Record]) -> Records:
        new = self._new
        if not new:
            return tuple(records)
        return tuple(each for r in records for each in new.get(id(r), (r,)))


def title_of(records: Iterable[Record]) -> str:
    """What a session is called: its last title, else its first prompt."""
    prompt = title = ""
    for record in records:
        if isinstance(record, TitleRecord):
            title = record.title
        elif not prompt and is_prompt(record):
            prompt = first_line(text_of(record.content))
    return title or prompt


def _summary_in(records: Records) -> str:
    for record in records:
        if isinstance(record, UserMessage) and record.origin == "compaction":
            return text_of(record.content)
    return ""
