"""Layer "fuzz": any bytes load; nothing raises, nothing hangs, every byte is accounted for.

The store has more than one way to read a line: parsers for small and for big logs, an index, the
tail alone, a clean copy. All of them must see the same records.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterable
from pathlib import Path

from agent_tui.core.jsonl import LineReader, bulk_decoder, decode_line
from agent_tui.core.record_parsing import parse_record
from agent_tui.core.records import SessionHeader
from agent_tui.sessions.index import LogIndex, read_tail
from agent_tui.sessions.repair import plan_clean_copy
from agent_tui.sessions.replay import Entry, Item, read_items, read_log
from agent_tui.sessions.sent_messages import repaired_messages
from tests.faults.acts import HISTORY
from tests.faults.outcome import Effort, Outcome, timed
from tests.faults.verdict import accounts_for

LAYER = "fuzz"
QUICK, FULL, PROBE = 8_000, 300_000, 3_000

_GOOD = (
    *(line for line in HISTORY.splitlines(keepends=True) if not line.startswith(b"\xff")),
    b'{"role":"assistant","content":"","tool_calls":[{"type":"function","id":"c1","function":'
    b'{"name":"read_file","arguments":"{\\"path\\":\\"a\\"}"}}],"uuid":"a","parent_uuid":"h"}\n',
    b'{"role":"tool","tool_call_id":"c1","content":[{"type":"text","text":"done"}]}\n',
    b'{"role":"_compaction","trigger":"manual","strategy":"s","archive":1}\n',
    b'{"role":"_revert","checkpoint":0,"archive":2,"reason":"user"}\n',
    b'{"role":"_head","to":"h","uuid":"b"}\n',
    b'{"role":"_label","target":"h","label":"x"}\n',
    b'{"role":"_title","title":"t"}\n',
    '{"role":"user","content":"\u2028\u2029\u0085 \\u2028 \U0001f642"}\n'.encode(),
)
_SPICE = (
    *(b"\n", b"\r\n", b"\0", b"\0" * 100, b"\xef\xbb\xbf", b"\xff", b"\xc3", b"\xed\xa0\x80"),
    *(b"{", b"}", b"[", b"]", b'"', b"\\", b",", b":", b"\x0b", b"\x0c", b"\xc2\x85"),
    *(b"1E999", b"1.5e-999", b"-0.0", b"123456789012345678901", b"[" * 101 + b"]" * 101, b"\x7f"),
    *("\u2028".encode(), b"NaN", b"-Infinity", b"1e400", b"9" * 400, b"-0", b"null", b"true"),
    *(b"[" * 200, b'{"a":' * 200, b"\\ud800", b"\\u0000", b'"role":"user"', b'"role":7'),
    *(b'{"role":"_checkpoint","id":-1}', b'{"role":"_head","to":"a","uuid":"a"}', b" " * 50),
)
Twist = Callable[[random.Random, bytearray], None]


def run(effort: Effort) -> Outcome:
    """Twist good logs in many ways, and load what comes out."""
    outcome = Outcome(LAYER)
    tries = FULL if effort.full else PROBE if effort.first_only else QUICK
    chance = random.Random(20250101)
    path = effort.scratch / "fuzzed"
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    with timed(outcome):
        for number in range(tries):
            data = bytes(_twisted(chance))
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, data, 0)
            outcome.count("inputs")
            broken = _judge(descriptor, path, data)
            outcome.find(f"input {number} {data[:300]!r}", broken)
            if broken and effort.first_only:
                break
    os.close(descriptor)
    return outcome


def _judge(descriptor: int, path: Path, data: bytes) -> list[str]:
    try:
        state = read_log(path)
        loaded: list[Item] = [*state.all_entries, *state.damaged]
        items = sorted(loaded, key=lambda item: item.offset)
        repaired_messages([entry.record for entry in state.messages])  # type: ignore[misc]
        broken = _disagreements(descriptor, path, items)
    except Exception as error:
        return [f"loading raised {error!r}"]
    if not accounts_for(state, data):
        broken.append("not every byte is accounted for")
    if missed := _missed(data, items):
        broken.append(f"a good line was not loaded: {missed[0]!r}")
    return broken


def _disagreements(descriptor: int, path: Path, items: list[Item]) -> list[str]:
    """Other readers that see other records."""
    broken = []
    if _outline(read_items(LineReader(descriptor), bulk_decoder())) != _outline(items):
        broken.append("the parser for big logs reads otherwise")
    tail = read_tail(path, 3)
    if tail and _outline(items)[-len(tail) :] != _outline(tail):
        broken.append("the reader of the tail reads otherwise")
    index = LogIndex(path)
    while index.grow(97):
        pass
    if _outline(index.read(0, len(index))) != _outline(items):
        broken.append("the index reads otherwise")
    copy = plan_clean_copy(descriptor)
    kept = [os.pread(descriptor, length, offset) for offset, length in copy.spans]
    wanted = [
        item.record
        for item in items
        if isinstance(item, Entry) and not isinstance(item.record, SessionHeader)
    ]
    if [parse_record(decode_line(span)) for span in kept] != wanted:
        broken.append("a clean copy keeps other records")
    return broken


def _outline(items: Iterable[Item]) -> list[tuple[int, int, object]]:
    """Where items lie, and what the records are."""
    return [
        (item.offset, item.length, item.record if isinstance(item, Entry) else None)
        for item in items
    ]


def _missed(data: bytes, items: list[Item]) -> list[bytes]:
    """Lines that are good beyond doubt, byte for byte, and were not loaded as records."""
    loaded = {item.offset for item in items if isinstance(item, Entry)}
    missed, offset = [], 0
    for line in data.split(b"\n"):
        if line + b"\n" in _KNOWN and offset not in loaded:
            missed.append(line)
        offset += len(line) + 1
    return missed


_KNOWN = frozenset(_GOOD)


def _twisted(chance: random.Random) -> bytearray:
    if chance.random() < 0.02:
        return bytearray(chance.randbytes(chance.randrange(400)))
    data = bytearray(b"".join(chance.choices(_GOOD, k=chance.randrange(1, 7))))
    for _ in range(chance.randrange(1, 4)):
        chance.choice(_TWISTS)(chance, data)
    return data


def _place(chance: random.Random, data: bytearray) -> int:
    return chance.randrange(len(data) + 1)


def _insert(chance: random.Random, data: bytearray) -> None:
    at = _place(chance, data)
    data[at:at] = chance.choice(_SPICE)


def _overwrite(chance: random.Random, data: bytearray) -> None:
    at = _place(chance, data)
    spice = chance.choice(_SPICE)
    data[at : at + len(spice)] = spice


def _flip(chance: random.Random, data: bytearray) -> None:
    if data:
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)


def _cut_end(chance: random.Random, data: bytearray) -> None:
    del data[_place(chance, data) :]


def _cut_out(chance: random.Random, data: bytearray) -> None:
    at = _place(chance, data)
    del data[at : at + chance.randrange(1, 60)]


def _glue(chance: random.Random, data: bytearray) -> None:
    at = data.find(b"\n", _place(chance, data))
    if at >= 0:
        del data[at]


def _double(chance: random.Random, data: bytearray) -> None:
    at = _place(chance, data)
    data[at:at] = data[at : at + chance.randrange(1, 200)]


def _blank_out(chance: random.Random, data: bytearray) -> None:
    at = _place(chance, data)
    end = min(len(data), at + chance.randrange(1, 200))
    data[at:end] = b"\0" * (end - at)


_TWISTS: tuple[Twist, ...] = (
    *(_insert, _overwrite, _flip, _cut_end, _cut_out, _glue, _double, _blank_out),
)
