"""Setting up git's folder of ours: what is read of the user's repository, and nothing else."""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property

from agent_tui.core.dataclass import dataclass
from agent_tui.workspace.errors import NotCovered
from agent_tui.workspace.folder_names import Mark, mark_of
from agent_tui.workspace.folders import LARGEST_FOREIGN_FILE, make_private_folder, read_whole
from agent_tui.workspace.git import Git, Repository, git_program
from agent_tui.workspace.git_index import newest_change
from agent_tui.workspace.scanning import STAGING_PREFIX

_ATTRIBUTES = b"* -text -ident -filter -working-tree-encoding\n"
_CONVERTING = ("filter", "ident", "working-tree-encoding")
_SECOND = 1_000_000_000
_ASKED = r"^core\.(excludesfile|autocrlf|eol|attributesfile)$"


def write_settings(folder: str, repository: Repository, algorithm: str) -> None:
    """A git folder without history: the user's objects to read, no conversion of any content.

    Another session may be using it: each file is there whole at any time.
    """
    for name in ("objects/info", "refs", "info"):
        make_private_folder(os.path.join(folder, name), durable=False)
    config = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n"
    if algorithm != "sha1":
        config = (
            "[core]\n\trepositoryformatversion = 1\n\tbare = false\n"
            f"[extensions]\n\tobjectFormat = {algorithm}\n"
        )
    theirs = (_read(repository.exclude) or b"")[: 1 << 20]
    alternates = _line(os.fsencode(os.path.join(repository.common, "objects")))
    files = {
        "HEAD": f"{repository.commit() or 'ref: refs/heads/none'}\n".encode(),
        "config": config.encode(),
        "info/attributes": _ATTRIBUTES,
        "info/exclude": theirs + f"\n/{STAGING_PREFIX}*\n".encode(),
        "objects/info/alternates": alternates,
    }
    for name, data in files.items():
        path = os.path.join(folder, name)
        if _read(path) != data:
            _replace(path, data)


def _replace(path: str, data: bytes) -> None:
    """Not flushed: what a power cut takes is written again by the next one who opens it."""
    temporary = f"{path}.{os.getpid()}.{threading.get_ident()}.tmp"
    try:
        with open(temporary, "wb", opener=_private) as file:
            file.write(data)
        os.rename(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def _line(path: bytes) -> bytes:
    """A path as a line of git's; in quotes where it is more than a line."""
    if b"\n" not in path:
        return path + b"\n"
    for sign, escaped in ((b"\\", b"\\\\"), (b'"', b'\\"'), (b"\n", b"\\n")):
        path = path.replace(sign, escaped)
    return b'"%s"\n' % path


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW, 0o600)


def copy_index(repository: Repository, git: Git) -> None:
    """Begin with the user's index; its time goes along, by which git knows what it cannot trust."""
    _remove_parts(git)  # of one that a killed program was joining
    try:
        status = _require_sane(repository.index)
        shutil.copyfile(repository.index, git.index, follow_symlinks=True)
        if os.stat(repository.index).st_ino != status.st_ino:
            raise NotCovered("the index of the repository changed while it was read")
    except FileNotFoundError:
        with suppress(FileNotFoundError):
            os.unlink(git.index)
        return
    os.chmod(git.index, 0o600)
    os.utime(git.index, ns=(status.st_atime_ns, status.st_mtime_ns))
    _join_index(repository, git)


def _require_sane(index: str) -> os.stat_result:
    """Raises NotCovered for what is no regular file, or would fill the disk: it is copied."""
    status = os.stat(index)
    if not stat.S_ISREG(status.st_mode) or status.st_size > LARGEST_FOREIGN_FILE:
        raise NotCovered("the index of the repository is not a regular file, or too large")
    return status


