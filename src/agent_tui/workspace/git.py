"""Running git as a scanner: its own folder and index, nothing of the user's, a time limit.

git is asked what changed and what things are called. It never writes to the user's repository, and
nothing of it is ever used to restore a file.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache

from agent_tui.core.dataclass import dataclass
from agent_tui.workspace.errors import NotCovered

_SETTINGS = {
    "core.fsmonitor": "false",
    "core.untrackedCache": "false",
    "core.hooksPath": "/dev/null",
    "core.fileMode": "true",
    "core.symlinks": "true",
    "core.trustctime": "true",
    "core.checkStat": "default",
    "core.ignoreStat": "false",
    "core.autocrlf": "false",
    "core.safecrlf": "false",
    "core.splitIndex": "false",
    "core.sparseCheckout": "false",
    "core.preloadIndex": "true",
    "core.quotePath": "false",
    "index.sparse": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "protocol.allow": "never",
}

_BLOCK, _LONGEST_TEXT = 1 << 16, 16 << 20


@cache
def git_program() -> str:
    """The git of this machine; empty where there is none."""
    return shutil.which("git") or ""


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository of the user's, as far as it is read.

    Attributes:
        top: the folder of its work tree.
        git_folder: where its HEAD and index are. ``common``: where its objects are.
    """

    top: str
    git_folder: str
    common: str

    @property
    def index(self) -> str:
        return os.path.join(self.git_folder, "index")

    @property
    def exclude(self) -> str:
        """The file that says what git ignores here alone."""
        return os.path.join(self.common, "info", "exclude")

    def object_format(self) -> str:
        """``sha1`` or ``sha256``."""
        config = _read_text(os.path.join(self.common, "config"))
        found = re.search(r'(?im)^\s*(?:\[[^]\n]*\])?\s*objectformat\s*=\s*"?(\w+)', config)
        return found[1].lower() if found else "sha1"

    @property
    def branch(self) -> str:
        """The name of the branch that is checked out; empty where none is."""
        return self._branch_and_commit()[0].removeprefix("refs/heads/")

    def head(self) -> str:
        """The branch and the commit that are checked out, for people: ``main 1a2b3c4``."""
        name, commit = self._branch_and_commit()
        return f"{name.removeprefix('refs/heads/') or '(no branch)'} {commit[:10]}".strip()

    def commit(self) -> str:
        """The name of the commit that is checked out; empty where there is none yet."""
        commit = self._branch_and_commit()[1]
        return commit if re.fullmatch(r"[0-9a-f]{40,64}", commit) else ""

    def _branch_and_commit(self) -> tuple[str, str]:
        head = _read_text(os.path.join(self.git_folder, "HEAD")).strip()
        if not head.startswith("ref: "):
            return "", head
        name = head[5:]
        commit = _read_text(os.path.join(self.git_folder, name)) or _read_text(
            os.path.join(self.common, name)
        )
        if not commit:
            packed = _read_text(os.path.join(self.common, "packed-refs"))
            found = re.search(rf"(?m)^([0-9a-f]+) {re.escape(name)}$", packed)
            commit = found[1] if found else ""
        return name, commit.strip()

    def operation(self) -> str:
        """What the user has git in the middle of; empty where nothing is."""
        signs = {
            "rebase-merge": "a rebase",
            "rebase-apply": "a rebase",
            "MERGE_HEAD": "a merge",
            "CHERRY_PICK_HEAD": "a cherry-pick",
            "BISECT_LOG": "a bisect",
        }
        for name, noun in signs.items():
            if os.path.lexists(os.path.join(self.git_folder, name)):
                return noun
        return ""


def find_repository(folder: str) -> Repository | None:
    """The repository that a folder lies in; None outside of any, and inside a bare one."""
    place = os.path.realpath(folder)
    while True:
        found = os.path.join(place, ".git")
        if os.path.lexists(found):
            return _repository_at(place, found)
        above = os.path.dirname(place)
        if above == place:
            return None
        place = above


