"""A session folder as a value: names, bytes, and which names are one file."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

LIVE = "context.jsonl"
_ARCHIVE = re.compile(r"context\.jsonl\.(\d+)")
_KEPT_OUT = ("context.jsonl.lock", "context.jsonl.owner")


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The files of a session folder. ``same`` maps a name to the earlier name of the same file."""

    files: Mapping[str, bytes]
    same: Mapping[str, str] = field(default_factory=dict)

    @property
    def live(self) -> bytes | None:
        return self.files.get(LIVE)

    @property
    def archives(self) -> dict[int, bytes]:
        matches = ((_ARCHIVE.fullmatch(name), data) for name, data in self.files.items())
        return {int(match[1]): data for match, data in matches if match}

    @property
    def leftovers(self) -> list[str]:
        return sorted(name for name in self.files if name != LIVE and not _ARCHIVE.fullmatch(name))

    @property
    def key(self) -> tuple[object, ...]:
        return (tuple(sorted(self.files.items())), tuple(sorted(self.same.items())))


def take(folder: Path) -> Snapshot:
    """What is in a folder now, locks aside."""
    files: dict[str, bytes] = {}
    same: dict[str, str] = {}
    first: dict[int, str] = {}
    for name in sorted(path.name for path in folder.iterdir()):
        if name in _KEPT_OUT:
            continue
        path = folder / name
        inode = path.lstat().st_ino
        files[name] = path.read_bytes()
        if inode in first:
            same[name] = first[inode]
        else:
            first[inode] = name
    return Snapshot(files, same)


def put(snapshot: Snapshot, folder: Path) -> Path:
    """Make a folder look like a snapshot, whatever it held before."""
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(mode=0o700, parents=True)
    for name, data in snapshot.files.items():
        if "/" in name:
            (folder / name).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if name in snapshot.same:
            continue
        descriptor = os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        os.write(descriptor, data)
        os.close(descriptor)
    for name, earlier in snapshot.same.items():
        os.link(folder / earlier, folder / name)
    return folder
