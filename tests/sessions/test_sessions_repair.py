"""Laws of repair and fork: new sessions made of old bytes, with the originals left alone."""

from __future__ import annotations

import pytest

from agent_tui.core.errors import LogChanged
from agent_tui.core.jsonl import BOM
from agent_tui.core.records import Checkpoint, HeadRecord, SessionHeader, UserMessage
from agent_tui.sessions.archive import archive_path
from agent_tui.sessions.replay import load_log
from agent_tui.sessions.store import Durability, ForkPoint, SessionLog, SessionStore
from tests.sessions.conftest import fork_at, header

D1 = Durability.D1
GOOD = b'{"role":"user","content":"hello"}'


def prompts(log: SessionLog) -> list[object]:
    return [e.record.content for e in log.state.messages if isinstance(e.record, UserMessage)]


async def test_a_repair_copies_every_good_line_and_lists_every_other_byte(
    store: SessionStore, log: SessionLog
) -> None:
    await log.append(UserMessage("first"), durability=D1)
    await log.close()
    bad = (
        BOM + log.path.read_bytes() + b"garbage\n\n\0\0" + GOOD + b"\0\0\0\r\n" + GOOD + b"\n{torn"
    )
    log.path.write_bytes(bad)
    report = await store.repair(log.folder, "s1-clean")
    assert log.path.read_bytes() == bad
    assert report.records == 3
    left = sum(part.length for part in report.left_out)
    newlines_of_kept_lines = 3
    assert report.bytes_kept + newlines_of_kept_lines + left == len(bad)
    assert [part.reason.split(" ")[0].rstrip(":") for part in report.left_out] == [
        "the",
        "not",
        "a",
        "padding",
        "padding",
        "torn",
    ]
    assert report.left_out[1].excerpt == "garbage"
    clean = await store.open("s1-clean")
    assert prompts(clean) == ["first", "hello", "hello"]
    assert not clean.state.damaged
    assert clean.state.header
    assert clean.state.header.parent == {"session_id": "s1", "repaired_from": str(log.path)}
    await clean.close()


async def test_a_fork_starts_from_the_path_to_an_entry(
    store: SessionStore, log: SessionLog
) -> None:
    await log.append(Checkpoint(0), UserMessage("one"), UserMessage("two"), durability=D1)
    one = log.state.messages[0]
    assert one.record.stamp.uuid
    await log.append(HeadRecord(one.record.stamp.uuid), UserMessage("three"), durability=D1)
    before = log.path.read_bytes()
    fork = await log.fork(header("s2"))
    assert prompts(fork) == ["one", "three"]
    assert fork.state.header
    assert fork.state.header.parent == {"session_id": "s1", "uuid": log.state.leaf_uuid}
    other = await fork_at(store, log, one, "s3")
    assert prompts(other) == ["one"]
    line = before[one.offset : one.offset + one.length]
    assert other.path.read_bytes().endswith(line)
    left_branch = await fork_at(store, log, log.state.all_entries[3], "s4")
    assert prompts(left_branch) == ["one", "two"]
    await fork.append(UserMessage("on"), durability=D1)
    assert log.path.read_bytes() == before
    for session in (fork, other, left_branch):
        await session.close()


async def test_a_fork_keeps_lines_apart_of_which_one_was_never_finished(
    store: SessionStore, log: SessionLog
) -> None:
    await log.append(UserMessage("one"), durability=D1)
    await log.close()
    log.path.write_bytes(log.path.read_bytes().removesuffix(b"\n"))
    again = await store.open("s1")
    await again.append(UserMessage("two"), durability=D1)  # which finishes the line before
    fork = await again.fork(header("s2"))
    assert prompts(fork) == ["one", "two"]
    assert not fork.state.damaged
    await fork.close()
    await again.close()


async def test_a_fork_starts_from_an_archive_too(store: SessionStore, log: SessionLog) -> None:
    await log.append(Checkpoint(0), UserMessage("one"), durability=D1)
    await log.append(Checkpoint(1), UserMessage("two"), UserMessage("three"), durability=D1)
    path = archive_path(log.folder, await log.revert(1))
    state, inode = load_log(path)
    fork = await store.fork(path, ForkPoint(state, inode, state.messages[1]), header("s2"))
    assert prompts(fork) == ["one", "two"]
    assert fork.state.header
    uuid = state.messages[1].record.stamp.uuid
    assert fork.state.header.parent == {"session_id": "s1", "uuid": uuid}
    await fork.close()


async def test_a_window_that_cannot_write_may_fork(store: SessionStore, log: SessionLog) -> None:
    await log.append(Checkpoint(0), UserMessage("one"), durability=D1)
    second = await store.open("s1")
    assert second.read_only
    fork = await second.fork(header("s2"))
    assert (fork.read_only, prompts(fork)) == ("", ["one"])
    await fork.close()
    await log.revert(0)
    with pytest.raises(LogChanged, match="replaced by another window"):
        await second.fork(SessionHeader("s3", "/x", "", ""))
    await second.reload()
    fork = await second.fork(header("s4"))
    assert prompts(fork) == []
    await fork.close()
    await second.close()
