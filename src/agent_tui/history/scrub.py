"""A session step by step: for every moment of its life, the context exactly as it was sent.

Moments come in the order of time: archives hold what was before the live log. Going from one to the
next costs a slice of what was prepared for the whole log, so it is as quick in long sessions.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from agent_tui.context.filters import ContextFilter, filter_messages
from agent_tui.core.records import (
    AssistantMessage,
    Checkpoint,
    CompactionRecord,
    HeadRecord,
    Message,
    Record,
    RevertRecord,
    SystemPrompt,
    UsageRecord,
    UserMessage,
    is_message,
)
from agent_tui.core.tree import ContextAt, Moment, MomentKind
from agent_tui.core.words import describe_revert, describe_switch, describe_trigger
from agent_tui.history.tree.placed_records import PlacedRecords
from agent_tui.history.tree.record_links import ROOT
from agent_tui.history.tree.session_tree import SessionTree
from agent_tui.importers.imported import ImportedCompaction
from agent_tui.sessions.sent_messages import repaired_messages

_KEPT_LINES = 4
_WHOLE = ContextFilter()


class Scrub:
    """The moments of a session, oldest first; the last one is now."""

    def __init__(self, tree: SessionTree) -> None:
        self._tree = tree
        self._moments = _find_moments(tree)
        self._places = [moment.place for moment in self._moments]
        self._lines: dict[int, _Line] = {}

    def __len__(self) -> int:
        return len(self._moments)

    def moment(self, index: int) -> Moment:
        """A moment by its number."""
        return self._moments[index]

    def moments(self) -> Sequence[Moment]:
        """All of them."""
        return self._moments

    def find(self, place: int) -> int:
        """The moment at a place of the tree, or the next one after it."""
        return min(bisect_left(self._places, place), len(self) - 1)

    def next_turn(self, index: int, step: int) -> int:
        """The first moment of the next turn, or of this one, then of the one before (-1)."""
        prompts = self._tree.outline("turns").prompt_places()
        place = self._places[index]
        if step > 0:
            at = bisect_right(prompts, place)
            return self.find(prompts[at]) if at < len(prompts) else len(self) - 1
        for prompt in reversed(prompts[: bisect_left(prompts, place)]):
            if (found := self.find(prompt)) < index:
                return found
        return 0

    def time_of(self, index: int) -> str:
        """When a moment was; empty where its record does not say. Reads the disk."""
        record = self._record_at(self._moments[index])
        return (record.stamp.at if record else None) or ""

    def look(self, index: int, part: ContextFilter = _WHOLE) -> ContextAt:
        """What the model was sent at a moment, or a part of it. Reads the disk, in a thread."""
        moment = self._moments[index]
        line = self._line(moment.target)
        count = bisect_right(line.places, moment.target)
        record = self._record_at(moment)
        turn, step = _turn_and_step(line.records, count, record)
        usage = self._usage(line, count, moment)
        exact = usage is not None and usage.usage is not None and moment.kind == "step"
        return ContextAt(
            messages=filter_messages(line.sent(count), part) if part else line.sent(count),
            message_count=line.message_count(count),
            system_prompt=_system_prompt(line.records, count),
            at=(record.stamp.at if record else None) or "",
            turn=turn,
            step=step,
            tokens=usage.usage.input_tokens if exact and usage and usage.usage else moment.tokens,
            estimated=not exact,
            happened=_happened(record) if moment.kind in ("change", "compaction") else "",
        )

    def _line(self, target: int) -> _Line:
        """The records of the stretch that a place is in, from the first one on."""
        end = self._tree.shape.line_end(target)
        line = self._lines.pop(end, None)
        if line is None:
            places = self._tree.tree.path_to(end)
            line = _Line(places, self._tree.paths.records_to(end), self._tree.compactions)
        self._lines[end] = line
        while len(self._lines) > _KEPT_LINES:
            del self._lines[next(iter(self._lines))]
        return line

    def _record_at(self, moment: Moment) -> Record | None:
        if moment.place == ROOT:
            return None
        line = self._line(moment.place)
        at = bisect_left(line.places, moment.place)
        return line.records[at] if at < len(line.records) else None

    def _usage(self, line: _Line, count: int, moment: Moment) -> UsageRecord | None:
        """What the provider billed for the answer to what was sent."""
        if moment.kind != "step":
            return None
        usage = self._tree.shape.usage_after(moment.place)
        at = bisect_left(line.places, usage)
        found = line.records[at] if at < len(line.places) and usage != moment.place else None
        return found if isinstance(found, UsageRecord) else None


def _find_moments(tree: SessionTree) -> list[Moment]:
    """Every time the model was asked and every change of the context, then the present."""
    shape, log = tree.shape, tree.tree
    parents, copies, acts = log.parents, shape.copies, log.acts
    own = tree.session_id
    foreign = {n for n, source in enumerate(log.sources) if source.session_id != own}
    moments: list[Moment] = []
    tokens = 0
    counts = log.token_counts
    for place, role in enumerate(log.roles):
        if foreign and log.source_number(place) in foreign:
            break
        if role == "_usage":
            tokens = counts.get(place, tokens)
        elif role == "assistant" and place not in copies:
            after = shape.usage_after(place)
            seen = counts.get(after, tokens) if after != place else tokens
            moments.append(Moment(place, parents[place], "step", seen))
        elif place in acts:
            target = shape.end_of_change(place)
            tokens = shape.tokens_at(target)
            kind: MomentKind = "compaction" if acts[place] == "compaction" else "change"
            moments.append(Moment(place, target, kind, tokens))
    moments.append(Moment(shape.leaf, shape.leaf, "now", shape.tokens_at(shape.leaf)))
    return moments


class _Line:
    """A path of records, prepared so that what was sent at any point of it is a slice."""

    def __init__(
        self,
        places: Sequence[int],
        records: Sequence[Record],
        compactions: Mapping[int, ImportedCompaction],
    ) -> None:
        self.places = places
        self.records = records
        self._stretches = list(_stretches(records, compactions))
        self._begins = [stretch.begin for stretch in self._stretches]
        self._prepared: dict[int, _Sent] = {}

    def sent(self, count: int) -> Sequence[Message]:
        """What is sent when the first ``count`` records have been written."""
        if isinstance(self.records, PlacedRecords):
            return self.records.sent(count)
        return self._sent_in_stretch(count).upto(count)

    def message_count(self, count: int) -> int:
        """How many messages of the log these are, before any repair."""
        if isinstance(self.records, PlacedRecords):
            return self.records.messages_before(count)
        return self._sent_in_stretch(count).messages_before(count)

    def _sent_in_stretch(self, count: int) -> _Sent:
        index = bisect_right(self._begins, max(0, count - 1)) - 1
        sent = self._prepared.get(index)
        if sent is None:
            end = self._begins[index + 1] if index + 1 < len(self._begins) else len(self.records)
            sent = self._prepared[index] = _Sent(self._stretches[index], self.records, end)
        return sent


@dataclass(frozen=True, slots=True)
class _Stretch:
    """From ``begin`` on, ``base`` stands for every message before ``first``."""

    begin: int
    first: int
    base: tuple[Message, ...] = ()


def _stretches(
    records: Sequence[Record], compactions: Mapping[int, ImportedCompaction]
) -> list[_Stretch]:
    """Agents that keep compacted messages in their log begin again in the middle of it."""
    found = [_Stretch(0, 0)]
    if not compactions:
        return found
    spoken = False
    for index, record in enumerate(records):
        if isinstance(record, CompactionRecord) and spoken and record.archive in compactions:
            after = compactions[record.archive].after
            base = tuple(each for each in after if is_message(each))
            follows = index + 1 < len(records) and isinstance(records[index + 1], UserMessage)
            found.append(_Stretch(index, index + (2 if follows else 1), base))
        spoken = spoken or is_message(record)
    return found


class _Sent:
    """The messages of a stretch, repaired answer by answer."""

    def __init__(self, stretch: _Stretch, records: Sequence[Record], end: int) -> None:
        own = range(stretch.first, end)
        indices = [index for index in own if is_message(records[index])]
        self._indices = [stretch.begin] * len(stretch.base) + indices
        self._raw: list[Message] = [*stretch.base, *(records[i] for i in indices)]  # type: ignore[list-item]
        answers = [i for i, each in enumerate(self._raw) if isinstance(each, AssistantMessage)]
        self._cuts = [0, *(cut for cut in answers if cut)]
        self._whole: list[Message] = []
        self._starts: list[int] = []
        for begin, stop in pairwise([*self._cuts, len(self._raw)]):
            self._starts.append(len(self._whole))
            self._whole += repaired_messages(self._raw[begin:stop])

    def upto(self, count: int) -> Sequence[Message]:
        """What is sent when records before ``count`` have been written."""
        known = self.messages_before(count)
        group = bisect_right(self._cuts, max(0, known - 1)) - 1
        tail = repaired_messages(self._raw[self._cuts[group] : known])
        return self._whole[: self._starts[group]] + tail

    def messages_before(self, count: int) -> int:
        """How many messages there are when records before ``count`` have been written."""
        return bisect_left(self._indices, count)


def _turn_and_step(
    records: Sequence[Record], count: int, record: Record | None
) -> tuple[int | None, int | None]:
    for earlier in reversed(records[max(0, count - 50) : count]):
        if isinstance(earlier, Checkpoint):
            return earlier.turn, earlier.step
    return getattr(record, "turn", None), None


def _system_prompt(records: Sequence[Record], count: int) -> str:
    """The prompt in force; it stands near the beginning of a log, so look there first."""
    found = ""
    for record in records[: min(count, 20)]:
        if isinstance(record, SystemPrompt):
            found = record.content
    return found


def _happened(record: Record | None) -> str:
    match record:
        case RevertRecord(reason=reason, checkpoint=checkpoint):
            return describe_revert(reason, checkpoint)
        case CompactionRecord(trigger=trigger):
            return f"compacted ({describe_trigger(trigger)})" if trigger else "compacted"
        case HeadRecord(reason=reason):
            return describe_switch(reason)
        case _:
            return ""
