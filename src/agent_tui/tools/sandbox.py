"""How commands are confined: bubblewrap where it works, else Landlock, else not at all.

Files can be read everywhere; they can be written in the workspace, in temporary folders, in caches
and where the settings say. Bubblewrap also keeps ``.git``, our configuration and our sessions
read-only, and gives the command a PID namespace that ends with it, and with this program. Landlock
cannot revoke a part of what it allows, so with it ``.git`` can be written.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Literal, TypeAlias

from agent_tui.core.dataclass import dataclass
from agent_tui.core.errors import ToolError
from agent_tui.tools.confinement import Confinement
from agent_tui.tools.workspace import read_only_folders

SandboxKind: TypeAlias = Literal["bwrap", "landlock", "none"]

_CACHES = ("~/.cache", "~/.npm", "~/.cargo/registry", "~/.cargo/git", "~/go/pkg")
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts", "shm")
_TRY_SECONDS = 5
_NAMESPACES = ("--unshare-pid", "--unshare-ipc", "--die-with-parent", "--as-pid-1")
# Root keeps what builds and tests need; with all of them it could mount its way out.
_KEPT_CAPABILITIES = ("CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "SETGID", "SETUID")


@dataclass(frozen=True, slots=True)
class Launch:
    """A command line to start; ``supervised``: it talks to a socket at its standard input."""

    command: list[str]
    supervised: bool = False


@cache
def best_sandbox(*, network: bool = True) -> SandboxKind:
    """The strongest sandbox that works on this system, found by trying it."""
    if sys.platform != "linux":
        return "none"
    if _bwrap_works(network=network):
        return "bwrap"
    from agent_tui.tools.confine import landlock_version

    return "landlock" if landlock_version() else "none"


def _bwrap_works(*, network: bool) -> bool:
    if shutil.which("bwrap") is None:
        return False
    trial = [*_bwrap_base(), *_isolation(network=network), "--", "/bin/true"]
    try:
        done = subprocess.run(trial, capture_output=True, timeout=_TRY_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def sandbox_of(limits: Confinement) -> SandboxKind:
    """What commands are confined with here."""
    return "none" if limits.sandbox == "off" else best_sandbox(network=limits.network)


def require_sandbox(limits: Confinement) -> SandboxKind:
    """What commands are confined with here; may start a program to find out.

    Raises:
        ToolError: the sandbox must be strict, and there is none.
    """
    kind = sandbox_of(limits)
    if kind == "none" and limits.sandbox == "strict":
        raise ToolError(
            "Commands run only in a sandbox, and this system has none: install bubblewrap, or "
            "let the user start agent-tui with --sandbox auto."
        )
    return kind


def confine(
    command: Sequence[str], limits: Confinement, workspace: Path, protected: Sequence[Path] = ()
) -> Launch:
    """How to start a command so that it stays within its limits.

    Raises:
        ToolError: the sandbox must be strict, and there is none.
    """
    kind = require_sandbox(limits)
    write = list(_writable(limits, workspace)) if kind == "landlock" else None
    supervise = "namespace" if kind == "bwrap" else "children" if _has_processes() else ""
    limited = limits.memory_bytes or limits.processes
    if kind == "none" and not limited and not supervise:
        return Launch(list(command))
    spec = {
        "write": write,
        "network": limits.network,
        "memory": limits.memory_bytes,
        "processes": limits.processes,
        "supervise": supervise,
    }
    launcher = str(Path(__file__).with_name("confine.py"))
    program = shutil.which(command[0]) or command[0]
    confined = [sys.executable, "-IS", launcher, json.dumps(spec), program, *command[1:]]
    if kind == "bwrap":
        return Launch([*_bwrap(limits, workspace, protected), *confined], supervised=True)
    return Launch(confined, supervised=bool(supervise))


def _has_processes() -> bool:
    """Whether the system tells whose child each process is, and gives us those without a parent."""
    return sys.platform == "linux" and Path("/proc/self/stat").exists()


def _writable(limits: Confinement, workspace: Path) -> Iterator[str]:
    yield str(workspace)
    yield from dict.fromkeys(("/tmp", "/var/tmp", tempfile.gettempdir()))
    yield from (str(Path(each).expanduser()) for each in (*_CACHES, *limits.writable))
    yield from (f"/dev/{name}" for name in _DEVICES)


def _bwrap(limits: Confinement, workspace: Path, protected: Sequence[Path]) -> Iterator[str]:
    yield from _bwrap_base()
    for path in dict.fromkeys(map(os.path.realpath, _writable(limits, workspace))):
        if not path.startswith("/dev/"):
            yield from ("--bind-try", path, path)
    for kept in (*(workspace / each for each in sorted(read_only_folders(workspace))), *protected):
        if kept.exists():
            path = os.path.realpath(kept)
            yield from ("--ro-bind", path, path)
    yield from _isolation(network=limits.network)
    yield from ("--chdir", str(workspace), "--")


def _bwrap_base() -> Iterator[str]:
    yield from (shutil.which("bwrap") or "bwrap", "--ro-bind", "/", "/")


def _isolation(*, network: bool) -> Iterator[str]:
    yield from ("--dev", "/dev", "--proc", "/proc")  # over a workspace that is the root
    yield from _NAMESPACES
    if not network:
        yield "--unshare-net"
    if os.geteuid() == 0:
        yield from ("--cap-drop", "ALL")
        for name in _KEPT_CAPABILITIES:
            yield from ("--cap-add", f"CAP_{name}")
