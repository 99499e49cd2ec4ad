"""Setting up git's folder of ours: what is read of the user's repository, and nothing else."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import suppress

from agent_tui.core.dataclass import dataclass
from agent_tui.workspace.errors import NotCovered
from agent_tui.workspace.folders import make_private_folder
from agent_tui.workspace.git import Git, Repository, git_program
from agent_tui.workspace.scanning import STAGING_PREFIX

_ATTRIBUTES = b"* -text -ident -filter -working-tree-encoding\n"
_CONVERTING = ("filter", "ident", "working-tree-encoding")


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


def unhide(git: Git, repository: Repository, printed: bytes) -> Truth:
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
    return Truth(set(_converted(git, repository, printed)), links, bool(hidden))


def _converted(git: Git, repository: Repository, printed: bytes) -> Iterator[str]:
    """The paths that an attribute or a setting of the user's converts."""
    if not _may_convert(repository, printed):
        return
    paths = [(found[2], found[1].decode()) for found in _FILE.finditer(printed)]
    asked = "".join(f"{oid}\n" for _, oid in paths).encode()
    sizes = git.run("cat-file", "--batch-check=%(objectsize)", data=asked).split(b"\n")
    doubtful = set(_filtered(repository, [name for name, _ in paths]))
    for (name, _), size in zip(paths, sizes, strict=False):
        path = os.path.join(repository.top, os.fsdecode(name))
        try:
            status = os.lstat(path)
        except OSError:
            continue
        if name in doubtful or not size.isdigit() or int(size) != status.st_size:
            yield os.path.relpath(path, git.start_folder)


def _may_convert(repository: Repository, printed: bytes) -> bool:
    if b".gitattributes\0" in printed:
        return True
    if os.path.exists(os.path.join(repository.common, "info", "attributes")):
        return True
    if os.path.exists(os.path.join(repository.top, ".gitattributes")):
        return True
    settings = _ask_user(repository.top, "--get-regexp", r"^core\.(autocrlf|eol|attributesfile)$")
    return bool(re.search(r"(?m)^core\.\S+ (?!false$)", settings))


def _filtered(repository: Repository, names: list[bytes]) -> Iterator[bytes]:
    """The paths whose content a program, an identifier or an encoding changes."""
    if not any(
        word in _text(path)
        for path in _attribute_files(repository, names)
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


def excludes_file() -> str:
    """The file in which a user says what git ignores everywhere; empty where there is none."""
    told = _ask_user("/", "--type=path", "--get", "core.excludesFile").strip()
    if told:
        return told
    base = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    path = os.path.join(base, "git", "ignore")
    return path if os.path.exists(path) else ""


def _ask_user(folder: str, *arguments: str) -> str:
    """A setting of the user's git; empty where there is none."""
    environment = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    if "XDG_CONFIG_HOME" in os.environ:
        environment["XDG_CONFIG_HOME"] = os.environ["XDG_CONFIG_HOME"]
    try:
        process = subprocess.run(
            [git_program(), "config", *arguments],
            cwd=folder,
            env=environment,
            capture_output=True,
            check=False,
            timeout=10,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return os.fsdecode(process.stdout) if process.returncode == 0 else ""


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
