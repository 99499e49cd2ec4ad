"""What is read of a user's repository and settings before the first capture."""

from __future__ import annotations

import errno
import hashlib
import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from agent_tui.sessions.folders import project_name
from agent_tui.workspace import git_scan, seed
from agent_tui.workspace.capture import Capture
from agent_tui.workspace.errors import NotCovered
from agent_tui.workspace.git import Git, Running, find_repository, git_program
from agent_tui.workspace.git_index import Entry, entries_since, entry_at, newest_change
from agent_tui.workspace.git_listing import GitListing
from agent_tui.workspace.git_scan import GitScanner
from agent_tui.workspace.store import ContentStore
from tests.peak_memory import peak_memory
from tests.workspace.yard import Yard, by_path, git


def committed(folder: Path, *options: str) -> Yard:
    """A repository with a commit of two files, one of them with a long name."""
    yard = Yard(folder / "yard")
    git(yard.root, "init", "-q", *options)
    yard.write("a.txt", "a\n")
    yard.write(f"dir/{'long' * 50}", "b\n")
    git(yard.root, "add", "-A")
    git(yard.root, "commit", "-qm", "one")
    return yard


def plain(yard: Yard, algorithm: str = "sha1") -> bool:
    return newest_change((yard.root / ".git" / "index").read_bytes(), algorithm) is not None


def timed(index: bytes, algorithm: str, second: int) -> list[tuple[Entry, tuple[int, int]]]:
    """The entries that changed in a second or later, each with its times."""
    return [
        (entry_at(index, algorithm, place, path), (changed_at, written_at))
        for path, changed_at, written_at, place in entries_since(index, algorithm, second)
    ]


@pytest.mark.parametrize("algorithm", ["sha1", "sha256"])
def test_an_index_of_files_and_links_is_plain(tmp_path: Path, algorithm: str) -> None:
    yard = committed(tmp_path, f"--object-format={algorithm}")
    assert plain(yard, algorithm)
    for length in range(1, 20):  # a name is padded in another way for each length
        yard.write("n" * length, "n\n")
    (yard.root / "link").symlink_to("a.txt")
    git(yard.root, "add", "-A")
    assert plain(yard, algorithm)
    assert not plain(yard, "sha999")
    newest = max(int(path.lstat().st_ctime) for path in yard.root.iterdir() if not path.is_dir())
    assert newest_change((yard.root / ".git" / "index").read_bytes(), algorithm) == newest