def mark_to_read(repository: Repository) -> Mark | None:
    """What tells the user's index from another, where git may read it while it is copied.

    None where it is split in two, or not there, or as new as a file in it: git reads such files
    every time, until it may write the index, as it may a copy.
    """
    if _parts_in(repository.git_folder):
        return None
    mark, index = mark_of(repository.index), _read(repository.index)
    if mark is None or index is None:
        return None
    second = (mark[1] // _SECOND & 0xFFFF_FFFF).to_bytes(4, "big")
    return None if second in index else mark


def _join_index(repository: Repository, git: Git) -> None:
    """Let an index be whole that git splits in two: the larger part is a file beside it."""
    parts = _parts_in(repository.git_folder)
    if not parts:
        return
    try:
        for part in parts:
            _require_sane(part.path)
            shutil.copyfile(part.path, os.path.join(os.path.dirname(git.index), part.name))
        git.run("update-index", "--no-split-index")
    finally:
        _remove_parts(git)


def _parts_in(folder: str) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        return [entry for entry in entries if entry.name.startswith("sharedindex.")]


def _remove_parts(git: Git) -> None:
    for part in _parts_in(os.path.dirname(git.index)):
        with suppress(OSError):
            os.unlink(part.path)


@dataclass(frozen=True, slots=True)
class Truth:
    """What an index that was just copied does not say by itself.

    Attributes:
        converted: paths whose objects are not what stands in the files.
        links: submodules. ``hidden``: whether paths were hidden that are not any longer.
    """

    converted: set[str]
    links: set[str]
    hidden: bool


LISTING = ("ls-files", "-v", "-s", "-z", "--full-name", "--", ".")
_HIDDEN = re.compile(rb"\0[a-zS] [^\t\0]*\t([^\0]+)")
_LINK = re.compile(rb"\0. 160000 [^\t\0]*\t([^\0]+)")
_FILE = re.compile(rb"\0. 1[02][0-9]{4} ([0-9a-f]+) [^\t\0]*\t([^\0]+)")


def read_newest(
    git: Git, repository: Repository, settings: UserSettings, algorithm: str
) -> int | None:
    """The second in which an entry changed last, of an index that tells the whole truth.

    None where it may not: then LISTING has to be asked.
    """
    newest = newest_change(_read(git.index) or b"", algorithm)
    return None if _may_convert(repository, settings, b"") else newest


def unhide(git: Git, repository: Repository, settings: UserSettings, printed: bytes) -> Truth:
    """Let the index tell the whole truth; ``printed`` is what git says to LISTING.

    A user may have told git not to look at some paths. And where a content is converted on its
    way to the disk (line ends, identifiers, filters), the object is not what stands in the file.
    """
    printed = b"\0" + printed
    hidden = [found[1] for found in _HIDDEN.finditer(printed)]
    links = set()
    if b" 160000 " in printed:  # or it is searched for at every path
        links = {
            os.path.relpath(os.path.join(repository.top, os.fsdecode(found[1])), git.start_folder)
            for found in _LINK.finditer(printed)
        }
    if hidden:
        top = Git(git.folder, repository.top, repository.top, 30, git.index)
        for option in ("--no-assume-unchanged", "--no-skip-worktree"):
            top.run("update-index", "-z", option, "--stdin", data=_joined(hidden))
    converted = set(_converted(git, repository, settings, printed))
    return Truth(converted, links, bool(hidden))


def _converted(
    git: Git, repository: Repository, settings: UserSettings, printed: bytes
) -> Iterator[str]:
    """The paths that an attribute or a setting of the user's converts."""
    if not _may_convert(repository, settings, printed):
        return
    paths = [(found[2], found[1].decode()) for found in _FILE.finditer(printed)]
    asked = "".join(f"{oid}\n" for _, oid in paths).encode()
    sizes = git.run("cat-file", "--batch-check=%(objectsize)", data=asked).split(b"\n")
    doubtful = set(_filtered(repository, settings, [name for name, _ in paths]))
    for (name, _), size in zip(paths, sizes, strict=False):
        path = os.path.join(repository.top, os.fsdecode(name))
        try:
            status = os.lstat(path)
        except OSError:
            continue
        if name in doubtful or not size.isdigit() or int(size) != status.st_size:
            yield os.path.relpath(path, git.start_folder)


def _may_convert(repository: Repository, settings: UserSettings, printed: bytes) -> bool:
    files = (os.path.join(repository.common, "info", "attributes"), settings.attributes)
    return (
        b".gitattributes\0" in printed
        or any(os.path.exists(file) for file in files)
        or os.path.exists(os.path.join(repository.top, ".gitattributes"))
        or settings.converts
    )


def _filtered(
    repository: Repository, settings: UserSettings, names: list[bytes]
) -> Iterator[bytes]:
    """The paths whose content a program, an identifier or an encoding changes."""
    if not any(
        word in _text(path)
        for path in (settings.attributes, *_attribute_files(repository, names))
        for word in ("filter", "ident", "encoding")
    ):
        return
    process = subprocess.run(
        [git_program(), "-C", repository.top, "check-attr", "-z", "--stdin", *_CONVERTING],
        input=_joined(names),
        capture_output=True,
        check=False,
        timeout=30,
        env={"PATH": os.environ.get("PATH", os.defpath), "HOME": os.environ.get("HOME", "/")},
    )
    fields = process.stdout.split(b"\0")
    for name, _, value in zip(fields[::3], fields[1::3], fields[2::3], strict=False):
        if value not in (b"unspecified", b"unset"):
            yield name


def _attribute_files(repository: Repository, names: list[bytes]) -> Iterator[str]:
    yield os.path.join(repository.common, "info", "attributes")
    for name in names:
        if name.rpartition(b"/")[2] == b".gitattributes":
            yield os.path.join(repository.top, os.fsdecode(name))


_USUAL, _MACHINE = "/usr/bin/git", "/etc/gitconfig"
_TELLING = re.compile(rb"(?i)excludesfile|autocrlf|eol|attributesfile|include")
_EXCLUDES = re.compile(r"(?im)^\s*excludesfile\s*=(.*)$")


class UserSettings:
    """What a user's git is told that matters here; asked for when this is made, read later."""

    def __init__(self, repository: Repository) -> None:
        self._top = repository.top
        self._environment = {
            name: os.environ[name]
            for name in ("PATH", "HOME", "XDG_CONFIG_HOME")
            if name in os.environ
        }
        self._process: subprocess.Popen[bytes] | None = None
        if _says_nothing(repository):
            return
        with suppress(OSError):
            self._process = subprocess.Popen(
                [git_program(), "config", "-z", "--get-regexp", _ASKED],
                cwd=self._top,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )

    @property
    def excludes(self) -> str:
        """The file that says what git ignores everywhere; empty where there is none."""
        return self._existing(self._told.get("core.excludesfile") or _user_file("ignore"))

    def guess_excludes(self) -> str:
        """What ``excludes`` will most likely be, without waiting for git."""
        if self._process is None:
            return self.excludes
        for place in (_user_file("config"), os.path.expanduser("~/.gitconfig")):
            if found := _EXCLUDES.findall(_text(place)):
                return self._existing(found[-1].strip().strip('"'))
        return self._existing(_user_file("ignore"))

    @property
    def attributes(self) -> str:
        """The file with the attributes that hold everywhere, if it is there."""
        return self._place(self._told.get("core.attributesfile") or _user_file("attributes"))

    def _place(self, told: str) -> str:
        return os.path.join(self._top, os.path.expanduser(told))

    def _existing(self, told: str) -> str:
        place = self._place(told)
        return place if os.path.exists(place) else ""

    @property
    def converts(self) -> bool:
        """Whether contents may be converted on their way to the disk."""
        names = ("core.autocrlf", "core.eol")
        return any(self._told.get(name, "false") != "false" for name in names)

    @cached_property
    def _told(self) -> dict[str, str]:
        if self._process is None:
            return {}
        try:
            printed = self._process.communicate(timeout=10)[0]
        except subprocess.TimeoutExpired:
            self.stop()
            return {}
        rows = (os.fsdecode(row).partition("\n") for row in printed.split(b"\0") if row)
        return {name: value for name, _, value in rows}

    def stop(self) -> None:
        """Nobody asks any more."""
        if self._process is None or self._process.stdout is None or self._process.stdout.closed:
            return
        self._process.kill()
        self._process.stdout.close()
        self._process.wait()


def _says_nothing(repository: Repository) -> bool:
    """Whether no file of settings that git reads here has a word of those that are asked for.

    Where the files of the machine are is known of the usual place of git alone.
    """
    if sys.platform != "linux" or git_program() != _USUAL:
        return False
    places = (
        _MACHINE,
        _user_file("config"),
        os.path.expanduser("~/.gitconfig"),
        os.path.join(repository.common, "config"),
        os.path.join(repository.git_folder, "config.worktree"),
    )
    for place in places:
        try:
            if _TELLING.search(read_whole(place, through_links=True)):
                return False
        except FileNotFoundError:
            continue
        except OSError:
            return False
    return True


def _user_file(name: str) -> str:
    """A file of the user's settings for git."""
    base = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    return os.path.join(base, "git", name)


def _joined(names: list[bytes]) -> bytes:
    return b"".join(name + b"\0" for name in names)


def _read(path: str) -> bytes | None:
    try:
        return read_whole(path, through_links=True)
    except OSError:
        return None


def _text(path: str) -> str:
    return os.fsdecode(_read(path) or b"")
