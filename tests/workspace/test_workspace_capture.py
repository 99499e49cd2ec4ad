"""What a capture finds, with git and without, and what it refuses to say."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from agent_tui.workspace import git_scan, reading
from agent_tui.workspace.limits import DEFAULT_LIMITS
from agent_tui.workspace.places import reason_refused
from tests.workspace.yard import Yard, by_path, git

BOTH = pytest.mark.parametrize("with_git", [True, False], ids=["git", "plain"])


def commit(yard: Yard, message: str = "one") -> None:
    git(yard.root, "add", "-A")
    git(yard.root, "commit", "-qm", message)


@pytest.fixture
def make(tmp_path: Path) -> Callable[..., Yard]:
    def make(**options: object) -> Yard:
        return Yard(tmp_path / f"yard{len(list(tmp_path.iterdir()))}", **options)  # type: ignore[arg-type]  # passed on

    return make


def test_both_scanners_give_the_same_records(make: Callable[..., Yard]) -> None:
    deltas = []
    for with_git in (True, False):
        yard = make(with_git=with_git)
        yard.write("kept.txt", "kept\n")
        yard.write("edited.txt", "old\n")
        yard.write("dir/gone.txt", "gone\n")
        yard.write("run.sh", "#!/bin/sh\n", 0o644)
        (yard.root / "link").symlink_to("kept.txt")
        if with_git:
            commit(yard)
        assert yard.take().delta == ()
        yard.write("edited.txt", "new\n")
        (yard.root / "dir/gone.txt").unlink()
        (yard.root / "run.sh").chmod(0o755)
        (yard.root / "link").unlink()
        (yard.root / "link").symlink_to("edited.txt")
        yard.write("dir/new.txt", "new\n")
        deltas.append(yard.take().delta)
    assert deltas[0] == deltas[1]
    assert [change.path for change in deltas[0]] == [
        "dir/gone.txt", "dir/new.txt", "edited.txt", "link", "run.sh",
    ]  # fmt: skip


def write_unseen(place: Path, content: bytes) -> bool:
    """Write a file again, its time and size kept; whether that was in the same second."""
    before = place.stat()
    place.write_bytes(content)
    os.utime(place, ns=(before.st_mtime_ns, before.st_mtime_ns))
    return int(before.st_ctime) == int(place.stat().st_ctime)


def old_file(yard: Yard, with_git: bool) -> Path:
    """A file that was changed just now and says that it was written long ago."""
    place = yard.write("dir/a.txt", "one\n")
    os.utime(place, ns=(10**18, 10**18))
    if with_git:
        commit(yard)
    return place


@BOTH
def test_a_file_that_is_written_again_in_the_same_second_is_noticed(
    make: Callable[..., Yard], with_git: bool
) -> None:
    """git compares whole seconds, and the agent's command may keep the time of a file."""
    for _ in range(20):
        yard = make(with_git=with_git)
        place = old_file(yard, with_git)
        yard.take()
        if write_unseen(place, b"two\n"):
            break
    (change,) = yard.take().delta
    assert change.old is not None
    assert change.new is not None
    assert (yard.store.get(change.old.hash), yard.store.get(change.new.hash)) == (
        b"one\n",
        b"two\n",
    )
    assert yard.take().delta == ()
    yard.revert(yard.plan())
    assert yard.read("dir/a.txt") == "one\n"


@BOTH
def test_what_was_written_in_the_second_of_a_commit_is_what_a_revert_brings_back(
    make: Callable[..., Yard], with_git: bool
) -> None:
    for _ in range(20):
        yard = make(with_git=with_git)
        place = old_file(yard, with_git)
        if write_unseen(place, b"two\n"):
            break
    yard.take()
    yard.write("dir/a.txt", "agent\n")
    yard.take()
    yard.revert(yard.plan())
    assert yard.read("dir/a.txt") == "two\n"


