"""Sessions of Claude Code: one file a session, in which nearly nothing is the tree it seems to be.

One answer is several lines, parallel results hang beside each other, subagents may stand in the
same file. What is not on a branch that was really left is shown in the order of the file.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agent_tui.core.messages import Content, ToolCall
from agent_tui.core.origins import Origin
from agent_tui.core.records import (
    AssistantMessage,
    CompactionRecord,
    Record,
    SessionHeader,
    Stamp,
    TitleRecord,
    UnknownRecord,
    UsageRecord,
    UserMessage,
)
from agent_tui.core.summary import SessionSummary
from agent_tui.core.text import first_line
from agent_tui.importers import fields
from agent_tui.importers.claude_children import child_files, resume, tell_agents
from agent_tui.importers.claude_entries import (
    FILE_ATTACHMENTS,
    NOTED_ATTACHMENTS,
    NOTES,
    attached_file,
    call_of,
    content_of,
    parts_of,
    result_of,
    split_calls,
    stamp_of,
    usage_of,
)
from agent_tui.importers.claude_rewinds import branch_path, find_left, is_side, typed_text
from agent_tui.importers.conversation import Conversation, title_of
from agent_tui.importers.imported import ImportedChild, ImportedSession, ImportedTail, Records
from agent_tui.importers.importer import Head, Importer, Places, SessionRef
from agent_tui.importers.lines import HEADS, Entries, read_ends, read_entries, read_last_entries
from agent_tui.importers.listing import file_refs, summary_of

CLAUDE = "claude-code"
_SPOKEN = ("user", "assistant", "tool_use", "tool_result")
_NODES = (*_SPOKEN, "system", "attachment", "progress", "compact_boundary")
_SIDE_LINES = frozenset(
    {
        "progress",
        "file-history-snapshot",
        "queue-operation",
        "last-prompt",
        "permission-mode",
        "mode",
        "agent-name",
        "agent-color",
        "agent-setting",
        "tag",
        "pr-link",
        "frame-link",
        "relocated",
        "worktree-state",
        "bridge-session",
        "atis-latch",
        "started",
        "result",
        "attribution-snapshot",
        "content-replacement",
        "marble-origami-commit",
        "marble-origami-snapshot",
        "speculation-accept",
    }
)
"""Lines of these types say nothing of the conversation; they are left out by rule."""


def is_claude(head: Head) -> bool:
    """Whether lines look like Claude Code's: its types in its envelope."""
    return any(_is_line(value) for value in head.objects)


def _is_line(value: dict[str, Any]) -> bool:
    kind = fields.text(value, "type")
    if kind in ("user", "assistant") and isinstance(value.get("message"), dict):
        return "parentId" not in value
    if kind == "summary":
        return "leafUuid" in value and "summary" in value
    return kind in (*_NODES, *_SIDE_LINES) and "sessionId" in value


def read_session(ref: SessionRef) -> ImportedSession:
    """Read a session with the subagents that belong to it; raises SessionError."""
    return session_of(read_entries(ref.path), CLAUDE, child_files)


def read_tail(ref: SessionRef, count: int) -> ImportedTail:
    """The last lines of a file as records."""
    lines = read_last_entries(ref.path, count)
    return ImportedTail(session_of(lines, CLAUDE).records, lines.is_whole)


def session_of(
    lines: Entries,
    source: str,
    find_children: Callable[[Path, str], Iterable[ImportedChild]] | None = None,
) -> ImportedSession:
    """A session out of the lines of its file.

    Args:
        lines: the lines that could be read.
        source: the agent that wrote them.
        find_children: finds subagents in files beside it, by its path and id.
    """
    entries, numbers = lines.objects, lines.numbers
    spoken = [entry for entry in entries if fields.text(entry, "type") in ("user", "assistant")]
    own_side = bool(spoken) and all(is_side(entry) for entry in spoken)
    side = [is_side(entry) and not own_side for entry in entries]
    repeated = _find_repeated(entries)
    left = {} if own_side else find_left(entries)
    uuids = {fields.text(entry, "uuid") for entry in entries}
    reader = _Reader(uuids, lines)
    reader.conversation.add(_header(lines, own_side=own_side))
    for index, entry in enumerate(entries):
        if index in repeated:
            lines.book.skip(numbers[index], "repeated line")
        elif side[index] or index in left:
            continue
        else:
            reader.take(index, entry)
    for root in sorted(set(left.values())):
        branch = _Reader(uuids, lines)
        branch.conversation.add(reader.conversation.records[0])
        for index in branch_path(root, left, entries):
            if index not in repeated and not side[index]:
                branch.take(index, entries[index])
        reader.conversation.add_branch(branch.conversation.records)
    conversation = reader.conversation
    session_id = conversation.records[0].session_id  # type: ignore[union-attr] # the header
    sides = [index for index in range(len(entries)) if side[index] and index not in repeated]
    conversation.children += _inline_children(sides, lines)
    if find_children is not None and not own_side:
        conversation.children += find_children(lines.path, session_id)
    conversation.children = tell_agents(conversation.children, entries)
    return conversation.finish(
        source,
        lines.path,
        title=reader.title or reader.prompt,
        damaged=lines.damaged,
        accounting=lines.book.close(),
    )


