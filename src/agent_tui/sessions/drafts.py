"""The small file beside the log that keeps what was typed and what waits.

A convenience, not a record: a file that cannot be read counts as missing.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from agent_tui.core.dataclass import dataclass
from agent_tui.core.drafts import Drafts
from agent_tui.core.errors import AgentTuiError
from agent_tui.sessions.disk import create_folder, read_state, replace_state, translate_os_errors

NAME = "drafts.json"
EARLY_NAME = "drafts-{}.json"
"""In the folder of the project, with the number of the window's process."""
_EARLY_NAMES = "drafts*.json"
"""Also without a number, as all windows of a project once shared one."""


@dataclass(frozen=True, slots=True)
class _Kept:
    """Drafts of a file, and the process that wrote it; 0 where it does not say."""

    drafts: Drafts
    owner: int


class DraftFile:
    """The drafts of one session; while nothing was said in it they are kept for its project.

    Such a session goes with its window, and what was typed in it comes back in the next new one.
    A session that is not on disk keeps none.
    """

    def __init__(self, folder: Path, *, on_disk: bool = True) -> None:
        self._folder = folder
        self._on_disk = on_disk
        self._early = folder.parent / EARLY_NAME.format(os.getpid())
        self._has_early = False

    def read(self, *, is_new: bool) -> Drafts:
        """What was kept; nothing where there is no file, or none of ours.

        ``is_new``: nothing was said in the session yet; then what was typed in another one that
        was as new, and whose window is gone, is given.
        """
        if not self._on_disk:
            return Drafts()
        kept = _parse(self._folder / NAME)
        if kept is not None or not is_new:
            return kept.drafts if kept is not None else Drafts()
        for path in self._folder.parent.glob(_EARLY_NAMES):
            kept = _parse(path)
            if kept is not None and not _is_another(kept.owner) and self._claim(path, kept.drafts):
                return kept.drafts
        return Drafts()

    def write(self, drafts: Drafts, *, is_new: bool) -> None:
        """Keep these drafts in place of what was kept; without any the file goes.

        Raises:
            AgentTuiError: the file could not be written.
        """
        if not self._on_disk:
            return
        if is_new and (drafts != Drafts() or self._has_early):
            _replace(self._early, drafts)
            self._has_early = drafts != Drafts()
        elif not is_new:
            _replace(self._folder / NAME, drafts)
            self._forget_early()

    def _claim(self, path: Path, drafts: Drafts) -> bool:
        """From here on they are this window's; False if another that opens was quicker."""
        try:
            os.replace(path, self._early)
        except OSError:
            return False
        self._has_early = True
        with suppress(AgentTuiError):
            _replace(self._early, drafts)
        return True

    def _forget_early(self) -> None:
        if self._has_early:
            self._has_early = False
            with suppress(OSError):
                self._early.unlink()


def _is_another(owner: int) -> bool:
    """Whether a process is another one than this, and still there."""
    if owner in (0, os.getpid()):
        return False
    try:
        os.kill(owner, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True


def _parse(path: Path) -> _Kept | None:
    """What a file holds; None where there is none, or it holds something else."""
    with suppress(ValueError, KeyError, TypeError):
        fields = read_state(path)
        drafts = Drafts(str(fields["text"]), tuple(str(each) for each in fields["queued"]))
        return _Kept(drafts, int(fields.get("pid", 0)))
    return None


def _replace(path: Path, drafts: Drafts) -> None:
    if drafts == Drafts():
        replace_state(path, None)
        return
    with translate_os_errors("write", path):
        create_folder(path.parent)
    state = {"text": drafts.text, "queued": drafts.queued, "pid": os.getpid()}
    replace_state(path, state)
