"""File changes as a patch that ``git apply`` takes: every byte, mode and link as it was.

The formats are those of git-diff(1), "Generating patch text with -p", and of its binary patches.
"""

from __future__ import annotations

import os
import zlib
from base64 import b85encode
from collections.abc import Iterable, Iterator

from agent_tui.core.changes import NOT_PRINTED, kind_of
from agent_tui.core.file_changes import FileChange, FileState
from agent_tui.core.text import reveal
from agent_tui.workspace.diffs import group_changes
from agent_tui.workspace.errors import ContentMissing
from agent_tui.workspace.merge import diff_lines, split_lines
from agent_tui.workspace.oids import name_of
from agent_tui.workspace.store import ContentStore

_CONTEXT = 3
_BINARY_LINE = 52
_QUOTED = {7: "a", 8: "b", 9: "t", 10: "n", 11: "v", 12: "f", 13: "r", 34: '"', 92: "\\"}


def patch_of(store: ContentStore, changes: Iterable[FileChange], algorithm: str = "sha1") -> bytes:
    """All changes as one patch, from the first state of each path to its last. Blocks.

    What cannot be told is a remark, which programs that read patches pass over. ``algorithm`` is
    that of the repository: git takes contents that are no text under its own names alone.
    """
    ends: dict[str, FileChange] = {}
    for change in changes:
        first = ends.get(change.path)
        old = change.old if first is None else first.old
        ends[change.path] = FileChange(change.path, old, change.new)
    return b"".join(_patch(store, change, algorithm) for _, change in sorted(ends.items()))


def _patch(store: ContentStore, change: FileChange, algorithm: str) -> bytes:
    old, new = change.old, change.new
    if (old is None and new is None) or (old is not None and old.same_as(new)):
        return b""
    if any(state is not None and state.secret for state in (old, new)):
        return _remark(change, NOT_PRINTED)
    try:
        before, after = (store.get(state.hash) if state else b"" for state in (old, new))
    except ContentMissing as error:
        return _remark(change, str(error))
    if old is not None and new is not None and old.kind != new.kind:  # git tells it as two
        gone, came = FileChange(change.path, old, None), FileChange(change.path, None, new)
        return _told(gone, before, b"", algorithm) + _told(came, b"", after, algorithm)
    return _told(change, before, after, algorithm)


def _remark(change: FileChange, why: str) -> bytes:
    told = f"# {reveal(change.path)}: {kind_of(change.old, change.new)}; {why}\n"
    return told.encode(errors="replace")


def _told(change: FileChange, before: bytes, after: bytes, algorithm: str) -> bytes:
    name = os.fsencode(change.path)
    source, target = _quote(b"a/" + name), _quote(b"b/" + name)
    ends = (_name(change.old, before, algorithm), _name(change.new, after, algorithm))
    index = f"index {'..'.join(ends)}\n".encode()
    lines = [b"diff --git %s %s\n" % (source, target), *_modes(change.old, change.new)]
    if before == after:
        same_kind = change.old is not None and change.new is not None
        return b"".join(lines if same_kind else [*lines, index])
    if b"\0" in before or b"\0" in after:
        return b"".join([*lines, index, b"GIT binary patch\n", *_binary(after, before)])
    lines.append(b"--- %s\n" % (source if change.old else b"/dev/null"))
    lines.append(b"+++ %s\n" % (target if change.new else b"/dev/null"))
    return b"".join([*lines, *_hunks(split_lines(before), split_lines(after))])


def _modes(old: FileState | None, new: FileState | None) -> Iterator[bytes]:
    if old is None and new is not None:
        yield b"new file mode %o\n" % _mode(new)
    elif new is None and old is not None:
        yield b"deleted file mode %o\n" % _mode(old)
    elif old is not None and new is not None and _mode(old) != _mode(new):
        yield b"old mode %o\nnew mode %o\n" % (_mode(old), _mode(new))


def _mode(state: FileState) -> int:
    """The mode as git knows it: a link, a program, or another file."""
    if state.kind == "link":
        return 0o120000
    return 0o100755 if state.mode & 0o100 else 0o100644


def _hunks(old: list[bytes], new: list[bytes]) -> Iterator[bytes]:
    for group in group_changes(diff_lines(old, new)):
        first, last = group[0], group[-1]
        before, after = min(_CONTEXT, first[0]), min(_CONTEXT, len(old) - last[1])
        i1, i2, j1, j2 = first[0] - before, last[1] + after, first[2] - before, last[3] + after
        yield f"@@ -{_range(i1, i2)} +{_range(j1, j2)} @@\n".encode()
        at = i1
        for start, stop, new_start, new_stop in group:
            yield from _marked(b" ", old[at:start])
            yield from _marked(b"-", old[start:stop])
            yield from _marked(b"+", new[new_start:new_stop])
            at = stop
        yield from _marked(b" ", old[at:i2])


def _range(start: int, stop: int) -> str:
    return f"{start + 1 if stop > start else start},{stop - start}"


def _marked(mark: bytes, lines: list[bytes]) -> Iterator[bytes]:
    for line in lines:
        yield mark + line
        if not line.endswith(b"\n"):
            yield b"\n\\ No newline at end of file\n"


def _binary(*contents: bytes) -> Iterator[bytes]:
    """The whole content forth, and back."""
    for content in contents:
        yield b"literal %d\n" % len(content)
        packed = zlib.compress(content)
        for at in range(0, len(packed), _BINARY_LINE):
            piece = packed[at : at + _BINARY_LINE]
            size = len(piece) + (64 if len(piece) <= 26 else 70)  # A to Z, then a to z
            yield bytes([size]) + b85encode(piece, pad=True) + b"\n"
        yield b"\n"


def _name(state: FileState | None, content: bytes, algorithm: str) -> str:
    """What git calls a content; only zeros where there is none."""
    name = name_of(content, algorithm)
    return name if state else "0" * len(name)


def _quote(name: bytes) -> bytes:
    """A name as git writes it: in quotes where it holds a sign that could be misread."""
    if all(32 <= byte < 127 and byte not in _QUOTED for byte in name):
        return name
    return b'"%s"' % b"".join(map(_quoted, name))


def _quoted(byte: int) -> bytes:
    if byte in _QUOTED:
        return f"\\{_QUOTED[byte]}".encode()
    return bytes([byte]) if 32 <= byte < 127 else f"\\{byte:03o}".encode()
