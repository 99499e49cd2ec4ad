"""Setting up git's folder of ours: what is read of the user's repository, and nothing else."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property

from agent_tui.core.dataclass import dataclass
from agent_tui.workspace.errors import NotCovered
from agent_tui.workspace.folders import make_private_folder
from agent_tui.workspace.git import Git, Repository, git_program
from agent_tui.workspace.git_index import is_plain
from agent_tui.workspace.scanning import STAGING_PREFIX

_ATTRIBUTES = b"* -text -ident -filter -working-tree-encoding\n"
_CONVERTING = ("filter", "ident", "working-tree-encoding")
_ASKED = r"^core\.(excludesfile|autocrlf|eol|attributesfile)$"


def write_settings(folder: str, repository: Repository, algorithm: str) -> None:
    """A git folder without history: the user's objects to read, no conversion of any content."""
    for name in ("objects/info", "refs", "info"):
        make_private_folder(os.path.join(folder, name), durable=False)
    config = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n"
    if algorithm != "sha1":
        config = (
            "[core]\n\trepositoryformatversion = 1\n\tbare = false\n"
            f"[extensions]\n\tobjectFormat = {algorithm}\n"
        )
    exclude = os.path.join(repository.common, "info", "exclude")
    theirs = b""
    with suppress(OSError), open(exclude, "rb") as file:
        theirs = file.read(1 << 20)
    alternates = os.fsencode(os.path.join(repository.common, "objects")) + b"\n"
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
            with open(path, "wb", opener=_private) as file:
                file.write(data)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW, 0o600)


def copy_index(repository: Repository, folder: str) -> None:
    """Begin with the user's index; its time goes along, by which git knows what it cannot trust."""
    target = os.path.join(folder, "index")
    try:
        status = os.stat(repository.index)
        shutil.copyfile(repository.index, f"{target}.tmp", follow_symlinks=True)
        if os.stat(repository.index).st_ino != status.st_ino:
            raise NotCovered("the index of the repository changed while it was read")
    except FileNotFoundError:
        return
    os.chmod(f"{target}.tmp", 0o600)
    os.utime(f"{target}.tmp", ns=(status.st_atime_ns, status.st_mtime_ns))
    os.rename(f"{target}.tmp", target)


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


def list_index(git: Git, repository: Repository, settings: UserSettings, algorithm: str) -> bytes:
    """What git says to LISTING; nothing where the index tells the whole truth as it is."""
    index = _read(os.path.join(git.folder, "index")) or b""
    if is_plain(index, algorithm) and not _may_convert(repository, settings, b""):
        return b""
    return git.run(*LISTING)


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
        top = Git(git.folder, repository.top, repository.top, 30)
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
            with open(place, "rb") as file:
                if _TELLING.search(file.read()):
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
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return None


def _text(path: str) -> str:
    return os.fsdecode(_read(path) or b"")
