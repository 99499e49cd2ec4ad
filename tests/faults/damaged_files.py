"""Small builders of damaged logs: what is in them, and how much of it must load."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent_tui.core.jsonl import MAX_LINE_BYTES
from agent_tui.core.records import AssistantMessage, UserMessage
from agent_tui.sessions.replay import SessionState
from agent_tui.sessions.sent_messages import repaired_messages

Ask = Callable[[SessionState], object]


@dataclass(frozen=True, slots=True)
class Damaged:
    """A log, how many of its records load, how many pieces of damage are reported.

    ``asks`` are questions to what was loaded; each must be answered truthfully.
    """

    name: str
    data: bytes
    records: int
    damage: int
    asks: tuple[Ask, ...] = ()


def line(role: str, **fields: Any) -> bytes:
    """One good line."""
    return json.dumps({"role": role, **fields}).encode() + b"\n"


def user(text: str = "hello") -> bytes:
    """A good user message."""
    return line("user", content=text)


def between(bad: bytes) -> bytes:
    """Something bad between two good lines."""
    return user("before") + bad + user("after")


def call(call_id: str, arguments: str = "{}") -> dict[str, Any]:
    """A tool call as a log spells it."""
    return {"type": "function", "id": call_id, "function": {"name": "t", "arguments": arguments}}


def texts(state: SessionState) -> list[object]:
    """What users said."""
    said = [entry.record for entry in state.messages]
    return [record.content for record in said if isinstance(record, UserMessage)]


def sendable(state: SessionState) -> list[Any]:
    """The messages as a provider would get them."""
    return repaired_messages([entry.record for entry in state.messages])  # type: ignore[misc]


def _calls(state: SessionState) -> list[Any]:
    return [
        call for m in sendable(state) if isinstance(m, AssistantMessage) for call in m.tool_calls
    ]


def nothing_much() -> Iterator[Damaged]:
    """Files with little or nothing in them."""
    yield Damaged("empty", b"", 0, 0)
    yield Damaged("one newline", b"\n", 0, 0)
    yield Damaged("blank lines only", b"\n\n  \n\t\n\r\n", 0, 0)
    yield Damaged("a single NUL", b"\0", 0, 1)
    yield Damaged("a page of NULs", b"\0" * 4096, 0, 1)
    yield Damaged("a BOM and nothing else", b"\xef\xbb\xbf", 0, 1)
    yield Damaged("a PNG", b"\x89PNG\r\n\x1a\n" + bytes(range(256)), 0, 4)
    yield Damaged("an HTML page", b"<!doctype html>\n<p>not a log</p>\n", 0, 2)
    yield Damaged("UTF-16", "{}".encode("utf-16"), 0, 1)
    yield Damaged("one good line, not ended", user()[:-1], 1, 0)


def torn_ends() -> Iterator[Damaged]:
    """Last lines that a dying process left."""
    whole = user("torn")
    yield Damaged("torn after one byte", user() + whole[:1], 1, 1)
    yield Damaged("torn in the middle", user() + whole[: len(whole) // 2], 1, 1)
    yield Damaged("torn before the brace", user() + whole[:-2], 1, 1)
    yield Damaged("torn before the newline", user() + whole[:-1], 2, 0)
    yield Damaged(
        "torn in a UTF-8 sequence", user() + '{"role":"user","content":"é'.encode()[:-1], 1, 1
    )
    yield Damaged("NULs at the end", user() + b"\0" * 500, 1, 1)
    yield Damaged(
        "NULs, then a good line in the same line", user() + b"\0" * 90 + user("two"), 2, 0
    )
    yield Damaged("a torn line that was healed", user() + whole[:20] + b"\n" + user(), 2, 1)
    yield Damaged("a torn line that was glued to", user() + whole[:20] + user() + user("c"), 2, 1)


def bad_bytes() -> Iterator[Damaged]:
    """Lines that are not the text of one JSON object."""
    for name, bad, damage in (
        ("invalid UTF-8", b'{"role":"user","content":"\xff"}\n', 1),
        ("an overlong NUL", b'{"role":"user","content":"\xc0\x80"}\n', 1),
        ("a surrogate in UTF-8", b'{"role":"user","content":"\xed\xa0\x80"}\n', 1),
        ("a NUL block", b"\0" * 4096 + b"\n", 1),
        ("NULs inside an object", b'{"role":"user",\0\0"content":"x"}\n', 1),
        ("two objects glued", user()[:-1] + user(), 1),
        ("a half line", user()[:17] + b"\n", 1),
        ("a BOM in the middle", b"\xef\xbb\xbf" + user(), 1),
        ("a bare string", b'"user"\n', 1),
        ("a bare number", b"17\n", 1),
        ("null", b"null\n", 1),
        ("an array", b'[{"role":"user"}]\n', 1),
        ("single quotes", b"{'role':'user'}\n", 1),
        ("a trailing comma", b'{"role":"user","content":"x",}\n', 1),
        ("a comment", b"// a comment\n", 1),
        ("a merge conflict", b"<<<<<<< ours\n" + b"=======\n" + b">>>>>>> theirs\n", 3),
    ):
        yield Damaged(name, between(bad), 2, damage, (_both_neighbours,))


def _both_neighbours(state: SessionState) -> bool:
    return texts(state) == ["before", "after"]


def bad_values() -> Iterator[Damaged]:
    """JSON objects that a log does not take."""
    for name, bad in (
        ("NaN", b'{"role":"_usage","token_count":NaN}\n'),
        ("Infinity", b'{"role":"_usage","token_count":Infinity}\n'),
        ("minus Infinity", b'{"role":"x","a":-Infinity}\n'),
        ("1e400", b'{"role":"x","a":1e400}\n'),
        ("an int of 5,000 digits", b'{"role":"x","a":' + b"9" * 5000 + b"}\n"),
        ("100,000 open brackets", b"[" * 100_000 + b"\n"),
        ("an object 5,000 deep", b'{"a":' * 5000 + b"1" + b"}" * 5000 + b"\n"),
        ("an object 101 deep", b'{"role":"x","a":' + b"[" * 100 + b"]" * 100 + b"}\n"),
        ("no role", b'{"content":"x"}\n'),
        ("a role that is a number", b'{"role":7,"content":"x"}\n'),
        ("a user message without content", b'{"role":"user"}\n'),
        ("a content that is a number", b'{"role":"user","content":5}\n'),
        ("a checkpoint with a text for an id", b'{"role":"_checkpoint","id":"1"}\n'),
        ("a negative checkpoint", b'{"role":"_checkpoint","id":-1}\n'),
        ("a checkpoint that is true", b'{"role":"_checkpoint","id":true}\n'),
        ("tool calls that are a text", b'{"role":"assistant","content":"","tool_calls":"x"}\n'),
        ("a tool result without an id", b'{"role":"tool","content":"x"}\n'),
    ):
        yield Damaged(name, between(bad), 2, 1, (_both_neighbours,))


def odd_but_good() -> Iterator[Damaged]:
    """Lines that look wrong to a careless reader, and are not."""
    for name, odd in (
        ("U+2028 and U+2029", "\u2028\u2029"),
        ("U+0085", "\u0085"),
        ("VT, FF, FS, GS, RS", "\x0b\x0c\x1c\x1d\x1e"),
        ("a lone surrogate as an escape", "\ud800"),
        ("a NUL as an escape", "\0"),
        ("bidi and invisible characters", "\u202e\u200b\ufeff"),
    ):
        escaped = json.dumps({"role": "user", "content": odd}).encode() + b"\n"
        yield Damaged(f"{name}, escaped", between(escaped), 3, 0)
        if name.startswith(("U+", "bidi")):
            raw = json.dumps({"role": "user", "content": odd}, ensure_ascii=False).encode() + b"\n"
            yield Damaged(name, between(raw), 3, 0, (lambda s, odd=odd: texts(s)[1] == odd,))  # type: ignore[misc]
    yield Damaged("CRLF line ends", between(user()).replace(b"\n", b"\r\n"), 3, 0)
    yield Damaged("a BOM at the start", b"\xef\xbb\xbf" + user(), 1, 0)
    yield Damaged("NULs around a good object", between(b"\0\0" + user()[:-1] + b"\0\n"), 3, 0)
    yield Damaged("an unknown role", between(line("from_the_future", a=[1, {"b": None}])), 3, 0)
    yield Damaged("a key twice", between(b'{"role":"x","role":"user","content":"y"}\n'), 3, 0)
    yield Damaged("an int of 65 bits", between(b'{"role":"x","a":18446744073709551616}\n'), 3, 0)


def odd_stories() -> Iterator[Damaged]:
    """Good lines that do not fit together."""
    twice = b"".join(line("_checkpoint", id=i) + user(str(n)) for n, i in enumerate((0, 1, 1)))
    yield Damaged(
        "a checkpoint id twice", twice, 6, 0,
        (lambda s: s.checkpoints[1].offset > s.messages[1].offset,
         lambda s: s.next_checkpoint_id == 2),
    )  # fmt: skip
    high = line("_checkpoint", id=2**62) + user()
    yield Damaged(
        "a huge checkpoint id", high, 2, 0, (lambda s: s.next_checkpoint_id == 2**62 + 1,)
    )
    cycle = line("user", content="a", uuid="a", parent_uuid="b")
    cycle += line("user", content="b", uuid="b", parent_uuid="a")
    yield Damaged("parents in a circle", cycle, 2, 0, (lambda s: len(s.messages) == 2,))
    own = line("user", content="a", uuid="a", parent_uuid="a")
    yield Damaged("its own parent", own + user(), 2, 0, (lambda s: len(s.messages) == 2,))
    heads = line("user", content="a", uuid="a") + line("_head", to="h", uuid="h")
    yield Damaged("a head to itself", heads * 3, 6, 0)
    yield Damaged("a head to nowhere", user() + line("_head", to="gone"), 2, 0)
    orphan = user() + line("user", content="b", uuid="b", parent_uuid="gone")
    yield Damaged("a parent that is not there", orphan, 2, 0, (lambda s: len(s.messages) == 2,))
    same = line("user", content="a", uuid="a") * 2
    yield Damaged("the same uuid twice", same, 2, 0)
    asked = line("assistant", content="", tool_calls=[call("c1"), call("c2")])
    answer = line("tool", tool_call_id="c1", content="done")
    yield Damaged(
        "a call without a result", asked + answer + user(), 3, 0,
        (lambda s: [m.interrupted for m in sendable(s)[1:3]] == [False, True],),
    )  # fmt: skip
    yield Damaged(
        "a result without a call", user() + answer, 2, 0, (lambda s: len(sendable(s)) == 1,)
    )
    for name, bad in (("torn", '{"a":'), ("a list", "[1]"), ("NaN", '{"a":NaN}'), ("empty", "")):
        wrong = line("assistant", content="", tool_calls=[call("c1", bad)])
        yield Damaged(
            f"arguments that are {name}", wrong, 1, 0,
            (lambda s: [c.arguments for c in _calls(s)] == ["{}"],),
        )  # fmt: skip


def big_ones(full: bool) -> Iterator[Damaged]:
    """Lines that could exhaust the memory, and logs of very many."""
    megabytes = 100 if full else 20
    huge = user("x" * (megabytes << 20))
    fits = len(huge) <= MAX_LINE_BYTES
    yield Damaged(f"a line of {megabytes} MB", between(huge), 2 + fits, 1 - fits)
    over = b"x" * (MAX_LINE_BYTES + 1) + b"\n"
    yield Damaged("a line beyond what is read", between(over), 2, 1, (_both_neighbours,))
    count = 1_000_000 if full else 50_000
    many = b"".join(b'{"role":"_checkpoint","id":%d}\n' % number for number in range(count))
    yield Damaged(
        f"{count:,} checkpoints", many, count, 0, (lambda s: s.next_checkpoint_id == count,)
    )


def all_of_them(full: bool, big: bool = True) -> Iterator[Damaged]:
    """Every damaged log, with or without those that are big."""
    for family in (nothing_much, torn_ends, bad_bytes, bad_values, odd_but_good, odd_stories):
        yield from family()
    if big:
        yield from big_ones(full)


def unopenable(folder: Path) -> Iterator[tuple[str, Callable[[Path], None]]]:
    """Things in the place of a log that are no file: a reader must refuse, and never wait."""
    other = folder / "elsewhere"
    yield "a folder", lambda path: path.mkdir()
    yield "a FIFO", _make_fifo
    yield "a link to a log", lambda path: path.symlink_to(_made(other, user()))
    yield "a link to nowhere", lambda path: path.symlink_to(folder / "nowhere")
    yield "a link to a device", lambda path: path.symlink_to("/dev/zero")
    yield "a link to itself", lambda path: path.symlink_to(path)
    yield "a socket", _make_socket


def _made(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def _make_fifo(path: Path) -> None:
    import os

    os.mkfifo(path)


def _make_socket(path: Path) -> None:
    import socket

    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))