@pytest.mark.parametrize(
    "arguments",
    [
        ("update-index", "--assume-unchanged", "a.txt"),
        ("update-index", "--skip-worktree", "a.txt"),
        ("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},module"),
        ("update-index", "--index-version", "4"),
    ],
)
def test_what_git_status_does_not_tell_makes_an_index_not_plain(
    tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    yard = committed(tmp_path)
    git(yard.root, *arguments)
    assert not plain(yard)


@pytest.mark.parametrize("algorithm", ["sha1", "sha256"])
@pytest.mark.parametrize("version", ["2", "3", "4"])
def test_entries_are_read_as_git_reads_them(tmp_path: Path, algorithm: str, version: str) -> None:
    yard = committed(tmp_path, f"--object-format={algorithm}")
    for length in (1, 2, 9, 200):
        yard.write("dir/" + "n" * length, f"{length}\n", 0o755)
    (yard.root / "link").symlink_to("a.txt")
    git(yard.root, "add", "-A")
    oid = git(yard.root, "rev-parse", "HEAD:a.txt").strip()
    beyond = "/".join(["d" * 200] * 21)  # longer than an entry can say
    git(yard.root, "update-index", "--add", "--cacheinfo", f"100644,{oid},{beyond}")
    if version == "3":
        yard.write("later.txt", "later\n")
        git(yard.root, "add", "-N", "later.txt")
    git(yard.root, "update-index", "--index-version", version)
    data = (yard.root / ".git" / "index").read_bytes()
    assert data[7] == int(version)
    found = [
        f"{entry.mode} {entry.oid} 0\t{os.fsdecode(entry.path)}"
        for entry, _ in timed(data, algorithm, 0)
    ]
    assert found == git(yard.root, "ls-files", "-s", "-z").rstrip("\0").split("\0")
    for entry, times in timed(data, algorithm, 1):  # what is not added yet has no times
        status = (yard.root / os.fsdecode(entry.path)).lstat()
        assert times == (status.st_ctime_ns, status.st_mtime_ns)
    assert not timed(data, algorithm, 1 << 32)
    for end in range(0, len(data), 7):
        assert len(timed(data[:end], algorithm, 0)) <= len(found)


def test_attributes_and_damage_make_an_index_not_plain(tmp_path: Path) -> None:
    yard = committed(tmp_path)
    index = (yard.root / ".git" / "index").read_bytes()
    assert all(newest_change(index[:end], "sha1") is None for end in range(80))
    yard.write("dir/.gitattributes", "*.txt text\n")
    git(yard.root, "add", "-A")
    assert not plain(yard)


@pytest.mark.parametrize("place", ["own", "included", "default", "none"])
def test_what_a_user_ignores_everywhere_is_heeded_from_the_first_capture_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """Settings may be spread over files that only git can find; a guess may be wrong."""
    home = tmp_path / "home"
    (home / ".config" / "git").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    rules = home / (".config/git/ignore" if place == "default" else "rules")
    rules.write_text("*.log\n")
    settings = f"[core]\n\texcludesFile = {rules}\n"
    if place == "own":
        (home / ".gitconfig").write_text("[core]\n\texcludesFile = ~/rules\n")
    elif place == "included":
        (home / ".gitconfig").write_text(f"[include]\n\tpath = {home}/more\n")
        (home / "more").write_text(settings)
    listed: list[int] = []
    real = GitListing._list_all

    def list_all(self: GitListing, *arguments: object) -> None:
        listed.append(1)
        real(self, *arguments)  # type: ignore[arg-type]  # passed on

    monkeypatch.setattr(GitListing, "_list_all", list_all)
    yard = committed(tmp_path)
    yard.write("x.log", "secret\n")
    yard.take()
    assert len(listed) == (2 if place == "included" else 1)
    yard.write("x.log", "changed\n")
    change = by_path(yard.take().delta)["x.log"]
    assert change.old is not None
    assert change.new is not None
    assert (change.old.secret, change.new.secret) == (place != "none", place != "none")


def test_what_a_user_begins_to_ignore_meanwhile_is_local_configuration(tmp_path: Path) -> None:
    yard = committed(tmp_path)
    yard.write("old.env", "one\n")
    for _ in range(3):  # from the third look on, only what changed is listed
        yard.take()
    (yard.root / ".git" / "info" / "exclude").write_text("*.env\n")
    yard.write("old.env", "two\n")
    yard.write("new.env", "new\n")
    changes = by_path(yard.take().delta)
    assert set(changes) == {"old.env", "new.env"}
    assert all(each.new and each.new.secret for each in changes.values())


@pytest.mark.parametrize(
    ("place", "settings"),
    [
        ("", ""),
        ("home/.gitconfig", "[core]\n\tAutoCRLF = true\n"),
        ("home/.gitconfig", '[includeIf "gitdir:~/"]\n\tpath = more\n'),
        ("home/.config/git/config", "[core]\n\teol = crlf\n"),
        ("yard/project/.git/config", "[core]\n\tattributesFile = x\n"),
        ("yard/project/.git/config.worktree", "[core]\n\texcludesfile = x\n"),
    ],
)
def test_git_is_asked_for_settings_where_a_file_may_have_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, settings: str
) -> None:
    """Reading five small files is quicker than a process, where they say nothing of it."""
    home = tmp_path / "home"
    (home / ".config" / "git").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setattr(seed, "_MACHINE", str(tmp_path / "none"))
    monkeypatch.setattr(seed, "_USUAL", git_program())
    yard = committed(tmp_path)
    if place:
        with (tmp_path / place).open("a") as file:
            file.write(settings)
    repository = find_repository(str(yard.root))
    assert repository is not None
    user = seed.UserSettings(repository)
    asked = user._process is not None
    user.stop()
    assert asked is (bool(place) or sys.platform != "linux")


