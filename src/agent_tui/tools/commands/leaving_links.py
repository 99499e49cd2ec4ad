"""Words of a command that lead out of the workspace through links, which a rule cannot see."""

from __future__ import annotations

from os.path import realpath
from pathlib import Path, PurePosixPath

from agent_tui.tools.commands.shell_words import read_commands


def words_that_leave(command: str, workspace: Path) -> frozenset[str]:
    """Which words of a command name what lies outside, as the folders are now; blocks.

    ``diff`` compares the files of two folders, through whatever links are in them, so a folder
    counts as one that leaves. None where the command cannot be read: no rule allows that one.
    """
    root = PurePosixPath(realpath(workspace))
    folder, found = root, set()
    for command_read in read_commands(command) or ():
        program, *words = command_read.words
        for word in words:
            place = PurePosixPath(realpath(folder / word))
            if not place.is_relative_to(root) or (program == "diff" and Path(place).is_dir()):
                found.add(word)
        if program == "cd" and len(words) == 1:
            folder = PurePosixPath(realpath(folder / words[0]))
    return frozenset(found)
