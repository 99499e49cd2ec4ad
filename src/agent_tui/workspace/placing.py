"""A prepared file and the place it is for: they change places, and what came out is looked at."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress

from agent_tui.core.dataclass import dataclass
from agent_tui.core.file_changes import FileState
from agent_tui.workspace.errors import PathChanged
from agent_tui.workspace.limits import DEFAULT_LIMITS
from agent_tui.workspace.reading import UNREADABLE, Reading, read_name
from agent_tui.workspace.renaming import put_in_place, take_away

_MOST_SAVES = 20
"""So many saves of one file in the very moment in which it is given back are waited for."""


@dataclass(frozen=True, slots=True)
class Spot:
    """A name in an open folder of the workspace, and one in the staging folder.

    ``path`` is what people call the first.
    """

    path: str
    name: str
    folder: int
    staged: str
    staging: int

    def now(self) -> FileState | None:
        """What stands at the place."""
        return state_of(read_name(self.folder, self.name, DEFAULT_LIMITS.target_bytes), self.path)

    def aside(self) -> FileState | None:
        """What lies in the staging folder."""
        limit = DEFAULT_LIMITS.target_bytes
        return state_of(read_name(self.staging, self.staged, limit), self.path)

    def fill(self, old: FileState | None, new: FileState) -> None:
        """Put the prepared file in its place; raises PathChanged where ``old`` was not there."""
        if put_in_place(
            self.staged, self.staging, self.name, self.folder, exchange=old is not None
        ) and not is_as(self.aside(), old):
            self.give_back(new)
            raise changed(self.path)

    def empty(self, old: FileState | None) -> None:
        """Delete what stands at the place; raises PathChanged where that is not ``old``."""
        if not take_away(self.name, self.folder, self.staged, self.staging):
            os.unlink(self.name, dir_fd=self.folder)
        elif is_as(self.aside(), old):
            os.unlink(self.staged, dir_fd=self.staging)
        else:
            self.give_back(None)
            raise changed(self.path)

    def give_back(self, ours: FileState | None) -> None:
        """Put back what a person saved; ``ours`` is what stands in its place now.

        What is saved meanwhile comes out in exchange. It is the newer one, so it goes back in
        turn, until nothing comes out but what was put there.
        """
        if ours is None:
            with suppress(FileExistsError):  # it was saved once more, and that stays
                put_in_place(self.staged, self.staging, self.name, self.folder, exchange=False)
            return
        expected: FileState | None = ours
        for _ in range(_MOST_SAVES):
            mine = self.aside()
            with suppress(FileNotFoundError):  # it was deleted, and that stays
                put_in_place(self.staged, self.staging, self.name, self.folder, exchange=True)
                if not is_as(self.aside(), expected):
                    expected = mine
                    continue
            os.unlink(self.staged, dir_fd=self.staging)
            return
        raise OSError(errno.EBUSY, "another program keeps writing to it", self.path)

    def keep_beside(self) -> str:
        """Move what lies in the staging folder beside the place; returns the path it has now."""
        for number in range(1, 1000):
            name = f"{self.name}.saved-{number}"
            with suppress(FileExistsError):
                put_in_place(self.staged, self.staging, name, self.folder, exchange=False)
                return f"{self.path}.saved-{number}"
        raise OSError(errno.EEXIST, "it has 999 saved copies already", self.path)

    def clear_folder(self) -> None:
        """Remove an empty folder that stands at the place; raises PathChanged if it holds files."""
        with suppress(FileNotFoundError):
            if not stat.S_ISDIR(os.lstat(self.name, dir_fd=self.folder).st_mode):
                return
            try:
                os.rmdir(self.name, dir_fd=self.folder)
            except OSError as error:
                raise PathChanged(
                    f"there is a folder with files at {self.path}; nothing was reverted."
                ) from error


def is_as(now: FileState | None, expected: FileState | None) -> bool:
    """Whether a state is the one that was expected."""
    return now is None if expected is None else expected.same_as(now)


def state_of(reading: Reading, path: str) -> FileState | None:
    """The state that was read; raises OSError where that could not be done."""
    if reading.why.startswith(UNREADABLE):  # which is not "somebody changed it"
        raise OSError(errno.EIO, reading.why, path)
    return reading.state


def changed(path: str) -> PathChanged:
    """What to say when a path is not as it was."""
    return PathChanged(f"{path} changed while it was reverted; nothing was reverted.")