def test_what_git_takes_for_unchanged_is_settled_as_it_is(
    make: Callable[..., Yard], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(git_scan, "_MOST_RECENT", 0)
    monkeypatch.setattr(reading, "_RACY_NS", 0)
    for _ in range(20):
        yard = make(with_git=True)
        place = old_file(yard, with_git=True)
        yard.take()
        if write_unseen(place, b"two\n"):
            break
    yard.take()
    yard.open()
    yard.write("dir/a.txt", "agent\n")
    (change,) = yard.take().delta
    assert change.old is not None
    assert yard.store.get(change.old.hash) == b"two\n"


@pytest.mark.parametrize(("nanoseconds", "is_sure"), [(1, True), (0, False)])
def test_where_times_are_whole_seconds_a_file_of_the_last_two_is_read_again(
    nanoseconds: int, is_sure: bool
) -> None:
    mark = (0o100644, 1, 4, 10**18, 10**18 + nanoseconds)
    found = reading._sure(reading.Reading(None, b"", "", mark), 10**18 + 10**9)
    assert (found.signature == mark) == is_sure


@BOTH
def test_touching_a_file_is_no_change(make: Callable[..., Yard], with_git: bool) -> None:
    yard = make(with_git=with_git)
    place = yard.write("a.txt", "a\n")
    yard.take()
    os.utime(place, ns=(1, 1))
    assert yard.take().delta == ()


@BOTH
def test_a_restart_finds_what_changed_meanwhile(make: Callable[..., Yard], with_git: bool) -> None:
    yard = make(with_git=with_git)
    yard.write("a.txt", "a\n")
    yard.take()
    yard.write("a.txt", "b\n")
    yard.open()
    (change,) = yard.take("outside").delta
    assert change.old is not None
    assert yard.store.get(change.old.hash) == b"a\n"


@BOTH
def test_a_capture_that_never_reached_the_log_is_found_again(
    make: Callable[..., Yard], with_git: bool
) -> None:
    yard = make(with_git=with_git)
    yard.write("a.txt", "a\n")
    yard.take()
    yard.write("a.txt", "b\n")
    assert len(yard.capture.take().delta) == 1  # and the process dies here
    yard.open()
    assert len(yard.take("outside").delta) == 1


def test_a_failing_git_gives_no_answer_rather_than_the_last_one(
    make: Callable[..., Yard], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """OpenCode: `add` exits 128, `write-tree` gives the tree before, and restoring it destroys."""
    yard = make(with_git=True)
    yard.write("a.txt", "a\n")
    yard.take()
    yard.write("a.txt", "b\n")
    from agent_tui.workspace import git as git_module

    fake = tmp_path / "git"
    fake.write_text("#!/bin/sh\necho ':100644 100644 0 0 M'; echo fatal: broken >&2; exit 128\n")
    fake.chmod(0o755)
    monkeypatch.setattr(git_module, "git_program", lambda: str(fake))
    record = yard.take()
    assert (record.status, record.delta) == ("none", ())
    assert "broken" in record.why
    monkeypatch.undo()
    assert len(yard.take().delta) == 1


def test_a_nested_repository_without_a_commit_is_covered(make: Callable[..., Yard]) -> None:
    yard = make(with_git=True)
    yard.write("top.txt", "top\n")
    yard.write("nested/inner.txt", "inner\n")
    git(yard.root / "nested", "init", "-q")
    commit_top = git(yard.root, "status", "--porcelain")
    assert commit_top
    yard.take()
    yard.write("nested/inner.txt", "changed\n")
    yard.write("top.txt", "changed\n")
    assert list(by_path(yard.take().delta)) == ["nested/inner.txt", "top.txt"]


def test_a_submodule_is_a_scope_of_its_own(make: Callable[..., Yard], tmp_path: Path) -> None:
    other = make(with_git=True)
    other.write("lib.py", "lib\n")
    commit(other)
    yard = make(with_git=True)
    yard.write("top.txt", "top\n")
    git(
        yard.root,
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "add",
        "-q",
        str(other.root),
        "sub",
    )
    commit(yard)
    yard.take()
    yard.write("sub/lib.py", "changed\n")
    assert list(by_path(yard.take().delta)) == ["sub/lib.py"]
    yard.revert(yard.plan())
    assert yard.read("sub/lib.py") == "lib\n"


def test_line_ends_identifiers_and_filters_do_not_change_what_is_kept(
    make: Callable[..., Yard],
) -> None:
    yard = make(with_git=True)
    attributes = "*.crlf text eol=crlf\n*.id ident\n*.big filter=lfs\n"
    yard.write(".gitattributes", attributes)
    for name in ("a.crlf", "b.id", "c.big"):
        yard.write(name, "x\n")
    git(yard.root, "config", "filter.lfs.clean", "tr a-z n-za-m")
    git(yard.root, "config", "filter.lfs.smudge", "tr a-z n-za-m")
    yard.write("b.id", "$Id$ line\n")
    yard.write("c.big", "secret words\n")
    commit(yard)
    for name in ("a.crlf", "b.id", "c.big"):
        (yard.root / name).unlink()
    git(yard.root, "checkout", "-q", "--", ".")
    for name in ("a.crlf", "b.id", "c.big"):
        os.utime(yard.root / name, ns=(10**18, 10**18))
    git(yard.root, "status")  # the index knows them as they are, and does not look again
    before = {name: (yard.root / name).read_bytes() for name in ("a.crlf", "b.id", "c.big")}
    assert before["a.crlf"] == b"x\r\n"
    assert before["b.id"] != b"$Id$ line\n"
    yard.take()
    for name in before:
        yard.write(name, "agent\n")
    for name, change in by_path(yard.take().delta).items():
        assert change.old is not None
        assert yard.store.get(change.old.hash) == before[name]


def test_amend_and_gc_cost_nothing_that_was_captured(make: Callable[..., Yard]) -> None:
    yard = make(with_git=True)
    yard.write("a.txt", "first\n")
    commit(yard)
    yard.take()
    yard.write("a.txt", "agent\n")
    yard.take()
    git(yard.root, "commit", "-qam", "amended", "--amend")
    git(yard.root, "reflog", "expire", "--expire=now", "--all")
    git(yard.root, "gc", "-q", "--prune=now")
    yard.revert(yard.plan())
    assert yard.read("a.txt") == "first\n"


def test_git_of_the_user_is_never_touched(make: Callable[..., Yard]) -> None:
    yard = make(with_git=True)
    yard.write("a.txt", "a\n")
    commit(yard)
    yard.write("staged.txt", "staged\n")
    git(yard.root, "add", "staged.txt")

    def picture() -> dict[str, tuple[bytes, int]]:
        files = [place for place in (yard.root / ".git").rglob("*") if place.is_file()]
        return {str(place): (place.read_bytes(), place.stat().st_mtime_ns) for place in files}

    before = picture()
    yard.take()
    yard.write("a.txt", "agent\n")
    yard.write("new.txt", "agent\n")
    yard.take()
    yard.revert(yard.plan())
    assert picture() == before


def test_hidden_paths_of_an_index_are_looked_at_all_the_same(make: Callable[..., Yard]) -> None:
    yard = make(with_git=True)
    yard.write("a.txt", "a\n")
    yard.write("b.txt", "b\n")
    commit(yard)
    git(yard.root, "update-index", "--assume-unchanged", "a.txt")
    git(yard.root, "update-index", "--skip-worktree", "b.txt")
    yard.take()
    yard.write("a.txt", "agent\n")
    yard.write("b.txt", "agent\n")
    assert list(by_path(yard.take().delta)) == ["a.txt", "b.txt"]


def test_small_ignored_files_are_kept_and_marked_secret(make: Callable[..., Yard]) -> None:
    yard = make(with_git=True)
    yard.write(".gitignore", ".env\nbuild/\n")
    yard.write(".env", "KEY=old\n")
    yard.write("build/out.bin", "x")
    commit(yard)
    first = yard.take()
    assert [(each.path, each.why) for each in first.left_out] == [
        ("build", "git ignores the folder")
    ]
    yard.write(".env", "KEY=new\n")
    (change,) = yard.take().delta
    assert change.old is not None
    assert change.old.secret
    assert change.new is not None
    assert change.new.secret
    yard.open()
    yard.write(".env", "KEY=newer\n")
    (change,) = yard.take().delta
    assert change.new is not None
    assert change.new.secret


def test_what_git_no_longer_ignores_was_not_created_by_anybody(make: Callable[..., Yard]) -> None:
    """A revert must not delete a folder of packages because .gitignore was edited."""
    yard = make(with_git=True)
    yard.write(".gitignore", "packages/\n")
    yard.write("packages/one.js", "one\n")
    commit(yard)
    yard.take()
    yard.write(".gitignore", "")
    yard.take()
    yard.revert(yard.plan())
    assert yard.read("packages/one.js") == "one\n"
    assert yard.read(".gitignore") == "packages/\n"


@BOTH
def test_names_that_are_not_utf8_and_case_only_renames(
    make: Callable[..., Yard], with_git: bool
) -> None:
    yard = make(with_git=with_git)
    odd = os.fsdecode(b"caf\xe9 \n\t.txt")
    yard.write(odd, "odd\n")
    yard.write("Readme", "x\n")
    if with_git:
        commit(yard)
    yard.take()
    yard.write(odd, "agent\n")
    (yard.root / "Readme").rename(yard.root / "README")
    assert set(by_path(yard.take().delta)) == {odd, "Readme", "README"}
    yard.revert(yard.plan())
    assert yard.files() == {odd: "odd\n", "Readme": "x\n"}


@BOTH
def test_pipes_sockets_and_unreadable_files_are_named(
    make: Callable[..., Yard], with_git: bool
) -> None:
    yard = make(with_git=with_git)
    for name in ("pipe", "sock"):
        yard.write(name, "was a file\n")
    yard.take()
    for name in ("pipe", "sock"):
        (yard.root / name).unlink()
    os.mkfifo(yard.root / "pipe")
    with socket.socket(socket.AF_UNIX) as bound:
        here = Path.cwd()
        os.chdir(yard.root)
        bound.bind("sock")
        os.chdir(here)
        record = yard.take()
    why = {each.path: each.why for each in record.left_out}
    assert why == {"pipe": "it is a pipe, not a file", "sock": "it is a socket, not a file"}


@BOTH
def test_a_file_that_keeps_changing_is_left_out_and_found_later(
    make: Callable[..., Yard], with_git: bool
) -> None:
    yard = make(with_git=with_git)
    yard.write("log.txt", "0\n")
    yard.write("a.txt", "a\n")
    yard.take()
    yard.write("a.txt", "b\n")
    yard.write("log.txt", "1\n")
    with (yard.root / "log.txt").open("a") as log:

        def grow(path: str) -> None:
            if path == "log.txt":
                log.write("more\n")
                log.flush()

        found = yard.capture.take(on_read=grow)
    assert [change.path for change in found.delta] == ["a.txt"]
    assert [each.path for each in found.left_out] == ["log.txt"]
    yard.capture.settle()
    assert [change.path for change in yard.take().delta] == ["log.txt"]


def test_large_files_are_left_out_but_for_the_target_of_an_edit(make: Callable[..., Yard]) -> None:
    limits = replace(DEFAULT_LIMITS, file_bytes=100, target_bytes=1000)
    yard = make(with_git=True, limits=limits)
    yard.write("big.txt", "x" * 50)
    yard.write("target.txt", "x" * 50)
    yard.take()
    yard.write("big.txt", "y" * 500)
    yard.write("target.txt", "y" * 500)
    record = yard.take(targets=["target.txt"])
    changes = by_path(record.delta)
    assert [each.path for each in record.left_out] == ["big.txt"]
    assert changes["big.txt"].new is not None
    assert changes["big.txt"].new.hash == ""
    assert changes["target.txt"].new is not None
    assert changes["target.txt"].new.hash


@BOTH
def test_what_is_too_much_for_one_capture_is_named(
    make: Callable[..., Yard], with_git: bool
) -> None:
    yard = make(with_git=with_git, limits=replace(DEFAULT_LIMITS, capture_bytes=150))
    yard.take()
    for name in ("a.txt", "b.txt"):
        yard.write(name, name * 20)
    record = yard.take()
    why = "too much changed at once to keep all of it"
    assert [(each.path, each.why) for each in record.left_out] == [("b.txt", why)]
    news = {path: change.new for path, change in by_path(record.delta).items()}
    assert {path: bool(new and new.hash) for path, new in news.items()} == {
        "a.txt": True, "b.txt": False,
    }  # fmt: skip
    objects = [p for p in (yard.folder / "store" / "objects").rglob("*") if p.is_file()]
    assert len(objects) == 1


@BOTH
def test_two_gigabytes_are_not_read(
    make: Callable[..., Yard], monkeypatch: pytest.MonkeyPatch, with_git: bool
) -> None:
    yard = make(with_git=with_git)
    opened: list[str] = []
    real = os.open

    def open_noted(path: str, *arguments: int, **options: int) -> int:
        opened.append(str(path))
        return real(path, *arguments, **options)

    monkeypatch.setattr(os, "open", open_noted)
    huge = yard.root / "huge.bin"
    with huge.open("wb") as file:
        file.truncate(2 << 30)
    record = yard.take()
    assert [(each.path, each.why) for each in record.left_out] == [
        ("huge.bin", "it is larger than 16 MB")
    ]
    with huge.open("ab") as file:
        file.write(b"agent")
    assert [each.path for each in yard.take().left_out] == ["huge.bin"]
    plan = yard.plan()
    assert [each.path for each in plan.uncovered] == ["huge.bin"]
    assert not plan.paths
    assert "huge.bin" not in opened
    assert huge.stat().st_size == (2 << 30) + 5
    objects = [p for p in (yard.folder / "store" / "objects").rglob("*") if p.is_file()]
    assert not objects


@pytest.mark.parametrize("place", ["", "Desktop", "Documents", "Downloads"])
def test_places_that_are_not_projects_are_refused(tmp_path: Path, place: str) -> None:
    (tmp_path / place).mkdir(exist_ok=True)
    assert "; start in a " in reason_refused(str(tmp_path / place), str(tmp_path))
    assert "; start in a " in reason_refused("/", str(tmp_path))
    inside = tmp_path / place / "project"
    inside.mkdir()
    assert reason_refused(str(inside), str(tmp_path)) == ""


def test_a_plain_folder_over_the_caps_is_refused(make: Callable[..., Yard]) -> None:
    yard = make(limits=replace(DEFAULT_LIMITS, plain_files=3))
    for number in range(5):
        yard.write(f"{number}.txt", "x")
    record = yard.take()
    assert record.status == "none"
    assert "more than 3 files" in record.why


def test_a_stale_lock_of_ours_is_no_hindrance(
    make: Callable[..., Yard], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(git_scan, "_MOST_RECENT", 0)  # or the index would not be written
    yard = make(with_git=True)
    yard.write("a.txt", "a\n")
    yard.write("b.txt", "b\n")
    commit(yard)
    yard.take()
    folder = yard.folder / "store" / "sessions" / "s1"
    (folder / "index.lock").write_text("")
    yard.open()
    yard.write("a.txt", "b\n")
    (yard.root / "b.txt").unlink()
    assert len(yard.take().delta) == 2
    (folder / "index.lock").write_text("")  # of a git that took too long and was ended
    (yard.root / "a.txt").unlink()
    assert len(yard.take().delta) == 1


def test_a_lock_of_the_users_git_is_no_hindrance(make: Callable[..., Yard]) -> None:
    yard = make(with_git=True)
    yard.write("a.txt", "a\n")
    commit(yard)
    lock = yard.root / ".git" / "index.lock"
    lock.write_text("")
    yard.take()
    yard.write("a.txt", "b\n")
    assert len(yard.take().delta) == 1
    assert lock.read_text() == ""


@BOTH
def test_a_store_that_someone_deleted_is_begun_anew(
    make: Callable[..., Yard], with_git: bool
) -> None:
    yard = make(with_git=with_git)
    yard.write("a.txt", "a\n")
    yard.take()
    yard.write("a.txt", "agent\n")
    yard.take()
    subprocess.run(["rm", "-rf", str(yard.folder / "store")], check=True)
    yard.open()
    assert yard.take().status == "captured"
    plan = yard.plan()
    assert not plan.paths
    assert "no longer in the store" in plan.uncovered[0].why


def test_two_sessions_of_a_project_keep_apart(make: Callable[..., Yard]) -> None:
    yard = make(with_git=True)
    yard.write("a.txt", "a\n")
    yard.take()
    other = Yard(yard.folder)
    other.open("s2")
    other.take()
    yard.write("a.txt", "b\n")
    assert len(yard.take().delta) == len(other.take().delta) == 1
    with yard.store.locked(alone=True):
        found = other.capture.store
        found_lock = other.capture.take
        del found
        record = found_lock()
    assert record.status == "none"
    assert "another window" in record.why


def test_the_user_s_hooks_and_monitors_do_not_run(make: Callable[..., Yard]) -> None:
    yard = make(with_git=True)
    yard.write("a.txt", "a\n")
    commit(yard)
    trap = yard.folder / "ran"
    script = yard.folder / "trap"
    script.write_text(f"#!/bin/sh\ntouch {trap}\n")
    script.chmod(0o755)
    git(yard.root, "config", "core.fsmonitor", str(script))
    git(yard.root, "config", "filter.x.clean", str(script))
    hooks = yard.root / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    (hooks / "post-index-change").write_text(f"#!/bin/sh\ntouch {trap}\n")
    (hooks / "post-index-change").chmod(0o755)
    yard.write(".gitattributes", "*.txt filter=x\n")
    yard.take()
    yard.write("a.txt", "b\n")
    yard.take()
    assert not trap.exists()


def test_the_store_is_private_to_its_owner(make: Callable[..., Yard]) -> None:
    yard = make(with_git=True)
    before = os.umask(0)
    try:
        yard.write("a.txt", "a\n")
        yard.take()
        yard.write("a.txt", "b\n")
        yard.take()
    finally:
        os.umask(before)
    store = yard.folder / "store"
    assert store.stat().st_mode & 0o777 == 0o700
    objects = [place for place in (store / "objects").rglob("*") if place.is_file()]
    assert objects
    assert {place.stat().st_mode & 0o777 for place in objects} == {0o600}
