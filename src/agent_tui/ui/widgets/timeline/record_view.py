"""Records as timeline blocks: block ``i`` is what record ``i`` looks like, or nothing.

Blocks are made when they are looked at. A tool call is drawn where its result is; the k-th result
after an answer shows the k-th answered call, so that parallel calls keep the order in which they
were made, as they did while they ran.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import assert_never

from agent_tui.core.events import sum_up
from agent_tui.core.messages import (
    CommandDisplay,
    Content,
    MediaPart,
    TextPart,
    ToolCall,
    thinking_of,
)
from agent_tui.core.record_writing import record_fields
from agent_tui.core.records import (
    DAMAGED_LINES,
    ApprovalRecord,
    AssistantMessage,
    BranchSummary,
    Checkpoint,
    CompactionRecord,
    EnvironmentRecord,
    HeadRecord,
    LabelRecord,
    ModelRecord,
    NoticeRecord,
    Record,
    RevertRecord,
    SessionHeader,
    SystemPrompt,
    TitleRecord,
    ToolMessage,
    TurnEndRecord,
    UnknownRecord,
    UsageRecord,
    UserMessage,
    WorkspaceRecord,
)
from agent_tui.core.shell import SHELL, shell_output
from agent_tui.core.summary_format import read_summary
from agent_tui.core.system_notes import (
    is_checkpoint_notice,
    read_dmail,
    tagged_origin,
    without_tags,
)
from agent_tui.core.text import reveal
from agent_tui.core.words import outcome_of
from agent_tui.history.records.lazy_sequence import LazySequence
from agent_tui.history.records.repeats import count_repeats, repeats_earlier
from agent_tui.ui.blocks import (
    AssistantBlock,
    Block,
    BranchBlock,
    Changed,
    CheckpointBlock,
    CompactionBlock,
    DamageBlock,
    LabelBlock,
    Landmark,
    NoticeBlock,
    RevertBlock,
    ShellBlock,
    ToolBlock,
    UnknownBlock,
    UserBlock,
    changed_by,
    turn_end_block,
)
from agent_tui.ui.renderers.long_text import MOST_ROWS

_SEEN_CHARS = 20_000
_LOOK = 16
"""Records to look through for a neighbour: logs keep what belongs together together."""
_LOOK_TOOLS = 1_000
_LOOK_CAPTURES = 100
"""What many calls that run at once changed stands behind the results of all of them."""
_NOTICE_ROWS = 8
_NO_LOSSES: Mapping[int, int] = {}
_MARKERS = (
    CompactionRecord,
    RevertRecord,
    HeadRecord,
    BranchSummary,
    TurnEndRecord,
    NoticeRecord,
    EnvironmentRecord,
    UnknownRecord,
)

_LANDMARKS = {Checkpoint, UserMessage, CompactionRecord, ToolMessage, TurnEndRecord, UnknownRecord}


class RecordBlocks:
    """The blocks of a session's records; the sequence may grow while it is shown.

    Args:
        records: what the log holds.
        losses: how many a compaction has, by its archive, where the records do not tell.
    """

    def __init__(self, records: Sequence[Record], losses: Mapping[int, int] = _NO_LOSSES) -> None:
        self._records = records
        self._losses = losses

    def __len__(self) -> int:
        return len(self._records)

    def record(self, index: int) -> Record | None:
        """The record of a block."""
        return self._records[index]

    def entry(self, index: int) -> str:
        """The id of a record's entry; empty where its log gives none."""
        return self._records[index].stamp.uuid or ""

    def block(self, index: int) -> Block | None:
        """What a record looks like; None where it shows nothing."""
        record = self._records[index]
        match record:
            case UserMessage():
                return self._said_block(index, record)
            case AssistantMessage():
                return self._assistant_block(index, record)
            case ToolMessage():
                return self._tool_block(index, record)
            case Checkpoint():
                return self._checkpoint_block(index, record)
            case CompactionRecord():
                return compaction_block(record, self._losses.get(record.archive))
            case RevertRecord() | HeadRecord():
                return self._move_block(index, record)
            case LabelRecord(before=before):
                # Without one the program said a label again that a revert had lost.
                return None if before is None else LabelBlock(record.label, record.target)
            case ModelRecord():
                return NoticeBlock(f"Model: {record.model}") if self._is_told_model(index) else None
            case BranchSummary():
                return None if self._is_told(index) else NoticeBlock(record.summary)
            case TurnEndRecord():
                return turn_end_block(record.end, record.reason)
            case NoticeRecord(text):
                return NoticeBlock(text)
            case EnvironmentRecord():
                return NoticeBlock(record.told)
            case UnknownRecord(role, {"lines": int(lines)}) if role == DAMAGED_LINES:
                return DamageBlock(lines)
            case UnknownRecord():
                fields = record_fields(record).items()
                told = " · ".join(f"{key} {value}" for key, value in fields if key != "role")
                return UnknownBlock(record.role, told)
            case (
                SessionHeader()
                | SystemPrompt()
                | UsageRecord()
                | WorkspaceRecord()
                | TitleRecord()
                | ApprovalRecord()
            ):
                return None
            case _:
                assert_never(record)

    def _move_block(self, index: int, record: RevertRecord | HeadRecord) -> Block | None:
        if repeats_earlier(self._records, index):
            return None  # the first of them says it
        repeats = count_repeats(self._records, index)
        if isinstance(record, RevertRecord):
            place = record.checkpoint
            return RevertBlock(record.archive, record.reason, place, record.of, repeats)
        source, at = record.source or record.to, record.stamp.at or ""
        return BranchBlock(record.reason, source, at, repeats)

    def _said_block(self, index: int, record: UserMessage) -> Block | None:
        if _is_checkpoint_notice(record):
            return None  # the row of the checkpoint says it
        block = _said_block(record)
        if isinstance(block, ShellBlock):
            return replace(block, changed=self._changed_by(index, block.command))
        if block.origin == "dmail":
            return replace(block, checkpoint=self._dmail_checkpoint(index))
        return replace(block, lost_its_answer=self._lost_its_answer(index))

    def _lost_its_answer(self, index: int) -> bool:
        """Whether a prompt, and those since a compaction's summary, stand before the next one."""
        following = self._records[index + 1 : index + 2]
        if not following or not isinstance(following[0], UserMessage):
            return False
        records = self._records[max(0, index - _LOOK) : index + 2]
        origins = [each.origin if isinstance(each, UserMessage) else "" for each in records]
        others = [origin for origin in origins if origin != "human"]
        return origins[-2:] == ["human", "human"] and others[-1:] == ["compaction"]

    def _dmail_checkpoint(self, index: int) -> int | None:
        """Where a D-Mail went back to, as the revert says that made room for it."""
        for place in range(index - 1, max(-1, index - _LOOK), -1):
            record = self._records[place]
            if isinstance(record, RevertRecord):
                return record.checkpoint if record.reason == "dmail" else None
        return None

    def estimate(self, index: int, width: int) -> int:
        """A guess of how many rows a record takes, without looking far."""
        record = self._records[index]
        if isinstance(record, UserMessage):
            rows = min(26, _text_rows(record.content, width)) + 1
            return 0 if rows < _NOTICE_ROWS and _is_checkpoint_notice(record) else rows
        if isinstance(record, AssistantMessage):
            rows = _text_rows(record.content, width)
            return rows + 1 if rows else 0
        if isinstance(record, ToolMessage):
            return 14 if record.display else min(5, _text_rows(record.content, width)) + 2
        if isinstance(record, Checkpoint):
            return 1 if record.step else 2
        if isinstance(record, _MARKERS):
            return 0 if repeats_earlier(self._records, index) else 2
        if isinstance(record, LabelRecord):
            return 0 if record.before is None else 1
        if isinstance(record, ModelRecord):
            return 2 if self._is_told_model(index) else 0
        return 0

    def landmarks(self, first: int, stop: int) -> Iterator[tuple[int, Landmark]]:
        """What the scroll bar shows of a slice."""
        if isinstance(self._records, LazySequence) and (
            roles := self._records.roles(first, stop + _LOOK)
        ):
            from agent_tui.ui.widgets.timeline.role_landmarks import landmarks_of  # long logs only

            errors = self._records.errors(first, stop)
            yield from landmarks_of(roles[: stop - first], roles, first, errors, reach=_LOOK)
            return
        for index, record in enumerate(self._records[first:stop], first):
            if type(record) in _LANDMARKS and (kind := self._landmark(index, record)):
                yield index, kind

    def _landmark(self, index: int, record: Record) -> Landmark | None:
        match record:
            case Checkpoint(step=step):
                step = self._guess_step(index) if step is None else step
                return "step" if step else "prompt"
            case UserMessage(display=CommandDisplay(exit_code=int(code))) if code:
                return "error"
            case UserMessage(origin=origin) if origin in ("human", "import", None):
                # Other agents keep no checkpoints; where there is one, it stands for the prompt.
                before = (self._records[place] for place in range(max(0, index - 2), index))
                has_checkpoint = any(isinstance(each, Checkpoint) for each in before)
                is_said = not has_checkpoint and _user_block(record).origin in ("human", "import")
                return "prompt" if is_said else None
            case CompactionRecord():
                return "compaction"
            case ToolMessage() if record.outcome == "error":
                return "error"
            case TurnEndRecord(end="failed"):
                return "error"
            case UnknownRecord(role) if role == DAMAGED_LINES:
                return "error"
            case _:
                return None

    def _is_told(self, index: int) -> bool:
        """Whether the message that follows a branch's summary holds it, for the model to read."""
        following = self._records[index + 1] if index + 1 < len(self._records) else None
        return isinstance(following, UserMessage) and following.origin == "branch"

    def _is_told_model(self, index: int) -> bool:
        """Whether a model was changed here; of changes with nothing said between the last tells."""
        here, *following = self._records[index : index + _LOOK]
        for record in following:
            if isinstance(record, ModelRecord):
                return False
            if isinstance(record, (Checkpoint, UserMessage)):
                break
        return isinstance(here, ModelRecord) and here.before is not None

    def _assistant_block(self, index: int, record: AssistantMessage) -> AssistantBlock | None:
        text, thinking = _joined(record.content), thinking_of(record.content)
        unanswered: tuple[ToolBlock, ...] = ()
        if record.tool_calls:
            answered = {result.tool_call_id for _, result in self._results_after(index)}
            unanswered = tuple(
                ToolBlock(call.id, call.name, call.arguments, "interrupted")
                for call in record.tool_calls
                if call.id not in answered
            )
        if not (text.strip() or thinking.strip() or unanswered):
            return None
        seconds = round(record.thinking_seconds)
        return AssistantBlock(text, thinking, unanswered, thought_seconds=seconds)

    def _tool_block(self, index: int, record: ToolMessage) -> ToolBlock:
        call, result = self._call_shown_at(index, record)
        return replace(tool_block(call, result), changed=self._changed_by(index, call.id))

    def _changed_by(self, index: int, call: str) -> Changed | None:
        """What a call or a command changed on disk, as the capture near it says."""
        first = max(0, index - _LOOK_CAPTURES)
        stop = min(len(self._records), index + _LOOK_CAPTURES)
        for place in sorted(self._captures(first, stop), key=lambda place: abs(place - index)):
            record = self._records[place]
            if isinstance(record, WorkspaceRecord) and reveal(record.call) == reveal(call):
                return changed_by(sum_up(record))
        return None

    def _captures(self, first: int, stop: int) -> list[int]:
        """The places of captures in a slice; nothing is read for it that is on the disk."""
        if isinstance(self._records, LazySequence) and (roles := self._records.roles(first, stop)):
            return [place for place, role in enumerate(roles, first) if role == "_workspace"]
        records = enumerate(self._records[first:stop], first)
        return [place for place, record in records if isinstance(record, WorkspaceRecord)]

    def _call_shown_at(self, index: int, record: ToolMessage) -> tuple[ToolCall, ToolMessage]:
        asked = self._answer_before(index)
        if asked is not None:
            answer = self._records[asked]
            assert isinstance(answer, AssistantMessage)
            group = self._results_after(asked)
            results = {result.tool_call_id: result for _, result in reversed(group)}
            answered = [call for call in answer.tool_calls if call.id in results]
            place = [position for position, _ in group].index(index)
            if len(results) == len(group) == len(answered):
                return answered[place], results[answered[place].id]
            for call in answer.tool_calls:
                if call.id == record.tool_call_id:
                    return call, record
        return ToolCall(record.tool_call_id, "result of an unknown call", ""), record

    def _answer_before(self, index: int) -> int | None:
        for place in range(index - 1, max(-1, index - _LOOK_TOOLS), -1):
            record = self._records[place]
            if isinstance(record, AssistantMessage):
                return place
            if isinstance(record, UserMessage):
                return None
        return None

    def _results_after(self, index: int) -> list[tuple[int, ToolMessage]]:
        """The results that follow an answer, before anyone speaks again."""
        found = []
        for place in range(index + 1, min(len(self._records), index + _LOOK_TOOLS)):
            record = self._records[place]
            if isinstance(record, ToolMessage):
                found.append((place, record))
            elif isinstance(record, (AssistantMessage, UserMessage)):
                break
        return found

    def _checkpoint_block(self, index: int, record: Checkpoint) -> CheckpointBlock:
        step = record.step if record.step is not None else self._guess_step(index)
        usage = self._usage_before(index)
        return CheckpointBlock(
            record.id,
            step,
            record.stamp.at or "",
            usage.token_count if usage else None,
            usage.estimated if usage else False,
        )

    def _guess_step(self, index: int) -> int:
        """Plain logs do not say: a checkpoint that a prompt follows opens a turn."""
        for place in range(index + 1, min(len(self._records), index + _LOOK)):
            record = self._records[place]
            if isinstance(record, (AssistantMessage, ToolMessage)):
                return 1
            if isinstance(record, UserMessage) and _user_block(record).origin == "human":
                return 0
        return 0

    def _usage_before(self, index: int) -> UsageRecord | None:
        for place in range(index - 1, max(-1, index - _LOOK), -1):
            record = self._records[place]
            if isinstance(record, UsageRecord):
                return record
        return None


