"""What a scope was scanned with, and where that is kept: a repository may be replaced by another.

git's names of contents and its objects are those of one repository. Where another has its place,
or none any longer, what was settled is compared once more, and a new start is made beside it.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress

from agent_tui.core.dataclass import dataclass
from agent_tui.workspace.births import born_at
from agent_tui.workspace.folders import is_there, read_whole, replace_private_file
from agent_tui.workspace.git import Repository
from agent_tui.workspace.reading import digest_of

REPLACED = "its git repository was replaced or removed: what only that held cannot be restored"
"""Why a folder is named in a capture that found another repository there."""
UNREAD = "its git repository was replaced or removed: what changed before that is not known"
"""The same where what was settled cannot be compared any longer."""

_NAME = "repository.json"
_KEPT = (_NAME, "index", "index.first", "recent.json", "files.json")


@dataclass(frozen=True, slots=True)
class ScannedRepository:
    """A repository, told from any that takes its place by when it was made.

    Without a ``top`` there was none; ``born`` is 0 where that is not known.
    """

    top: str = ""
    algorithm: str = ""
    born: int = 0

    def is_same(self, other: ScannedRepository) -> bool:
        """Whether it is the same repository, as far as that is known."""
        if (bool(self.top), self.algorithm) != (bool(other.top), other.algorithm):
            return False
        return self.born == other.born or not self.born or not other.born

    def as_it_was(self, now: Repository | None) -> Repository:
        """The repository that was there: without history, and with the contents that remain."""
        nowhere = os.devnull + "/none"
        is_readable = now is not None and now.object_format() == self.algorithm
        return Repository(self.top, nowhere, now.common if now and is_readable else nowhere)


def origin_of(repository: Repository | None) -> ScannedRepository:
    """What is there now."""
    if repository is None:
        return ScannedRepository()
    objects = os.path.join(repository.common, "objects")
    if not os.path.isdir(objects):
        return ScannedRepository()
    return ScannedRepository(repository.top, repository.object_format(), born_at(objects) or 0)


def read_origin(folder: str) -> ScannedRepository | None:
    """What the states in a folder of ours came from; None where that was not written down."""
    with suppress(FileNotFoundError, ValueError, TypeError):
        top, algorithm, born = json.loads(read_whole(os.path.join(folder, _NAME)))
        return ScannedRepository(str(top), str(algorithm), int(born))
    return None


def write_origin(folder: str, origin: ScannedRepository) -> None:
    """Write down what the states in a folder of ours come from."""
    data = json.dumps([origin.top, origin.algorithm, origin.born]).encode()
    replace_private_file(os.path.join(folder, _NAME), data, durable=False)


def folder_of(above: str, prefix: str, number: int) -> str:
    """Where states are kept; each repository in a place has a folder of its own, by number."""
    if number:
        return os.path.join(above, f"{_digest(prefix)}-{number}")
    if prefix:
        return os.path.join(above, _digest(prefix))
    older = os.path.join(above, "root")
    return older if is_there(older) else above  # that of the workspace needs no folder more


def numbers_of(above: str, prefix: str) -> list[int]:
    """The numbers of the folders that may be there, the newest first."""
    start = f"{_digest(prefix)}-"
    names = os.listdir(above) if is_there(above) else []
    ends = (name.removeprefix(start) for name in names if name.startswith(start))
    return [*sorted((int(end) for end in ends if end.isdecimal()), reverse=True), 0]


def _digest(prefix: str) -> str:
    return digest_of(prefix.encode(errors="surrogateescape"))[:16]


def remove_states(folder: str) -> None:
    """Remove what others have the place of by now, and the folder if nothing else is in it."""
    for name in _KEPT:
        with suppress(FileNotFoundError):
            os.unlink(os.path.join(folder, name))
    with suppress(OSError):
        os.rmdir(folder)
