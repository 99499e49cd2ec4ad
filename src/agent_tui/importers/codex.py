"""Sessions of Codex: a header, then everything twice, for the screen and for the model.

What the model saw is shown; events for the screen only where nothing else tells of them. Old files
are bare items without an envelope, idle ones are compressed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from agent_tui.core.messages import DiffDisplay, Part, TextPart, text_of
from agent_tui.core.records import (
    AssistantMessage,
    CompactionRecord,
    Message,
    ModelRecord,
    Record,
    SessionHeader,
    Stamp,
    SystemPrompt,
    TitleRecord,
    ToolMessage,
    TurnEndRecord,
    UnknownRecord,
    UserMessage,
)
from agent_tui.core.summary import SessionSummary
from agent_tui.core.text import first_line
from agent_tui.importers import fields
from agent_tui.importers.codex_items import item_of, turn_usage_of, usage_of
from agent_tui.importers.conversation import Conversation
from agent_tui.importers.imported import ImportedSession, ImportedTail, Records
from agent_tui.importers.importer import Head, Importer, Places, SessionRef
from agent_tui.importers.lines import HEADS, Entries, read_ends, read_entries, read_last_entries
from agent_tui.importers.listing import file_refs, shell_command, summary_of

CODEX = "codex"
_ENVELOPES = frozenset(
    {"session_meta", "turn_context", "response_item", "event_msg", "compacted", "world_state"}
)
_LOGGED_TWICE = frozenset(
    {
        "agent_message",
        "agent_reasoning",
        "agent_reasoning_raw_content",
        "context_compacted",
        "dynamic_tool_call_request",
        "dynamic_tool_call_response",
        "exec_command_begin",
        "exec_command_end",
        "image_generation_end",
        "item_completed",
        "mcp_tool_call_begin",
        "mcp_tool_call_end",
        "patch_apply_begin",
        "patch_apply_end",
        "user_message",
        "view_image_tool_call",
        "web_search_begin",
        "web_search_end",
    }
)
_STATE_EVENTS = frozenset(
    {
        "account/rateLimits/updated",
        "agent_reasoning_section_break",
        "background_event",
        "codex/event/raw_item",
        "collab_agent_interaction_end",
        "collab_agent_spawn_end",
        "collab_close_end",
        "collab_waiting_end",
        "deprecation_notice",
        "entered_review_mode",
        "exited_review_mode",
        "guardian_assessment",
        "plan_update",
        "session_configured",
        "stream_error",
        "sub_agent_activity",
        "task_complete",
        "task_started",
        "thread_goal_updated",
        "thread_settings_applied",
        "turn_complete",
        "turn_diff",
        "turn_started",
        "undo_completed",
        "warning",
    }
)
"""Events that say nothing which the model was told or said."""

_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}")


def is_codex(head: Head) -> bool:
    """Whether lines look like Codex's: its envelope, or the bare items of old versions."""
    return any(_is_line(value) for value in head.objects) or _is_old_header(head)


def _is_line(value: dict[str, Any]) -> bool:
    kind = fields.text(value, "type")
    if kind in _ENVELOPES:
        return isinstance(value.get("payload"), dict)
    if kind == "message":
        return "role" in value and "content" in value and "parentId" not in value
    return kind in ("function_call", "function_call_output") and "parentId" not in value


def _is_old_header(head: Head) -> bool:
    first = head.objects[0] if head.objects else {}
    return {"id", "timestamp", "instructions"} <= first.keys() and "type" not in first


def read_session(ref: SessionRef) -> ImportedSession:
    """Read a session of any version; raises SessionError."""
    return _session_of(read_entries(ref.path))


def read_tail(ref: SessionRef, count: int) -> ImportedTail:
    """The last lines of a file as records."""
    lines = read_last_entries(ref.path, count)
    return ImportedTail(_session_of(lines).records, lines.is_whole)