def _find_repeated(entries: Sequence[dict[str, Any]]) -> set[int]:
    """Lines that say again what a line of the same id said."""
    first: dict[str, int] = {}
    found = set()
    for index, entry in enumerate(entries):
        uuid = fields.text(entry, "uuid")
        if not uuid or first.setdefault(uuid, index) == index:
            continue
        earlier = entries[first[uuid]]
        if all(entry.get(key) == earlier.get(key) for key in ("type", "message", "attachment")):
            found.add(index)
    return found


def _header(lines: Entries, *, own_side: bool) -> SessionHeader:
    named = next((e for e in lines.objects if fields.text(e, "cwd")), {})
    first = next((e for e in lines.objects if fields.text(e, "sessionId")), {})
    timed = next((e for e in lines.objects if fields.text(e, "timestamp")), {})
    # A copy may repeat lines under the id of its original; its file has its own name.
    stem = lines.path.stem
    is_named = any(fields.text(entry, "sessionId") == stem for entry in lines.objects)
    session_id = stem if is_named else fields.text(first, "sessionId")
    parent = {"session_id": session_id} if own_side and session_id else None
    version = fields.text(named, "version") or fields.text(first, "version")
    return SessionHeader(
        session_id=stem if own_side or not session_id else session_id,
        cwd=fields.text(named, "cwd"),
        created_at=fields.text(timed, "timestamp"),
        version=version,
        git_branch=fields.text(named, "gitBranch") or None,
        parent=parent,
    )


def _inline_children(sides: Iterable[int], lines: Entries) -> Iterator[ImportedChild]:
    """Subagents whose lines stand in the file of their session."""
    roots: dict[str, str] = {}
    groups: dict[str, list[int]] = defaultdict(list)
    for index in sides:
        entry = lines.objects[index]
        uuid, parent = fields.text(entry, "uuid"), fields.text(entry, "parentUuid")
        root = fields.text(entry, "agentId") or roots.get(parent) or uuid or "subagent"
        roots[uuid] = root
        groups[root].append(index)
    for root, indexes in groups.items():
        reader = _Reader(frozenset(), lines)
        for index in indexes:
            reader.take(index, lines.objects[index])
        records = tuple(reader.conversation.records)
        yield ImportedChild(root, title_of(records), records)


