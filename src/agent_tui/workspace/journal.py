"""What a revert of files is about to do, written down before it does it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from agent_tui.core.file_changes import (
    FileChange,
    FolderIdentity,
    change_fields,
    is_safe_path,
    parse_change,
)
from agent_tui.workspace.errors import NotCovered
from agent_tui.workspace.folders import read_whole, replace_private_file, sync_folder
from agent_tui.workspace.scanning import STAGING_PREFIX

Phase = Literal["prepare", "commit", "rollback"]


@dataclass(frozen=True, slots=True)
class Journal:
    """A revert under way.

    Attributes:
        phase: ``prepare`` has changed nothing yet; ``commit`` will be finished; ``rollback`` not.
        root: the workspace. ``staging``: the folder in it where new contents wait.
        changes: every path with its state before and after.
        about: what the record in the log will say besides.
        folders: those that go with their files, once they are empty, and which these are: what
            has one of their names after a crash may be a person's.
    """

    phase: Phase
    root: str
    staging: str
    changes: tuple[FileChange, ...]
    about: Mapping[str, Any]
    folders: Mapping[str, FolderIdentity] = field(default_factory=dict)

    def at(self, phase: Phase) -> Journal:
        """The same, in another phase."""
        return replace(self, phase=phase)


def write_journal(path: str, journal: Journal) -> None:
    """Put a journal in its place, whole and durable."""
    fields = {
        "phase": journal.phase,
        "root": journal.root,
        "staging": journal.staging,
        "changes": [change_fields(change) for change in journal.changes],
        "about": dict(journal.about),
        "folders": dict(journal.folders),
    }
    replace_private_file(path, json.dumps(fields).encode())


def read_journal(path: str) -> Journal | None:
    """The journal of a revert that was cut off; None where there is none.

    Raises:
        NotCovered: it is damaged, so that nobody knows what to do.
    """
    try:
        data = read_whole(path)
    except FileNotFoundError:
        return None
    try:
        return _parse(json.loads(data))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise NotCovered(
            f"the journal of an interrupted revert cannot be read: {path}. Compare the files with"
            " the changes view, then delete it."
        ) from error


def _parse(fields: Mapping[str, Any]) -> Journal:
    phase, staging = fields["phase"], fields["staging"]
    if phase not in ("prepare", "commit", "rollback"):
        raise ValueError(phase)
    if not (staging.startswith(STAGING_PREFIX) and is_safe_path(staging)):
        raise ValueError(staging)
    changes = tuple(parse_change(change) for change in fields["changes"])
    folders = {path: (int(a), int(b)) for path, (a, b) in fields.get("folders", {}).items()}
    return Journal(phase, str(fields["root"]), staging, changes, dict(fields["about"]), folders)


def remove_journal(path: str) -> None:
    """The revert is over."""
    with suppress(FileNotFoundError):
        os.unlink(path)
    sync_folder(os.path.dirname(path))