def _session_of(lines: Entries) -> ImportedSession:
    reader = _Reader(lines, has_items=any(_is_item(value) for value in lines.objects))
    for value, number in lines:
        reader.take(value, number)
    if not reader.has_header:
        stamps = (fields.text(v, "timestamp") for v in lines.objects)
        id_found = _ID.search(lines.path.name)
        session_id = id_found[0] if id_found else lines.path.stem
        header = SessionHeader(session_id, "", next(stamps, ""), "")
        reader.conversation.records.insert(0, header)
        reader.conversation.context.insert(0, header)
    return reader.conversation.finish(
        CODEX,
        lines.path,
        title=reader.title,
        damaged=lines.damaged,
        accounting=lines.book.close(),
    )


def _is_item(value: dict[str, Any]) -> bool:
    """Whether a line is of the family that the model saw."""
    payload = value.get("payload")
    if not isinstance(payload, dict):
        return True
    if value.get("type") != "response_item":
        return False
    return fields.text(payload, "role") == "assistant" or "call" in fields.text(payload, "type")


@dataclass(slots=True)
class _Reader:
    """Turns lines into records, one after another."""

    lines: Entries
    has_items: bool
    conversation: Conversation = field(default_factory=Conversation)
    title: str = ""
    has_header: bool = False
    _model: str = ""
    _answer: AssistantMessage | None = None
    _last_call: str = ""
    _total: dict[str, Any] = field(default_factory=dict)

    def take(self, value: dict[str, Any], number: int) -> None:
        """The next line."""
        kind = fields.text(value, "type")
        rule = self._convert(kind, value)
        if rule is None:
            payload = fields.text(fields.table(value, "payload"), "type")
            role = "/".join(name for name in (kind or "no type", payload) if name)
            self.conversation.add(UnknownRecord(role, value, _stamp(value)))
            self.lines.book.leave_unknown(number, role)
        elif rule:
            self.lines.book.skip(number, rule)
        else:
            self.lines.book.show(number)

    def _convert(self, kind: str, value: dict[str, Any]) -> str | None:
        """Add what a line says; returns the rule that leaves it out, None where it is unknown."""
        payload = fields.table(value, "payload")
        if not payload:
            return self._bare(kind, value)
        match kind:
            case "session_meta":
                return self._header(payload, value)
            case "turn_context":
                return self._turn(payload, value)
            case "response_item":
                return self._item(payload, value)
            case "event_msg":
                return self._event(fields.text(payload, "type"), payload, value)
            case "compacted":
                return self._compacted(payload, value)
            case "world_state" | "inter_agent_communication_metadata" | "session_state":
                return kind
            case _:
                return None

    def _bare(self, kind: str, value: dict[str, Any]) -> str | None:
        if value.get("record_type") == "state":
            return "state"
        if not kind and "instructions" in value and not self.has_header:
            return self._header(value, value)
        return self._item(value, value)

    def _header(self, meta: dict[str, Any], value: dict[str, Any]) -> str:
        if self.has_header:
            return "header of a session that this one continues"
        self.has_header = True
        at = fields.text(meta, "timestamp") or fields.text(value, "timestamp")
        parent = fields.text(meta, "forked_from_id") or fields.text(meta, "parent_thread_id")
        self.conversation.add(
            SessionHeader(
                session_id=fields.text(meta, "id"),
                cwd=fields.text(meta, "cwd"),
                created_at=at,
                version=fields.text(meta, "cli_version"),
                git_branch=fields.text(meta.get("git"), "branch") or None,
                parent={"session_id": parent} if parent else None,
                stamp=Stamp(at=at or None),
            )
        )
        prompt = fields.text(meta.get("base_instructions"), "text")
        if prompt := prompt or fields.text(meta, "instructions"):
            self.conversation.add(SystemPrompt(prompt))
        return ""

    def _turn(self, payload: dict[str, Any], value: dict[str, Any]) -> str:
        model = fields.text(payload, "model")
        if not model or model == self._model:
            return "turn_context that changes nothing"
        self._model = model
        self.conversation.add(ModelRecord("openai", model, stamp=_stamp(value)))
        return ""

    def _item(self, item: dict[str, Any], value: dict[str, Any]) -> str | None:
        if fields.text(item, "type") in ("ghost_snapshot", "compaction", "context_compaction"):
            return fields.text(item, "type")
        message = item_of(item, _stamp(value))
        if message is None:
            return None
        self._say(message)
        return ""

    def _say(self, message: Message) -> None:
        if isinstance(message, AssistantMessage):
            self._answer_more(message)
            return
        self._answer = None
        if isinstance(message, ToolMessage):
            message = replace(message, tool_call_id=message.tool_call_id or self._last_call)
        self.conversation.add(message)

    def _answer_more(self, said: AssistantMessage) -> None:
        """An item of the answer: what came without a result in between is one answer."""
        answer = self._answer
        calls = tuple(
            call if call.id else replace(call, id=self._new_id()) for call in said.tool_calls
        )
        said = replace(said, model=self._model or None, tool_calls=calls)
        self._last_call = calls[-1].id if calls else self._last_call
        if answer is None:
            self.conversation.add(said)
            self._answer = said
            return
        merged = replace(
            answer,
            content=(*_parts(answer), *_parts(said)),
            tool_calls=(*answer.tool_calls, *said.tool_calls),
        )
        self.conversation.replace(answer, merged)
        self._answer = merged

    def _new_id(self) -> str:
        """An id for a call that an old version gave none."""
        return f"call-{len(self.conversation.records)}"

    def _event(self, kind: str, payload: dict[str, Any], value: dict[str, Any]) -> str | None:
        stamp = _stamp(value)
        match kind:
            case "token_count" | "turn.completed":
                info = fields.table(payload, "info")
                usage = usage_of(info, stamp.at) or turn_usage_of(
                    fields.table(payload, "usage"), stamp.at
                )
                if usage is None:
                    return f"{kind} without a count"
                total = fields.table(info, "total_token_usage")
                if total and total == self._total:
                    return f"repeated {kind}"
                self._total = total
                self.conversation.add(usage)
                return ""
            case "thread_rolled_back":
                return self._roll_back(fields.number(payload, "num_turns"), stamp)
            case "turn_aborted":
                self._answer = None
                reason = fields.text(payload, "reason")
                self.conversation.add(TurnEndRecord("interrupted", reason, stamp=stamp))
                return ""
            case "error":
                told = fields.table(payload, "error") or payload
                reason = fields.text(told, "message")
                self.conversation.add(TurnEndRecord("failed", reason, stamp=stamp))
                return ""
            case "thread_name_updated":
                name = fields.text(payload, "thread_name") or fields.text(payload, "name")
                self.title = first_line(name)
                self.conversation.add(TitleRecord(self.title, stamp=stamp))
                return ""
            case "patch_apply_end":
                self._show_patch(payload)
                return f"logged twice: {kind}"
            case "user_message" | "agent_message" | "agent_reasoning" if not self.has_items:
                return self._shown_event(kind, payload, stamp)
            case _ if kind in _LOGGED_TWICE:
                return f"logged twice: {kind}"
            case _ if kind in _STATE_EVENTS:
                return f"event: {kind}"
            case _:
                return None

    def _shown_event(self, kind: str, payload: dict[str, Any], stamp: Stamp) -> str:
        """A message of a file that holds no items at all."""
        said = fields.text(payload, "message") or fields.text(payload, "text")
        role = "user" if kind == "user_message" else "assistant"
        item: dict[str, Any] = {"type": "message", "role": role, "content": said}
        if kind == "agent_reasoning":
            item = {"type": "reasoning", "summary": [{"text": said}]}
        message = item_of(item, stamp)
        assert message is not None
        if isinstance(message, UserMessage) and self._is_said(message):
            return f"logged twice: {kind}"
        self._say(message)
        return ""

    def _is_said(self, message: UserMessage) -> bool:
        said = text_of(message.content)
        users = (r for r in reversed(self.conversation.records) if isinstance(r, UserMessage))
        return any(text_of(each.content) == said for each in users)

    def _show_patch(self, payload: dict[str, Any]) -> None:
        """Give the result of a patch the change that the event tells of."""
        call, changes = fields.text(payload, "call_id"), fields.table(payload, "changes")
        for path, change in changes.items():
            diff = fields.text(change, "unified_diff")
            if not diff:
                continue
            display = DiffDisplay(path, f"--- a/{path}\n+++ b/{path}\n{diff}")
            for record in reversed(self.conversation.records):
                if isinstance(record, ToolMessage) and record.tool_call_id == call:
                    self.conversation.replace(record, replace(record, display=display))
                    return

    def _roll_back(self, turns: int, stamp: Stamp) -> str | None:
        """Undo the last turns, each of which begins with what a person said."""
        self._answer = None
        prompts = [
            index
            for index, record in enumerate(self.conversation.records)
            if isinstance(record, UserMessage) and record.origin == "human"
        ]
        if not turns or not prompts:
            return "rollback of nothing"
        self.conversation.rewind(prompts[-min(turns, len(prompts))], "user", stamp)
        return ""

    def _compacted(self, payload: dict[str, Any], value: dict[str, Any]) -> str:
        self._answer = None
        stamp = _stamp(value)
        known = _said_before(self.conversation.context)
        summary = fields.text(payload, "message")
        told: list[Record] = []
        for item in fields.array(payload, "replacement_history"):
            message = item_of(item, Stamp(at=stamp.at)) if isinstance(item, dict) else None
            if message is not None:
                told.append(message)
        kept = [known.get(_key(r)) or r for r in told]
        new = [r for r in kept if isinstance(r, UserMessage) and _key(r) not in known]
        last = next((r for r in reversed(new) if text_of(r.content)), None)
        if summary or last is not None:
            content = summary or text_of(last.content) if last is not None else summary
            said: Records = (UserMessage(content, "compaction", stamp=Stamp(at=stamp.at)),)
        else:
            said = ()
        stays = tuple(r for r in kept if r is not last)
        record = CompactionRecord("", "", 0, 0, 0, stamp=stamp)
        self.conversation.compact(record, said, stays)
        return ""