def test_what_a_user_converts_everywhere_is_kept_as_it_stands_in_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The object in the repository has the same size, and is something else."""
    yard = Yard(tmp_path / "yard", with_git=True)
    monkeypatch.setenv("HOME", str(yard.folder))  # that of the user's git, too
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    attributes = yard.folder / ".config" / "git" / "attributes"
    attributes.parent.mkdir(parents=True)
    attributes.write_text("*.txt filter=x\n")
    git(yard.root, "config", "filter.x.clean", "sed s/word/WORD/")
    os.utime(yard.write("a.txt", "word\n"), ns=(10**18, 10**18))  # or git would read it again
    git(yard.root, "add", "-A")
    git(yard.root, "commit", "-qm", "one")
    assert git(yard.root, "show", ":a.txt") == "WORD\n"
    yard.take()
    yard.write("a.txt", "agent\n")
    (change,) = yard.take().delta
    assert change.old is not None
    assert change.old.hash == hashlib.sha256(b"word\n").hexdigest()
    yard.revert(yard.plan())
    assert yard.read("a.txt") == "word\n"


def test_files_that_are_as_new_as_the_index_are_read_once(tmp_path: Path) -> None:
    """As after a clone: git compares their contents until its index is written again."""
    yard = committed(tmp_path)
    then = 1_700_000_000
    for path in (yard.root / "a.txt", *(yard.root / "dir").iterdir()):
        os.utime(path, (then, then))
    git(yard.root, "add", "-A")
    os.utime(yard.root / ".git" / "index", (then, then))
    yard.take()
    (index,) = (yard.folder / "store").glob("sessions/*/index")
    assert index.stat().st_mtime > then
    assert (yard.root / ".git" / "index").stat().st_mtime == then


def settle_down(yard: Yard) -> None:
    """Let the files be older than the index, as they are soon after a commit."""
    (yard.root / "a.txt").touch()  # which git would note
    then = max(path.lstat().st_mtime for path in yard.root.rglob("*") if path.is_file())
    os.utime(yard.root / ".git" / "index", (then + 60, then + 60))


def test_the_users_index_is_read_and_never_written(tmp_path: Path) -> None:
    """git would note that a file has another time and the same content."""
    yard = committed(tmp_path)
    time.sleep(1.1)
    settle_down(yard)
    index = yard.root / ".git" / "index"
    before, status = index.read_bytes(), index.stat()
    repository = find_repository(str(yard.root))
    assert repository
    assert seed.mark_to_read(repository)
    assert yard.take().status == "captured"
    assert (index.read_bytes(), index.stat()) == (before, status)


def test_an_index_that_changes_while_git_reads_it_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody adds a file between git's look and the copy: it is theirs, and no new one."""
    yard = committed(tmp_path)
    settle_down(yard)
    yard.write("b.txt", "theirs\n")
    real = seed.copy_index

    def copy_later(*arguments: Any) -> None:
        time.sleep(0.2)  # git has read it by now
        git(yard.root, "add", "b.txt")
        git(yard.root, "commit", "-qm", "two")
        real(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(git_scan, "copy_index", copy_later)
        assert yard.take().files == 3
    yard.open()
    assert yard.take().delta == ()
    assert "b.txt" not in (yard.folder / "store/sessions/s1/recent.json").read_text()


def test_git_is_ended_where_the_index_cannot_be_copied_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    yard = committed(tmp_path)
    settle_down(yard)
    real, started = Git.start, list[Running]()

    def start(*arguments: Any, **options: Any) -> Running:
        started.append(real(*arguments, **options))
        return started[-1]

    def refuse(*_: Any) -> None:
        raise NotCovered("the index of the repository changed while it was read")

    monkeypatch.setattr(Git, "start", start)
    monkeypatch.setattr(git_scan, "copy_index", refuse)
    yard.take()
    assert [each._process.returncode is not None for each in started] == [True]


@pytest.mark.parametrize("kind", ["split", "as new as a file", "none"])
def test_git_reads_a_copy_where_the_index_alone_does_not_do(tmp_path: Path, kind: str) -> None:
    yard = committed(tmp_path) if kind != "none" else Yard(tmp_path / "yard", with_git=True)
    if kind == "split":
        git(yard.root, "update-index", "--split-index")
        settle_down(yard)
    elif kind != "none":
        newest = (yard.root / "a.txt").lstat().st_mtime
        os.utime(yard.root / ".git" / "index", (newest, newest))
    repository = find_repository(str(yard.root))
    assert repository
    assert seed.mark_to_read(repository) is None
    assert yard.take().status == "captured"
    yard.write("a.txt", "agent\n")
    assert [each.path for each in yard.take().delta] == ["a.txt"]


def test_sessions_share_what_git_is_told_and_replace_it_whole(tmp_path: Path) -> None:
    yard = committed(tmp_path)
    yard.take()
    (head,) = (yard.folder / "store").glob("git/*/HEAD")
    first = git(yard.root, "rev-parse", "HEAD")
    with head.open() as seen:  # as a git of the first session that has just opened it
        git(yard.root, "commit", "-q", "--allow-empty", "-m", "two")
        yard.open("s2")
        yard.take()
        assert seen.read() == first
    assert head.read_text().strip() == git(yard.root, "rev-parse", "HEAD").strip()
    kept = [path.name for path in (yard.folder / "store/sessions/s2").iterdir()]
    assert sorted(kept) == ["index", "repository.json"]
    assert not list(head.parent.rglob("*.tmp"))


def test_settings_that_cannot_be_written_leave_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    yard = committed(tmp_path)

    def fail(path: str, _: object) -> None:
        assert Path(path).exists()
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "rename", fail)
        assert yard.take().status == "none"
    folder = yard.folder / "store"
    assert list(folder.glob("git/*"))
    assert not list(folder.rglob("*.tmp"))
    assert yard.take().status == "captured"


