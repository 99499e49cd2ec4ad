"""The store of contents: whole or not there, bounded, and nobody loses what another one needs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agent_tui.workspace.errors import ContentMissing, NotCovered
from agent_tui.workspace.leftovers import remove_leftovers
from agent_tui.workspace.reading import digest_of
from agent_tui.workspace.store import ContentStore
from agent_tui.workspace.trimming import count_trimmed, read_trimming, shrink


def make(folder: Path, session: str, *contents: bytes, used: int = 0) -> ContentStore:
    store = ContentStore(str(folder), session)
    store.prepare()
    for content in contents:
        store.put(content)
    store.flush()
    if contents:
        os.utime(Path(store.session_folder) / "refs", (used, used))
    return store


def has(store: ContentStore, digest: str) -> bool:
    try:
        store.get(digest)
    except ContentMissing:
        return False
    return True


def test_a_content_is_kept_once_and_comes_back(tmp_path: Path) -> None:
    store = make(tmp_path, "s1")
    digest = store.put(b"content")
    assert store.put(b"content") == digest
    store.flush()
    assert ContentStore(str(tmp_path), "s2").get(digest) == b"content"
    assert [path.name for path in (tmp_path / "objects").iterdir()] == [digest]


def test_a_content_that_a_power_cut_has_torn_is_written_again(tmp_path: Path) -> None:
    digest = make(tmp_path, "s1").put(b"content")
    Path(ContentStore(str(tmp_path), "s1").path_of(digest)).write_bytes(b"\0" * 7)
    other = ContentStore(str(tmp_path), "s2")
    with pytest.raises(ContentMissing, match="damaged"):
        other.get(digest)
    other.put(b"content")
    assert other.get(digest) == b"content"


def test_a_new_session_flushes_nothing_until_it_needs_a_content(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(tmp_path, "s1")
    flushed: list[str] = []
    flush = os.fsync

    def note(descriptor: int) -> None:
        flushed.append(str(Path(f"/proc/self/fd/{descriptor}").readlink().relative_to(tmp_path)))
        flush(descriptor)

    monkeypatch.setattr(os, "fsync", note)
    make(tmp_path, "s2")
    assert not flushed
    store = make(tmp_path, "s2", b"content")  # whoever made the folder may not have flushed it
    names = ["objects", "sessions/s2/refs", "sessions/s2", "sessions"]
    assert flushed == [f"objects/{digest_of(b'content')}", *names]
    store.put(b"more")
    store.flush()
    assert flushed[5:] == [f"objects/{digest_of(b'more')}", "objects", "sessions/s2/refs"]


@pytest.mark.parametrize("digest", ["", "../../etc/passwd", "a" * 63, "A" * 64])
def test_what_is_no_hash_names_no_file(tmp_path: Path, digest: str) -> None:
    store = make(tmp_path, "s1")
    assert not store.has(digest, 1)
    with pytest.raises(ContentMissing):
        store.get(digest)


def test_the_oldest_sessions_go_first_and_what_others_need_stays(tmp_path: Path) -> None:
    one, two = tmp_path / "p1" / "workspace", tmp_path / "p2" / "workspace"
    old = make(one, "old", b"o" * 1000, b"shared" * 100, used=1)
    new = make(one, "new", b"shared" * 100, b"n" * 1000, used=3)
    other = make(two, "other", b"x" * 1000, used=2)
    everything = [str(one), str(two)]
    assert shrink(everything, 10_000, new.session_folder) == []
    assert shrink(everything, 3_000, new.session_folder) == ["old"]
    assert not has(old, digest_of(b"o" * 1000))
    assert has(new, digest_of(b"shared" * 100))
    assert shrink(everything, 0, new.session_folder) == ["other"]
    assert not has(other, digest_of(b"x" * 1000))
    assert has(new, digest_of(b"n" * 1000))  # it is in use


def test_a_session_that_lost_contents_is_told_so(tmp_path: Path) -> None:
    folder = str(tmp_path)
    make(tmp_path, "old", b"shared" * 100, b"o" * 1000, used=1)
    new = make(tmp_path, "new", b"shared" * 100, used=2)
    assert read_trimming(folder, "old") is None
    assert shrink([folder], 700, new.session_folder) == ["old"]
    found = read_trimming(folder, "old")
    assert found
    assert found.contents == 1  # what another session needs is still there
    assert found.told.startswith(f"1 earlier version of files was removed on {found.at[:10]}")
    assert "below 700 B" in found.told
    assert read_trimming(folder, "new") is None
    make(tmp_path, "old", b"p" * 1000, b"q" * 1000, used=1)  # it was opened once more
    assert shrink([folder], 700, new.session_folder) == ["old"]
    found = read_trimming(folder, "old")
    assert found
    assert found.contents == 3


def test_a_session_that_was_deleted_is_not_counted_among_those_that_lost_contents(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "project" / "workspace"
    for name in ("gone", "there"):
        make(folder, name, name.encode())
        (folder.parent / name).mkdir()
    assert sorted(shrink([str(folder)], 0, "")) == ["gone", "there"]
    assert count_trimmed(str(folder)) == 2
    make(folder, "there", b"once more")
    assert shrink([str(folder)], 0, "") == ["there"]
    assert count_trimmed(str(folder)) == 2
    (folder.parent / "gone").rmdir()
    assert count_trimmed(str(folder)) == 1
    (folder.parent / "gone").mkdir()  # it came back out of the trash
    assert count_trimmed(str(folder)) == 2
    assert read_trimming(str(folder), "gone")


def test_a_damaged_note_of_what_was_lost_is_passed_over(tmp_path: Path) -> None:
    notes = tmp_path / "trimmed"
    notes.mkdir()
    for text in ("", "[]", "{", '{"at": 1}', '{"at": "x", "contents": "?", "most_bytes": 1}'):
        (notes / "s1.json").write_text(text)
        assert read_trimming(str(tmp_path), "s1") is None


def test_a_session_whose_revert_was_cut_off_keeps_its_contents(tmp_path: Path) -> None:
    """Its journal lies beside its list; without both, half a revert would stay for ever."""
    cut = make(tmp_path, "cut", b"c" * 1000, used=1)
    Path(cut.journal_path).write_text("{}")
    new = make(tmp_path, "new", b"n" * 1000, used=2)
    assert shrink([str(tmp_path)], 0, new.session_folder) == []
    assert has(cut, digest_of(b"c" * 1000))
    assert Path(cut.journal_path).exists()


def test_a_session_whose_revert_begins_before_the_lock_is_had_keeps_its_contents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another window held the lock for it, and let go before the journal was done with."""
    other = make(tmp_path, "other", b"o" * 1000, used=1)
    new = make(tmp_path, "new", b"n" * 1000, used=2)

    def wait(*_: object) -> None:
        Path(other.journal_path).write_text("{}")

    monkeypatch.setattr("agent_tui.workspace.store._lock", wait)
    assert shrink([str(tmp_path)], 0, new.session_folder) == []
    assert has(other, digest_of(b"o" * 1000))
    assert Path(other.journal_path).exists()


