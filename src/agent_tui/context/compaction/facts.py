"""What a message says that would be missed: files, commands, errors, decisions and the like.

Found by patterns, without a model, and the same every time. Long texts are scanned at both ends.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from agent_tui.context.compaction.file_analysis import is_change, path_argument, paths_in
from agent_tui.context.compaction.selection import is_request
from agent_tui.context.compaction.summary_message import is_summary, summary_text
from agent_tui.core.arguments import read_arguments
from agent_tui.core.messages import ToolCall, text_of
from agent_tui.core.records import AssistantMessage, Message, ToolMessage, UserMessage
from agent_tui.core.summary import LossKind

_SCANNED_CHARS = 8_000
_RESULT_CHARS = 3_000
_SUMMARY_CHARS = 40_000
_LONGEST_LINE = 400
_WHOLE_CHARS = 1_500
_SHORT_REQUEST = 60
_BEFORE_ERROR = 120

_URL = re.compile(r"https?://[^\s<>\"'`)\]}]+")
_NUMBER = re.compile(
    r"(?<![\w./:#-])(?:v?\d+\.\d+\.\d+|(?:~|>|<|≤|≥)?\d[\d,]*(?:\.\d+)?\s?"
    r"(?:%|ms|seconds?|secs?|minutes?|mins?|hours?|days?|lines?|bytes|[kKMGT]i?B|tokens|tests"
    r"|files|px|MB/s|fps|Hz|USD|€|行|秒|毫秒|分钟|字节|倍))(?![\w/])|\bport \d{2,5}\b"
)
_USER_DECISION = re.compile(
    r"\b(?:must|never|always|don'?t|do not|instead of|prefer|only want|i want|make sure|should"
    r"|no need|leave it|keep|not allowed|want you to|would only)\b"
    r"|必须|不要|不能|决定|改为|应该|只能|始终|保留",
    re.IGNORECASE,
)
_AGENT_DECISION = re.compile(
    r"\b(?:decided|decision|agreed|must not|must never|never|root cause"
    r"|the (?:fix|problem|issue|bug) is|because|instead of|won'?t"
    r"|we(?:'ll| will) (?:keep|use|need)|trade-?off|recommend|important(?:ly)?|caveat|limitation)\b"
    r"|决定|根本原因|因为|必须|改为|问题是",
    re.IGNORECASE,
)
_ERROR = re.compile(
    r"[A-Z]\w*(?:Error|Exception)\b\s?[:(]|(?i:\berror(?: [A-Z]+\d+|\[\w+\])?:|\bfatal:"
    r"|\bpanicked at\b|\bpanic:|\bcommand not found\b|\bno such file\b|\bpermission denied\b)"
    r"|\bFAILED\b|\bERR!"
)
_NO_ERROR = re.compile(r"\b(?:0|no) errors?\b", re.IGNORECASE)
_SENTENCE = re.compile(
    r"(?<!e\.g\.)(?<!i\.e\.)(?<!etc\.)(?<!vs\.)(?<=[.!?])\s+|(?<=[\u3002\uff01\uff1f\uff1b])"
)
_FENCE = re.compile(r"^```.*?(?:^```|\Z)", re.MULTILINE | re.DOTALL)
_COMMAND_TOOLS = re.compile(r"command|bash|shell|exec|terminal", re.IGNORECASE)
_COMMAND_SPLIT = re.compile(r"\s*(?:&&|\|\||;|\||\n)\s*")
_QUOTED = re.compile(r"'[^']*(?:'|$)|\"(?:[^\"\\]|\\.)*(?:\"|$)", re.DOTALL)
_LOOKING = re.compile(
    r"^(?:cd|ls|cat|head|tail|wc|echo|pwd|grep|rg|find|sed -n|awk|sort|uniq|which|sleep|tree|true"
    r"|jq|xargs|stat|file|diff|git (?:status|diff|log|show|add|branch|stash list|rev-parse))\b"
)
_REDIRECT = re.compile(r"\s*\d?>(?:&\d|\S+)|\s*2>&1")
_GIT_COMMIT = re.compile(r"^git commit\b")
_CHATTER = re.compile(r"^\W*(?:<|\{|\[|/\w+$)")
_INJECTED = re.compile(r"^\s*<(?:system|command|local-command|task)[\w-]*>")


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing said.

    Attributes:
        kind: what kind of thing.
        text: how it is named in a report.
        line: the line or sentence that it stands in.
        strength: how much it matters where it was said, 0 to 100.
        whole: all that belongs to it, where ``text`` is only the beginning.
    """

    kind: LossKind
    text: str
    line: str
    strength: float
    whole: str = ""


def facts_in(message: Message) -> list[Fact]:
    """Everything that a message says, in the order in which it is said."""
    match message:
        case UserMessage() if is_summary(message):
            return list(_said_by_summary(message))
        case UserMessage():
            return list(_said_by_user(message))
        case AssistantMessage():
            return list(_said_by_agent(message))
        case ToolMessage():
            return list(_said_by_tool(message))


def _said_by_user(message: UserMessage) -> Iterator[Fact]:
    text = _clipped(text_of(message.content), _SCANNED_CHARS)
    if not is_request(message) or _INJECTED.match(text):
        return
    asked = _request_line(text)
    if asked:
        yield Fact("request", asked, asked, 60, text[:_WHOLE_CHARS])
    yield from _common(text, 20)
    for line in _sentences(text, _USER_DECISION):
        if not asked.startswith(line):
            yield Fact("decision", line, line, 34 if line.endswith("?") else 48)
    for line in _error_lines(text):
        yield Fact("error", line, line, 45)