def _parts(answer: AssistantMessage) -> tuple[Part, ...]:
    content = answer.content
    return (TextPart(content),) if isinstance(content, str) else content


def _key(record: Record) -> tuple[str, str]:
    content = record.content if isinstance(record, UserMessage | AssistantMessage) else ""
    return type(record).__name__, text_of(content)


def _said_before(context: list[Record]) -> Mapping[tuple[str, str], Record]:
    spoken = (r for r in context if isinstance(r, UserMessage | AssistantMessage))
    return {_key(record): record for record in spoken}


def _stamp(value: dict[str, Any]) -> Stamp:
    at = fields.text(value, "timestamp") or fields.text(value, "created_at")
    return Stamp(at=at or None)


def _summarise(ref: SessionRef) -> SessionSummary:
    for head_bytes in HEADS:
        ends = read_ends(ref.path, head_bytes)
        session = _session_of(ends)
        if session.title or ends.is_whole:
            break
    return summary_of(ref, session.records, session_id=session.session_id, title=session.title)


def _discover(places: Places) -> Iterator[SessionRef]:
    folder = places.folder(CODEX, ".codex", "CODEX_HOME")
    names = ("rollout-*.jsonl", "rollout-*.jsonl.zst")
    patterns = [f"{depth}{name}" for depth in ("", "*/*/*/") for name in names]
    yield from file_refs(CODEX, folder / "sessions", *patterns)
    yield from file_refs(CODEX, folder / "archived_sessions", *patterns)


def _resume(session_id: str, cwd: str) -> str:
    return shell_command(cwd, "codex", "resume", session_id)


CODEX_IMPORTER = Importer(
    source=CODEX,
    name="Codex",
    recognise=is_codex,
    read=read_session,
    summarise=_summarise,
    discover=_discover,
    read_tail=read_tail,
    resume=_resume,
)