LEFT = (
    f"objects/{'a' * 64}.17.tmp",
    f"git/{'b' * 16}/HEAD.17.140.tmp",
    f"git/{'b' * 16}/info/exclude.17.140.tmp",
    f"git/{'b' * 16}/objects/info/alternates.17.140.tmp",
)
OTHERS = (
    f"objects/{'a' * 64}",
    f"git/{'b' * 16}/HEAD",
    f"git/{'b' * 16}/notes.17.140.tmp",
    "git/notes/HEAD.17.140.tmp",
    "sessions/s1/HEAD.17.140.tmp",
    "HEAD.17.140.tmp",
)


def leave(folder: Path) -> ContentStore:
    """What programs wrote, and what those left half written that were killed."""
    store = make(folder, "s1")
    for name in (*LEFT, *OTHERS):
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("half")
    return store


def test_what_a_killed_program_left_half_written_goes_and_nothing_else(tmp_path: Path) -> None:
    remove_leftovers(leave(tmp_path))
    assert not [name for name in LEFT if (tmp_path / name).exists()]
    assert all((tmp_path / name).exists() for name in OTHERS)


def test_what_a_live_window_writes_just_now_stays(tmp_path: Path) -> None:
    store = leave(tmp_path)
    with ContentStore(str(tmp_path), "s2").locked(), pytest.raises(NotCovered):
        remove_leftovers(store)
    assert all((tmp_path / name).exists() for name in LEFT)
    remove_leftovers(store)
    assert not [name for name in LEFT if (tmp_path / name).exists()]


def test_nobody_waits_for_a_store_in_which_nothing_was_left(tmp_path: Path) -> None:
    store = make(tmp_path, "s1")
    with ContentStore(str(tmp_path), "s2").locked(alone=True):
        remove_leftovers(store)