def _said_by_summary(message: UserMessage) -> Iterator[Fact]:
    """An earlier summary says what was worth keeping once; the next one may lose it."""
    text = _clipped(summary_text(message), _SUMMARY_CHARS)
    prose = _FENCE.sub("", text) if "```" in text else text
    yield from _common(prose, 10)
    for line in _sentences(prose, _AGENT_DECISION):
        yield Fact("decision", line, line, 30)
    for line in _error_lines(prose):
        yield Fact("error", line, line, 40)


def _request_line(text: str) -> str:
    """The first thing asked for in a prompt; what was pasted into it is passed over."""
    asked = ""
    for line in text.splitlines():
        line = line.strip()
        if line and not _CHATTER.match(line):
            asked = f"{asked} {line}".lstrip()
            if len(asked) >= _SHORT_REQUEST:
                break
    return asked[:_LONGEST_LINE]


def _said_by_agent(message: AssistantMessage) -> Iterator[Fact]:
    for call in message.tool_calls:
        yield from _called(call)
    text = _clipped(text_of(message.content), _SCANNED_CHARS)
    if not text:
        return
    prose = _FENCE.sub("", text) if "```" in text else text
    yield from _common(prose, 0)
    for line in _sentences(prose, _AGENT_DECISION):
        yield Fact("decision", line, line, 26)


def _called(call: ToolCall) -> Iterator[Fact]:
    path = path_argument(call.arguments)
    if path:
        changed = is_change(call.name)
        verb = "changed by" if changed else "used by"
        yield Fact("file", path, f"{path} ({verb} {call.name})", 45 if changed else 8)
    line = " ".join(command_of(call).split())[:_LONGEST_LINE]
    for piece in acts_of(call):
        yield Fact("command", piece, line, 12 if _GIT_COMMIT.match(piece) else 24)


def command_of(call: ToolCall) -> str:
    """The shell command that a call runs; empty where it runs none."""
    if not _COMMAND_TOOLS.search(call.name):
        return ""
    command = read_arguments(call.arguments).get("command")
    return command if isinstance(command, str) else ""


def acts_of(call: ToolCall) -> list[str]:
    """The parts of a call's command that do something; those that only look are left out."""
    command = command_of(call)[:_LONGEST_LINE]
    masked = _QUOTED.sub(lambda quoted: "q" * len(quoted.group()), command)
    pieces, start = [], 0
    for gap in (*_COMMAND_SPLIT.finditer(masked), None):
        piece = command[start : gap.start() if gap else None]
        words = _REDIRECT.sub("", piece).strip()
        if len(words) > 3 and not _LOOKING.match(words) and words[0].isalnum():
            pieces.append(words)
        start = gap.end() if gap else 0
    return pieces


def _said_by_tool(message: ToolMessage) -> Iterator[Fact]:
    if message.interrupted:
        return
    if message.is_error:
        text = _clipped(text_of(message.content), _RESULT_CHARS)
        said = next((s for s in map(str.strip, text.splitlines()) if s), "")[:_LONGEST_LINE]
        if said:
            yield Fact("error", said, said, 16)


def errors_in_output(text: str) -> Iterator[Fact]:
    """Errors in what a command printed, though it may have ended well."""
    for line in _error_lines(_clipped(text, _RESULT_CHARS)):
        yield Fact("error", line, line, 30)


def _error_lines(text: str) -> Iterator[str]:
    """Lines that tell of an error; of one that is very long, what follows the telling word."""
    end = 0
    for match in _ERROR.finditer(text):
        if match.start() < end:
            continue
        start = max(text.rfind("\n", 0, match.start()) + 1, match.start() - _BEFORE_ERROR)
        end = text.find("\n", match.end())
        end = len(text) if end < 0 else end
        line = text[start : min(end, start + _LONGEST_LINE)].strip()
        if not _NO_ERROR.search(line):
            yield line


def _common(text: str, bonus: float) -> Iterator[Fact]:
    for path in paths_in(text):
        yield Fact("file", path, _line_around(text, path), 10 + bonus)
    if "://" in text:
        for match in _URL.finditer(text):
            url = match.group().rstrip(".,;:!?")
            yield Fact("url", url, _line_around(text, url), 22 + bonus)
    for match in _NUMBER.finditer(text):
        yield Fact("number", match.group(), _line_around(text, match.group()), 9 + bonus / 2)


def _sentences(text: str, cue: re.Pattern[str]) -> Iterator[str]:
    for match in cue.finditer(text):
        start = text.rfind("\n", 0, match.start()) + 1
        end = text.find("\n", match.end())
        line = text[start : end if end >= 0 else len(text)]
        if len(line) > 4 * _LONGEST_LINE:
            continue
        for sentence in _SENTENCE.split(line):
            sentence = sentence.strip(" \t-*#>|")
            whole = 12 <= len(sentence) <= _LONGEST_LINE and not sentence.endswith(":")
            if whole and cue.search(sentence):
                yield sentence


def _line_around(text: str, part: str) -> str:
    place = text.find(part)
    start = text.rfind("\n", 0, place) + 1
    end = text.find("\n", place)
    line = text[start : end if end >= 0 else len(text)].strip()
    return line if len(line) <= _LONGEST_LINE else part


def _clipped(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    head, tail = text[: limit * 2 // 3], text[-limit // 3 :]
    return f"{head.rpartition(chr(10))[0] or head}\n{tail.partition(chr(10))[2] or tail}"