@dataclass(slots=True)
class _Reader:
    """Turns entries into records, one after another."""

    uuids: Set[str]
    lines: Entries
    conversation: Conversation = field(default_factory=Conversation)
    title: str = ""
    prompt: str = ""
    _message_id: str = ""
    _answer: AssistantMessage | None = None
    _usage: UsageRecord | None = None
    _by_uuid: dict[str, list[Record]] = field(default_factory=dict)
    _named: bool = False

    def take(self, index: int, entry: dict[str, Any]) -> None:
        """The next entry."""
        book, number = self.lines.book, self.lines.numbers[index]
        kind = fields.text(entry, "type")
        before = len(self.conversation.records)
        rule = self._convert(kind, entry)
        if rule is None:
            unknown = UnknownRecord(kind or "no type", entry, stamp_of(entry))
            self.conversation.add(unknown)
            book.leave_unknown(number, unknown.role)
        elif rule:
            book.skip(number, rule)
        else:
            book.show(number)
        if uuid := fields.text(entry, "uuid"):
            self._by_uuid[uuid] = self.conversation.records[before:]

    def _convert(self, kind: str, entry: dict[str, Any]) -> str | None:
        """Add what an entry says; returns the rule that leaves it out, None where it is unknown."""
        match kind:
            case "user" if isinstance(entry.get("message"), dict):
                return self._user(entry)
            case "assistant" if isinstance(entry.get("message"), dict):
                return self._assistant(entry)
            case "tool_use":
                return self._tool_use(entry)
            case "tool_result":
                return self._tool_result(entry)
            case "system" if entry.get("subtype") == "compact_boundary":
                return self._boundary(entry)
            case "compact_boundary":
                return self._boundary(entry)
            case "system":
                return self._system(entry)
            case "attachment":
                return self._attachment(entry)
            case "custom-title" | "ai-title" | "summary":
                return self._title(kind, entry)
            case _ if kind in _SIDE_LINES:
                return kind
            case _:
                return None

    def _user(self, entry: dict[str, Any]) -> str | None:
        blocks = parts_of(entry["message"].get("content"))
        results = [block for block in blocks if block.get("type") == "tool_result"]
        said = [block for block in blocks if block.get("type") != "tool_result"]
        self.conversation.add(*(result_of(entry, b, n) for n, b in enumerate(results)))
        if said or not blocks:
            self._say(entry, content_of(said), after_results=bool(results))
        return ""

    def _say(self, entry: dict[str, Any], content: Content, *, after_results: bool) -> None:
        self._close_answer()
        stamp = stamp_of(entry, ".said" if after_results else "")
        if entry.get("isCompactSummary") is True:
            self._summary(UserMessage(content, "compaction", stamp=stamp))
        else:
            typed = typed_text(entry)
            self.prompt = self.prompt or first_line(typed)
            origin: Origin = "human" if typed.strip() else "reminder"
            self.conversation.add(UserMessage(content, origin, stamp=stamp))

    def _summary(self, summary: UserMessage) -> None:
        last = self.conversation.context[-1] if self.conversation.context else None
        if not isinstance(last, CompactionRecord) and not _is_kept(self.conversation.context):
            self.conversation.compact(_compaction({}, summary.stamp), ())
        self.conversation.add_summary(summary)

    def _assistant(self, entry: dict[str, Any]) -> str | None:
        message = entry["message"]
        parts, calls = split_calls(parts_of(message.get("content")))
        counts = fields.table(message, "usage") or fields.table(entry, "usage")
        usage = usage_of(counts, stamp_of(entry).at)
        message_id = fields.text(message, "id")
        if message_id and message_id == self._message_id and self._answer is not None:
            self._continue_answer(parts, calls, usage)
            return ""
        model = fields.text(message, "model") or None
        self._answer = AssistantMessage(parts, calls, model, stamp=stamp_of(entry))
        self._message_id, self._usage = message_id, usage
        self.conversation.add(self._answer, *((usage,) if usage else ()))
        return ""

    def _continue_answer(
        self, parts: Content, calls: Sequence[ToolCall], usage: UsageRecord | None
    ) -> None:
        """Another line of the answer: its parts join it, and the larger count is the true one."""
        answer = self._answer
        assert answer is not None
        known = {call.id for call in answer.tool_calls}
        merged = AssistantMessage(
            (*answer.content, *parts) if isinstance(answer.content, tuple) else answer.content,
            (*answer.tool_calls, *(call for call in calls if call.id not in known)),
            answer.model,
            stamp=answer.stamp,
        )
        self.conversation.replace(answer, merged)
        self._answer = merged
        if usage is None:
            return
        if self._usage is None:
            self.conversation.add(usage)
            self._usage = usage
        elif usage.token_count > self._usage.token_count:
            self.conversation.replace(self._usage, usage)
            self._usage = usage

    def _close_answer(self) -> None:
        self._message_id, self._answer, self._usage = "", None, None

    def _tool_use(self, entry: dict[str, Any]) -> str | None:
        """A call on a line of its own: part of the answer before it, or an answer of its own."""
        call = call_of(fields.table(entry, "tool") or entry)
        if self._answer is not None and self.conversation.records[-1] in (
            self._answer,
            self._usage,
        ):
            self._continue_answer((), (call,), None)
            return ""
        self._answer = AssistantMessage((), (call,), stamp=stamp_of(entry))
        self._message_id, self._usage = "", None
        self.conversation.add(self._answer)
        return ""

    def _tool_result(self, entry: dict[str, Any]) -> str | None:
        found = fields.table(entry, "toolResult") or entry
        error = fields.text(found, "error")
        call_id = fields.text(found, "id") or fields.text(found, "tool_use_id")
        if not call_id and self._answer is not None and self._answer.tool_calls:
            call_id = self._answer.tool_calls[-1].id
        output = found.get("output") if "output" in found else found.get("content")
        content = error or (output if isinstance(output, list) else fields.json_text(output or ""))
        block = {"tool_use_id": call_id, "content": content, "is_error": bool(error)}
        self.conversation.add(result_of(entry, block, 0))
        return ""

    def _boundary(self, entry: dict[str, Any]) -> str | None:
        self._close_answer()
        told = fields.table(entry, "compactMetadata")
        self.conversation.compact(_compaction(told, stamp_of(entry)), (), self._kept(told))
        return ""

    def _kept(self, told: dict[str, Any]) -> Records:
        """The records that newer versions say a compaction preserved."""
        preserved = fields.table(told, "preservedMessages")
        uuids = [uuid for uuid in fields.array(preserved, "uuids") if isinstance(uuid, str)]
        segment = fields.table(told, "preservedSegment")
        order = list(self._by_uuid)
        first, last = fields.text(segment, "headUuid"), fields.text(segment, "tailUuid")
        if first in self._by_uuid and last in self._by_uuid:
            uuids = order[order.index(first) : order.index(last) + 1]
        known = {id(record) for record in self.conversation.context}
        kept = (record for uuid in uuids for record in self._by_uuid.get(uuid, ()))
        return tuple(r for r in kept if id(r) in known and not isinstance(r, UsageRecord))

    def _system(self, entry: dict[str, Any]) -> str | None:
        subtype = fields.text(entry, "subtype")
        return f"system: {subtype}" if subtype in NOTES else None

    def _attachment(self, entry: dict[str, Any]) -> str | None:
        attachment = fields.table(entry, "attachment")
        kind = fields.text(attachment, "type")
        if kind == "queued_command":
            blocks = parts_of(attachment.get("prompt"))
            said = {"type": "user", "message": {"content": blocks}}
            origin: Origin = "steer" if typed_text(said) else "reminder"
            self._close_answer()
            self.conversation.add(UserMessage(content_of(blocks), origin, stamp=stamp_of(entry)))
            return ""
        if kind in FILE_ATTACHMENTS:
            shown = UserMessage(attached_file(attachment), "reminder", stamp=stamp_of(entry))
            self.conversation.add(shown)
            return ""
        return f"attachment: {kind}" if kind in NOTED_ATTACHMENTS else None

    def _title(self, kind: str, entry: dict[str, Any]) -> str | None:
        if kind == "summary":
            if fields.text(entry, "leafUuid") not in self.uuids:
                return "title of another session"
            self.title = self.title or first_line(fields.text(entry, "summary"))
            return ""
        title = first_line(fields.text(entry, "customTitle") or fields.text(entry, "aiTitle"))
        if not title:
            return None
        if kind == "ai-title" and self._named:
            return "title replaced by the user"
        self._named = self._named or kind == "custom-title"
        self.title = title
        self.conversation.add(TitleRecord(title))
        return ""