def _repository_at(top: str, found: str) -> Repository | None:
    folder = found
    if not os.path.isdir(found):
        text = _read_text(found)
        if not text.startswith("gitdir:"):
            return None
        folder = os.path.join(top, text.removeprefix("gitdir:").strip())
    folder = os.path.normpath(folder)
    if not os.path.lexists(os.path.join(folder, "HEAD")):
        return None
    common = _read_text(os.path.join(folder, "commondir")).strip()
    return Repository(top, folder, os.path.normpath(os.path.join(folder, common or ".")))


def _read_text(path: str) -> str:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return ""
    blocks, left = [], _LONGEST_TEXT
    try:
        while left > 0 and (block := os.read(descriptor, min(_BLOCK, left))):
            blocks.append(block)
            left -= len(block)
    except OSError:
        return ""
    finally:
        os.close(descriptor)
    return os.fsdecode(b"".join(blocks))


class Git:
    """git over a folder of our own and somebody's work tree; by default the index lies in it."""

    def __init__(self, folder: str, top: str, start: str, seconds: float, index: str = "") -> None:
        self.folder = folder
        self.top = os.path.realpath(top)
        self.start_folder = self.top if start == top else os.path.realpath(start)
        self._seconds = seconds
        self._environment = {
            "PATH": os.environ.get("PATH", os.defpath),
            "LC_ALL": "C",
            "HOME": folder,
            "GIT_DIR": folder,
            "GIT_WORK_TREE": top,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_SYSTEM": "/dev/null",
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_LITERAL_PATHSPECS": "1",
            "GIT_CEILING_DIRECTORIES": "/",
        }
        self.use_index(index or os.path.join(folder, "index"))

    def use_index(self, index: str) -> None:
        """Read and write another index from now on."""
        self.index = index
        self._environment["GIT_INDEX_FILE"] = index

    def start(self, *arguments: str, settings: Sequence[str] = (), reading: str = "") -> Running:
        """Start a command; ask the result for its output.

        ``reading`` is another index than ours, which is read and never written.
        """
        chosen_for = {
            "check-ignore": {"GIT_LITERAL_PATHSPECS": "0"},  # it knows no other way
            # It notes in our index which files it has read. As long as that is no newer than
            # the files, as after a clone, each look reads them all.
            "status": {"GIT_OPTIONAL_LOCKS": "1"},
        }
        theirs = {"GIT_INDEX_FILE": reading, "GIT_OPTIONAL_LOCKS": "0"} if reading else {}
        chosen = [f"{name}={value}" for name, value in _SETTINGS.items()]
        options = [word for each in (*chosen, *settings) for word in ("-c", each)]
        command = [git_program(), *options, *arguments]
        process = subprocess.Popen(
            command,
            cwd=self.start_folder,
            env=self._environment | chosen_for.get(arguments[0], {}) | theirs,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        return Running(arguments[0], process, self._seconds)

    def run(
        self, *arguments: str, data: bytes = b"", settings: Sequence[str] = (), may_be: int = 0
    ) -> bytes:
        """Run a command and return what it printed.

        ``may_be`` is another exit code than 0 that is an answer.

        Raises:
            NotCovered: it failed, or took too long: nothing it printed may be used.
        """
        return self.start(*arguments, settings=settings).output(data, may_be)


class Running:
    """A git command under way."""

    def __init__(self, name: str, process: subprocess.Popen[bytes], seconds: float) -> None:
        self._name = name
        self._process = process
        self._seconds = seconds

    def output(self, data: bytes = b"", may_be: int = 0) -> bytes:
        """What it printed, once it ended well; raises NotCovered otherwise.

        ``may_be`` is another exit code that is an answer.
        """
        try:
            printed, told = self._process.communicate(data, timeout=self._seconds)
        except subprocess.TimeoutExpired:
            self.stop()
            raise NotCovered(f"git {self._name} took longer than {self._seconds:g} s") from None
        except BaseException:
            self.stop()
            raise
        if self._process.returncode not in (0, may_be):
            lines = told.decode(errors="replace").strip().splitlines()
            why = lines[-1] if lines else f"exit code {self._process.returncode}"
            raise NotCovered(f"git {self._name} failed: {why[:200]}")
        return printed

    def stop(self) -> None:
        """End it, if it still runs."""
        if self._process.poll() is None:
            self._process.kill()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()
        self._process.wait()
