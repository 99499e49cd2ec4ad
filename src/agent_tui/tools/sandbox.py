"""How commands are confined: bubblewrap where it works, else Landlock, else not at all.

Files can be read everywhere; they can be written in the workspace, in temporary folders, in caches
and where the settings say. Bubblewrap also keeps ``.git``, our configuration and our sessions
read-only and ends every process with the command. Landlock cannot take back a part of what it
allows, so with it ``.git`` can be written.
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

from agent_tui.core.errors import ToolError
from agent_tui.tools.confinement import Confinement
from agent_tui.tools.workspace import READ_ONLY_NAMES

SandboxKind: TypeAlias = Literal["bwrap", "landlock", "none"]

_CACHES = ("~/.cache", "~/.npm", "~/.cargo/registry", "~/.cargo/git", "~/go/pkg")
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts", "shm")
_TRY_SECONDS = 5


@cache
def best_sandbox() -> SandboxKind:
    """The strongest sandbox that works on this system."""
    if sys.platform != "linux":
        return "none"
    if _bwrap_works():
        return "bwrap"
    from agent_tui.tools.confine import landlock_version

    return "landlock" if landlock_version() else "none"


def _bwrap_works() -> bool:
    bwrap = shutil.which("bwrap")
    if bwrap is None:
        return False
    trial = [bwrap, "--ro-bind", "/", "/", "--unshare-pid", "--proc", "/proc", "/bin/true"]
    try:
        done = subprocess.run(trial, capture_output=True, timeout=_TRY_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def sandbox_of(limits: Confinement) -> SandboxKind:
    """What commands are confined with here."""
    return "none" if limits.sandbox == "off" else best_sandbox()


def confine(
    command: Sequence[str], limits: Confinement, workspace: Path, protected: Sequence[Path] = ()
) -> list[str]:
    """The command line that runs a command within its limits.

    Raises:
        ToolError: the sandbox must be strict, and there is none.
    """
    kind = sandbox_of(limits)
    if kind == "none" and limits.sandbox == "strict":
        raise ToolError(
            "Commands run only in a sandbox, and this system has none: install bubblewrap, or "
            "let the user start agent-tui with --sandbox auto."
        )
    if kind == "bwrap":
        command = [*_bwrap(limits, workspace, protected), *command]
    write = list(_writable(limits, workspace)) if kind == "landlock" else None
    if write is None and not limits.memory_bytes and not limits.processes:
        return list(command)
    spec = {
        "write": write,
        "network": limits.network,
        "memory": limits.memory_bytes,
        "processes": limits.processes,
    }
    launcher = str(Path(__file__).with_name("confine.py"))
    program = shutil.which(command[0]) or command[0]
    return [sys.executable, "-I", launcher, json.dumps(spec), program, *command[1:]]


def _writable(limits: Confinement, workspace: Path) -> Iterator[str]:
    yield str(workspace)
    yield from dict.fromkeys(("/tmp", "/var/tmp", tempfile.gettempdir()))
    yield from (str(Path(each).expanduser()) for each in (*_CACHES, *limits.writable))
    yield from (f"/dev/{name}" for name in _DEVICES)


def _bwrap(limits: Confinement, workspace: Path, protected: Sequence[Path]) -> Iterator[str]:
    yield from (shutil.which("bwrap") or "bwrap", "--ro-bind", "/", "/")
    yield from ("--dev", "/dev", "--proc", "/proc")
    for path in _writable(limits, workspace):
        if not path.startswith("/dev/"):
            yield from ("--bind-try", path, path)
    for kept in (*(workspace / name for name in sorted(READ_ONLY_NAMES)), *protected):
        if os.path.lexists(kept):
            yield from ("--ro-bind-try", str(kept), str(kept))
    yield from ("--unshare-pid", "--unshare-ipc", "--die-with-parent")
    if not limits.network:
        yield "--unshare-net"
    yield from ("--chdir", str(workspace), "--")