def _is_kept(context: Sequence[Record]) -> bool:
    """Whether the context is a compaction and what it kept, with no summary yet."""
    if not context or not isinstance(context[0], CompactionRecord):
        return False
    return not any(isinstance(r, UserMessage) and r.origin == "compaction" for r in context)


def _compaction(told: dict[str, Any], stamp: Stamp) -> CompactionRecord:
    return CompactionRecord(
        trigger=fields.text(told, "trigger"),
        strategy="",
        pre_tokens=fields.number(told, "preTokens"),
        post_tokens=fields.number(told, "postTokens"),
        archive=0,
        files=tuple(f for f in fields.array(told, "filesIncluded") if isinstance(f, str)),
        stamp=stamp,
    )


def summarise(ref: SessionRef) -> SessionSummary:
    """A row of the list, from the ends of the file."""
    for head_bytes in HEADS:
        ends = read_ends(ref.path, head_bytes)
        session = session_of(ends, ref.source)
        if session.title or ends.is_whole:
            break
    return summary_of(ref, session.records, session_id=session.session_id, title=session.title)


def _discover(places: Places) -> Iterator[SessionRef]:
    folder = places.folder(CLAUDE, ".claude", "CLAUDE_CONFIG_DIR") / "projects"
    for ref in file_refs(CLAUDE, folder, "*/*.jsonl"):
        if not ref.path.name.startswith("agent-"):
            yield ref


CLAUDE_IMPORTER = Importer(
    source=CLAUDE,
    name="Claude Code",
    recognise=is_claude,
    read=read_session,
    summarise=summarise,
    discover=_discover,
    read_tail=read_tail,
    resume=resume,
)
