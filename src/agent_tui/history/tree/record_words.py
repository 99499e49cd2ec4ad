"""Each record of a log in one line: on the screen's tree, and where a tree is printed."""

from __future__ import annotations

from agent_tui.core.format import format_count, format_tokens
from agent_tui.core.messages import text_of
from agent_tui.core.records import (
    AssistantMessage,
    BranchSummary,
    Checkpoint,
    CompactionRecord,
    EnvironmentRecord,
    HeadRecord,
    LabelRecord,
    Message,
    ModelRecord,
    NoticeRecord,
    Record,
    RevertRecord,
    SessionHeader,
    SystemPrompt,
    TitleRecord,
    ToolMessage,
    TurnEndRecord,
    UsageRecord,
    UserMessage,
    WorkspaceRecord,
)
from agent_tui.core.summary_format import read_summary
from agent_tui.core.text import clean, first_line, without_marks
from agent_tui.core.words import describe_compaction, describe_revert, describe_switch

_LONGEST_TEXT = 240


def words_of(message: Message) -> str:
    """A message in one line: its own words, without what a program wrapped around them."""
    content = message.content
    if isinstance(message, UserMessage) and message.origin in ("compaction", "branch"):
        return without_marks(first_line(read_summary(content).summary, _LONGEST_TEXT))
    line = first_line(text_of(content), _LONGEST_TEXT)
    return without_marks(line) if isinstance(message, AssistantMessage) else line


def describe_record(record: Record) -> str:
    """A record in one line, for a row of a tree."""
    match record:
        case UserMessage() | ToolMessage():
            return words_of(record) or "(empty)"
        case AssistantMessage():
            text = words_of(record)
            calls = ", ".join(dict.fromkeys(clean(call.name) for call in record.tool_calls))
            return f"{text}  [{calls}]" if text and calls else text or f"[{calls}]"
        case CompactionRecord():
            done = describe_compaction(record.pre_tokens, record.post_tokens)
            return f"{done}, {format_count(record.kept, 'message')} kept"
        case RevertRecord():
            return clean(describe_revert(record.reason, record.checkpoint, record.of))
        case HeadRecord():
            return describe_switch(record.reason)
        case Checkpoint():
            step = f", step {record.step}" if record.step else ""
            return f"checkpoint {record.id}{step}"
        case TurnEndRecord():
            return clean(record.reason) or "the turn ended early"
        case WorkspaceRecord():
            return format_count(len(record.delta), "changed file")
        case NoticeRecord():
            return clean(record.text)
        case EnvironmentRecord():
            return f"working in {clean(record.cwd)}"
        case BranchSummary():
            return f"summary of another branch: {first_line(record.summary, _LONGEST_TEXT)}"
        case UsageRecord():
            return f"usage {format_tokens(record.token_count)} tokens"
        case LabelRecord():
            return f"label “{clean(record.label)}”" if record.label else "label removed"
        case TitleRecord():
            return f"named “{first_line(record.title, _LONGEST_TEXT)}”"
        case ModelRecord():
            return f"model {clean(record.model)}"
        case SystemPrompt():
            return "system prompt"
        case SessionHeader():
            return f"session {clean(record.session_id)} begins"
        case _:
            return "record"
