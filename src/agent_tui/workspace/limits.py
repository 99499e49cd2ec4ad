"""How much is captured at most; what lies beyond is named, never dropped silently."""

from __future__ import annotations

from agent_tui.core.dataclass import dataclass

MIB, GIB = 1 << 20, 1 << 30


@dataclass(frozen=True, slots=True)
class Limits:
    """The caps of one workspace.

    Attributes:
        file_bytes: the largest file that is kept. ``target_bytes``: the same for the target of an
            edit tool, which is kept whatever else it is.
        ignored_bytes: the largest file that git ignores and that is kept all the same.
        ignored_files: how many of those.
        capture_bytes: how much one capture puts into the store.
        files: how many files a workspace may have. ``plain_files``, ``plain_bytes``: without git,
            where the first capture has to copy them all.
        scopes: how many nested repositories.
        store_bytes: how much all stores of a machine hold together.
        git_seconds: how long one git command may take. ``wait_seconds``: how long a tool waits.
    """

    file_bytes: int = 16 * MIB
    target_bytes: int = 64 * MIB
    ignored_bytes: int = MIB
    ignored_files: int = 200
    capture_bytes: int = 512 * MIB
    files: int = 500_000
    plain_files: int = 20_000
    plain_bytes: int = 256 * MIB
    scopes: int = 32
    store_bytes: int = 4 * GIB
    git_seconds: float = 30.0
    wait_seconds: float = 10.0


DEFAULT_LIMITS = Limits()