def keeping_out(folder: Path, name: str, algorithm: str, store: Path) -> Yard:
    """A repository whose own settings ignore one name, captured into a store."""
    yard = Yard(folder)
    git(yard.root, "init", "-q", f"--object-format={algorithm}")
    yard.write("a.txt", f"{folder}\n")
    git(yard.root, "add", "-A")
    git(yard.root, "commit", "-qm", "one")
    (yard.root / ".git" / "info" / "exclude").write_text(f"{name}\n")
    yard.store = ContentStore(str(store), folder.name)
    yard.capture = Capture(str(yard.root), yard.store, yard.limits, str(folder / "home"))
    return yard


@pytest.mark.parametrize("algorithm", ["sha1", "sha256"])
def test_two_repositories_of_one_project_name_are_told_apart(
    tmp_path: Path, algorithm: str
) -> None:
    folders = tmp_path / "a" / "b-c", tmp_path / "a-b" / "c"
    assert project_name(str(folders[0])) == project_name(str(folders[1]))
    first = keeping_out(folders[0], "one", "sha1", tmp_path / "store")
    first.take()
    second = keeping_out(folders[1], "two", algorithm, tmp_path / "store")
    second.take()
    for yard, ignored in ((first, "one"), (second, "two")):
        for name in ("a.txt", "one", "two"):
            yard.write(name, "new\n")
        changes = by_path(yard.take().delta)
        assert set(changes) == {"a.txt", "one", "two"}
        secret = {name for name, change in changes.items() if change.new and change.new.secret}
        assert secret == {ignored}
        before = changes["a.txt"].old
        assert before
        assert yard.store.get(before.hash) == f"{yard.folder}\n".encode()


def begun(yard: Yard) -> None:
    """A work tree with a file of a person's and a hidden change, whose first capture is lost."""
    git(yard.root, "update-index", "--assume-unchanged", "a.txt")
    yard.write("a.txt", "hidden\n")
    yard.write("mine.txt", "not added\n")
    assert yard.capture.take().first


@pytest.mark.parametrize("again", [False, True])
def test_what_was_there_is_no_change_until_the_first_capture_is_logged(
    tmp_path: Path, *, again: bool
) -> None:
    """The log could not be written, or the program was killed before that."""
    yard = committed(tmp_path)
    begun(yard)
    if again:
        yard.open()
    found = yard.capture.take()
    assert (found.first, found.delta) == (True, ())
    yard.capture.settle()
    yard.write("mine.txt", "agent\n")
    yard.write("a.txt", "agent\n")
    changes = by_path(yard.take().delta)
    olds = {
        path: change.old and yard.store.get(change.old.hash) for path, change in changes.items()
    }
    assert olds == {"a.txt": b"hidden\n", "mine.txt": b"not added\n"}


def test_a_first_capture_of_which_half_was_settled_begins_again(tmp_path: Path) -> None:
    yard = committed(tmp_path)
    begun(yard)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(GitScanner, "_settle_index", lambda _: None)  # it was killed before that
        yard.capture.settle()
    yard.open()
    assert yard.capture.take().first


