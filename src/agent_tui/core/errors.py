"""The errors that a user may meet, each a sentence: what was expected, what came, what to do.

AgentTuiError
├── UsageError            the command line or a request makes no sense
├── ConfigError           a configuration file is wrong; names file, line and field
├── BadRecord             a line of a log is not a record (readers skip and count it)
├── SessionError          a session cannot do what was asked
│   ├── SessionNotFound
│   ├── SessionBusy       another process holds the session
│   ├── SessionReadOnly   the session can be read but not written now
│   ├── UnknownCheckpoint
│   ├── UnknownArchive
│   ├── NothingToUndo there is no operation to undo, or no undo to redo
│   └── LogChanged        a compare-and-swap found other bytes than it had read
├── StorageError          the disk refused: full, failing, forbidden; the old state stands
│   └── IndexBusy         another process writes the search index; what it has can be searched
├── CompactionError       a compaction was not made; nothing has changed
├── ProviderError         a model could not be reached, or refused
└── ToolError             a tool could not do its work; its text goes to the model
"""

from __future__ import annotations

from collections.abc import Iterable


class AgentTuiError(Exception):
    """Anything that went wrong in a way worth one clear sentence to the user."""

    exit_code = 1


class UsageError(AgentTuiError):
    """The command line or a request makes no sense as given."""

    exit_code = 2


class ConfigError(AgentTuiError):
    """A configuration file is wrong; the message names file, line and field."""

    exit_code = 2


class BadRecord(AgentTuiError):
    """A line of a log is not a record; readers skip it, count it and leave it in place."""


class SessionError(AgentTuiError):
    """A session cannot do what was asked of it."""


class SessionNotFound(SessionError):
    """No session has that id."""


class SessionBusy(SessionError):
    """Another process holds the session's lock."""


class SessionReadOnly(SessionError):
    """The session can be read but not written now; the message says why."""


class UnknownCheckpoint(SessionError):
    """The log holds no checkpoint with that id."""

    @classmethod
    def among(cls, checkpoint: int | str, known: Iterable[int]) -> UnknownCheckpoint:
        """The error, naming the latest checkpoints that do exist."""
        latest = [str(each) for each in known][-12:]
        there = f"it has: {', '.join(latest)}" if latest else "it has none yet"
        return cls(f"This session has no checkpoint {checkpoint}; {there}.")


class UnknownArchive(SessionError):
    """The session has no archive with that number."""


class NothingToUndo(SessionError):
    """There is no operation to undo, or no undo to redo."""


class LogChanged(SessionError):
    """The log no longer begins with the bytes that a replacement was computed from."""


class StorageError(AgentTuiError):
    """The disk refused a write or a read; the old state stands and work can resume."""


class IndexBusy(StorageError):
    """Another process is writing the search index; what the index has can be searched."""


class CompactionError(AgentTuiError):
    """A compaction was not made; nothing has changed."""


class ProviderError(AgentTuiError):
    """A model could not be reached, or refused.

    Attributes:
        status: the HTTP status, where there was an answer.
        retryable: whether the same request may succeed later.
        retry_after_seconds: how long the server asked to wait, where it did.
        too_long: whether it was refused for its length: it would do with fewer messages.
        window: the most tokens that the server says it takes; 0 where it does not say.
        about_picture: whether a picture in the request was refused.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        retryable: bool = False,
        retry_after_seconds: float | None = None,
        too_long: bool = False,
        window: int = 0,
        about_picture: bool = False,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.retryable = retryable
        self.retry_after_seconds = retry_after_seconds
        self.too_long = too_long
        self.window = window
        self.about_picture = about_picture


class ToolError(AgentTuiError):
    """A tool could not do its work; the text is what the model is told."""