def tool_block(call: ToolCall, result: ToolMessage) -> ToolBlock:
    """A finished call, as its result record tells it."""
    state = result.outcome
    output = _joined(result.content)
    return ToolBlock(call.id, call.name, call.arguments, state, output, result.display)


def compaction_block(record: CompactionRecord, losses: int | None) -> CompactionBlock:
    """A compaction, as its record tells it; ``losses`` where that does not know of them."""
    return CompactionBlock(
        record.trigger,
        record.archive,
        record.pre_tokens,
        record.post_tokens,
        record.summarised,
        record.dropped,
        record.fallback,
        losses if record.losses is None else record.losses,
    )


def _is_checkpoint_notice(record: UserMessage) -> bool:
    return record.origin in (None, "checkpoint") and is_checkpoint_notice(_joined(record.content))


def _said_block(record: UserMessage) -> UserBlock | ShellBlock:
    display = record.display
    if record.origin == SHELL and isinstance(display, CommandDisplay):
        return shell_block(display, _joined(record.content))
    return _user_block(record)


def shell_block(display: CommandDisplay, text: str) -> ShellBlock:
    """A command that a person ran, as its record tells it."""
    code = display.exit_code
    state = outcome_of(is_error=bool(code), interrupted=code is None, rejected=False)
    return ShellBlock(display.command, shell_output(display.command, text), state, code)