def test_a_session_of_an_older_version_goes_on_where_it_was(tmp_path: Path) -> None:
    """It kept what its workspace looked like in a folder of its own."""
    yard = committed(tmp_path)
    older = yard.folder / "store" / "sessions" / "s1" / "root"
    older.mkdir(parents=True)
    yard.write("mine.txt", "one\n")
    yard.take()
    kept = ["index", "recent.json", "repository.json"]
    assert sorted(path.name for path in older.iterdir()) == kept
    (older / "repository.json").unlink()  # which an older version did not write
    yard.write("mine.txt", "two\n")
    yard.open()
    (change,) = yard.take().delta
    assert change.old
    assert yard.store.get(change.old.hash) == b"one\n"
    assert sorted(path.name for path in older.iterdir()) == kept


def test_the_part_of_an_index_that_a_killed_program_left_is_removed(tmp_path: Path) -> None:
    yard = committed(tmp_path)
    session = yard.folder / "store" / "sessions" / "s1"
    session.mkdir(parents=True)
    (session / f"sharedindex.{'0' * 40}").write_bytes(b"half of")
    assert yard.take().status == "captured"
    assert not list(session.glob("sharedindex.*"))


def test_an_index_in_two_parts_is_captured_whole(tmp_path: Path) -> None:
    yard = committed(tmp_path)
    git(yard.root, "update-index", "--split-index")
    yard.write("b.txt", "b\n")
    git(yard.root, "add", "b.txt")
    assert list((yard.root / ".git").glob("sharedindex.*"))
    before = {path.name: path.read_bytes() for path in (yard.root / ".git").glob("*index*")}
    assert yard.take().status == "captured"
    for name in ("a.txt", "b.txt"):
        yard.write(name, "agent\n")
    olds = {each.path: each.old and yard.store.get(each.old.hash) for each in yard.take().delta}
    assert olds == {"a.txt": b"a\n", "b.txt": b"b\n"}
    assert {path.name: path.read_bytes() for path in (yard.root / ".git").glob("*index*")} == before
    kept = [path.name for path in (yard.folder / "store" / "sessions" / "s1").iterdir()]
    assert sorted(kept) == ["index", "recent.json", "refs", "repository.json"]


def test_contents_are_found_in_a_folder_whose_name_has_two_lines(tmp_path: Path) -> None:
    yard = committed(tmp_path / 'two\nlines\\ and "more"')
    yard.take()
    yard.write("a.txt", "agent\n")
    (change,) = yard.take().delta
    assert change.old
    assert yard.store.get(change.old.hash) == b"a\n"


@pytest.mark.parametrize(
    "settings",
    [
        '[core]\nrepositoryformatversion = 1\n[extensions]\n\tobjectFormat = "sha256"\n',
        "[core]\nrepositoryformatversion = 1\n[extensions] objectFormat = sha256\n",
    ],
)
def test_the_names_of_objects_are_those_that_the_settings_say(
    tmp_path: Path, settings: str
) -> None:
    yard = committed(tmp_path, "--object-format=sha256")
    (yard.root / ".git" / "config").write_text(settings)
    git(yard.root, "status")
    assert yard.take().status == "captured"
    repository = find_repository(str(yard.root))
    assert repository
    assert repository.object_format() == "sha256"


@pytest.mark.parametrize("name", ["index", "info/exclude", "config", "HEAD", "packed-refs"])
@pytest.mark.parametrize("kind", ["device", "huge", "pipe"])
def test_what_a_strange_repository_has_in_place_of_gits_files_fills_no_memory(
    tmp_path: Path, name: str, kind: str
) -> None:
    yard = committed(tmp_path)
    place = yard.root / ".git" / name
    place.unlink(missing_ok=True)
    match kind:
        case "device":
            place.symlink_to("/dev/zero")
        case "huge":
            with place.open("wb") as file:
                file.truncate(3_000_000_000)
        case _:
            os.mkfifo(place)
    with peak_memory() as peak:
        assert yard.take().status == "captured"
    assert peak.grown_mb < 200
    kept = (tmp_path / "yard" / "store").rglob("*")
    assert sum(path.stat().st_size for path in kept) < 10_000_000
