"""What is promised about files, and the deliberate bugs that break each promise.

Every bug is in ``test_workspace_mutants``, with the test that turns red for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Promise:
    """One promise: where it comes from, what it says, and the bugs that break it."""

    kind: Literal["given", "seen elsewhere", "never", "bad input"]
    what: str
    bugs: tuple[str, ...]


def given(what: str, *bugs: str) -> Promise:
    """What a person gets."""
    return Promise("given", what, bugs)


def seen_elsewhere(what: str, *bugs: str) -> Promise:
    """A way in which another program lost work."""
    return Promise("seen elsewhere", what, bugs)


def never(what: str, *bugs: str) -> Promise:
    """What is never done."""
    return Promise("never", what, bugs)


def bad_input(what: str, *bugs: str) -> Promise:
    """What a workspace may hold, and what may happen around it."""
    return Promise("bad input", what, bugs)


PROMISES = (
    given(
        "a patch that git applies, in every kind of repository",
        "a patch names contents as another repository does",
        "a patch holds local configuration",
    ),
    given(
        "a view of all that changed since a checkpoint, by turn, call and cause",
        "changes since a checkpoint are all changes",
        "a view of the changes takes a person for the agent",
    ),
    given(
        "what every call really changed on disk",
        "a call does not tell how many lines it changed",
    ),
    given(
        "files of any checkpoint, of any branch and archive",
        "what another branch changed is forgotten",
        "what an archive tells is forgotten",
    ),
    seen_elsewhere(
        "a nested repository without a commit makes git fail, and the last tree is restored",
        "the exit code of git is ignored",
        "nested repositories are not looked into",
    ),
    seen_elsewhere("nothing is captured outside of git", "nothing is seen without git"),
    seen_elsewhere("the store takes 80 GB and more", "the index is not seeded"),
    seen_elsewhere("the user's gc takes what was captured", "the pre-image is not adopted"),
    seen_elsewhere(
        "restoring a large repository deletes most of it",
        "unknown files are deleted",
        "unknown files are deleted, in a story",
    ),
    seen_elsewhere(
        "what a shell command changed is not seen",
        "only edit tools are seen",
        "what a tool of a server changed is not seen",
        "what a subagent changed is a person's",
        "what a call changed is a person's while it runs",
    ),
    seen_elsewhere(
        "folders and moves do not come back",
        "folders are not made again",
        "empty folders stay",
        "an empty folder goes without a word",
        "a folder that came before its file stays",
    ),
    seen_elsewhere("a compaction loses the history", "what a compaction rotated is forgotten"),
    seen_elsewhere(
        "commits and refs of the user change",
        "the user's index is written",
        "git notes in the user's index what it has read",
    ),
    seen_elsewhere(
        "a .gitignore that is not committed exposes files",
        "what was ignored counts as created",
        "a guess about the user's settings is kept",
        "the user's settings are never asked for",
    ),
    seen_elsewhere("every mtime is rewritten", "every mtime changes"),
    seen_elsewhere(
        "there is no redo",
        "there is no redo",
        "an undo forgets the conversation's half",
    ),
    seen_elsewhere("a restart loses what can be undone", "an undo is forgotten at a restart"),
    seen_elsewhere("files with changes are refused", "files that a person changed are refused"),
    never(
        "restore a stale or partial state as if it were whole",
        "settled before it is in the log",
        "a content is not checked against its hash",
        "a content is not flushed before the log names it",
        "hidden paths stay hidden",
        "an index is trusted unread",
        "half of an index in two parts is read",
        "new names go unnoticed",
        "a listing that failed is trusted",
        "what was settled beside the index is forgotten",
        "what is written again in the same second is taken for the same",
        "an index keeps the name of an older content",
    ),
    never(
        "export local configuration",
        "files are not marked as secret",
        "what is ignored from now on goes unnoticed",
    ),
    never(
        "overwrite a change of the person without asking",
        "everything is ticked",
        "everything is ticked, in a story",
        "what a person wrote is overwritten",
        "what a person wrote is overwritten, in a story",
        "a hunk takes the whole file along, in a story",
        "the preview is trusted",
        "a file that is saved late is overwritten",
        "what is saved in the last moment is overwritten",
        "of several saves in the last moment the first one stays",
        "of two saves and a death one is gone",
        "what is created in the last moment is overwritten",
        "what is saved in the last moment is deleted",
        "what a deletion took away is gone with a crash",
        "what an exchange took away is deleted",
        "a late capture is the agent's all the same",
        "what was there before the first capture counts as created",
        "half a first capture counts as settled",
        "what a capture found that is not in the log is the next call's",
    ),
    never(
        "remove a folder of the person, or with something in it",
        "every folder counts as the agent's",
        "a folder is the agent's for ever",
        "an undo counts folders that it did not make",
        "folders that git ignores count as the agent's",
        "a folder that was made again is still the agent's",
        "a folder that was made again at once is still the agent's",
        "a folder that was made again before it was in the log is still the agent's",
        "a folder that was made again after the preview is still the agent's",
        "a folder that was made again after a revert made it is still the agent's",
        "a folder that came after a crash counts as the one before",
        "a folder that came after a crash of a rollback counts as the one before",
        "a folder goes with what is in it",
    ),
    never("write through a link", "links are followed"),
    never(
        "write outside of the workspace",
        "a path in a log is believed",
        "a path is opened wherever it leads",
    ),
    never(
        "leave half a revert after a crash",
        "there is no journal",
        "there is no journal, in a story",
        "the journal does not say that the conversation goes too",
        "nothing is recovered",
        "nothing is recovered, in a story",
        "an error is not rolled back",
        "new contents are not flushed",
        "the journal of a revert that was cut off is deleted with old contents",
    ),
    never(
        "grow without a limit",
        "old sessions are never deleted",
        "contents that another session needs are deleted",
        "a session loses contents without a word",
        "a fork does not say what it needs of the session before it",
        "what a fork inherited is deleted before it is opened",
        "a fork that nobody opened counts as new",
        "a session counts as old while it is used",
        "a capture has no limit",
    ),
    never("slow a prompt down", "a capture holds the loop up"),
    bad_input(
        "files that change during the scan",
        "an index that changes under git is taken for the one that was copied",
        "a file that changes while it is read is kept as it came",
    ),
    bad_input("unreadable files", "what cannot be read is gone"),
    bad_input("pipes and sockets", "pipes are read"),
    bad_input("files of 2 GB", "large files are read", "a file of 2 GB is opened"),
    bad_input("very many files", "there is no cap on files"),
    bad_input("folders that are no project", "a folder of a person's counts as a project"),
    bad_input("names that are not UTF-8", "names are read as UTF-8"),
    bad_input("renames that change the case alone", "names that differ by case are one"),
    bad_input(
        "a link that is swapped in during a restore", "a link that is swapped in is followed"
    ),
    bad_input(
        "line ends, identifiers, filters",
        "git's objects are taken for contents",
        "attributes of the user's go unnoticed",
    ),
    bad_input("exec bits", "exec bits are not looked at", "modes are not kept"),
    bad_input(
        "a full disk",
        "a full disk goes unnoticed by a capture",
        "a full disk goes unnoticed by a revert",
    ),
    bad_input(
        "a part of the program that cannot be loaded",
        "a capture without a scanner counts as made",
        "a scanner that cannot be loaded ends the turn",
    ),
    bad_input("a store that someone deleted", "a deleted store goes unnoticed"),
    bad_input("a stale lock", "a stale lock is not removed"),
    bad_input(
        "two sessions of a project at once",
        "there is no lock on the store",
        "what a live window writes counts as left behind",
    ),
    bad_input("a rebase in progress", "a rebase is not told"),
    bad_input("a repository that is replaced", "a replaced repository goes unnoticed"),
    bad_input("an amend and a gc in between", "what gc took is claimed to be known"),
)