def _user_block(record: UserMessage) -> UserBlock:
    content = record.content
    text = _joined(content)
    origin = record.origin or tagged_origin(text)
    if origin == "compaction":
        text = _summary(content)
    elif origin == "dmail":
        text = read_dmail(text)
    elif origin == "reminder":
        text = without_tags(text)
    media: tuple[MediaPart, ...] = ()
    if not isinstance(content, str):
        media = tuple(part for part in content if isinstance(part, MediaPart))
    return UserBlock(text, origin, media)


def _summary(content: Content) -> str:
    """A summary without what is written around it for the model; its files by name."""
    told = read_summary(content)
    if not told.files:
        return told.summary
    names = ", ".join(f"`{path}`" for path in told.files)
    return f"{told.summary}\n\nWith the text of {names}."


def _joined(content: Content) -> str:
    """The visible text; parts that are texts of their own stand on lines of their own."""
    if isinstance(content, str):
        return content
    return "\n".join(part.text for part in content if isinstance(part, TextPart))


def _text_rows(content: Content, width: int) -> int:
    if not isinstance(content, str):
        texts = (part.text for part in content if isinstance(part, TextPart))
        return 1 + sum(_rows_of(text, width) + 1 for text in texts)
    return _rows_of(content, width) + 1 if content else 0


def _rows_of(text: str, width: int) -> int:
    """About how many rows a text takes; of a very long one only the beginning is looked at."""
    seen = min(len(text), _SEEN_CHARS)
    rows = seen // width + text.count("\n", 0, seen)
    return rows if seen == len(text) else min(MOST_ROWS, rows * len(text) // seen)
