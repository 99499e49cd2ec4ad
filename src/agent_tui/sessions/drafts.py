"""The small file beside the log that keeps what was typed and what waits.

A convenience, not a record: a file that cannot be read counts as missing.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path

from agent_tui.core.drafts import Drafts
from agent_tui.core.errors import AgentTuiError
from agent_tui.sessions.disk import FILE_MODE, create_folder, reading, translate_os_errors

NAME = "drafts.json"
_MOST_BYTES = 8_000_000


class DraftFile:
    """The drafts of one session; before its log exists they are kept for its project.

    A session that is not on disk keeps none.
    """

    def __init__(self, folder: Path, *, on_disk: bool = True) -> None:
        self._folder = folder
        self._on_disk = on_disk

    def read(self) -> Drafts:
        """What was kept; nothing where there is no file, or none of ours."""
        for folder in (self._folder, self._folder.parent) if self._on_disk else ():
            with suppress(AgentTuiError, ValueError, KeyError, TypeError, RecursionError):
                return _parse(folder / NAME)
            if folder.exists():
                break
        return Drafts()

    def write(self, drafts: Drafts) -> None:
        """Keep these drafts in place of what was kept; without any the file goes.

        Raises:
            AgentTuiError: the file could not be written.
        """
        if not self._on_disk:
            return
        early = self._folder.parent / NAME
        if not self._folder.exists():
            _replace(early, drafts)
            return
        _replace(self._folder / NAME, drafts)
        with suppress(OSError):
            early.unlink()


def _parse(path: Path) -> Drafts:
    with reading(path) as (descriptor, status):
        if status.st_size > _MOST_BYTES:
            return Drafts()
        data = b"".join(iter(lambda: os.read(descriptor, 1 << 20), b""))
    fields = json.loads(data)
    return Drafts(str(fields["text"]), tuple(str(each) for each in fields["queued"]))


def _replace(path: Path, drafts: Drafts) -> None:
    with translate_os_errors("write", path):
        if drafts == Drafts():
            path.unlink(missing_ok=True)
            return
        create_folder(path.parent)
        new = path.with_name(f"{path.name}.new")
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
        descriptor = os.open(new, flags, FILE_MODE)
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="surrogatepass") as file:
            json.dump({"text": drafts.text, "queued": drafts.queued}, file)
        os.replace(new, path)
