"""What the arguments of a call say about files: patches, replaced text, whole new contents.

Every agent's tools say the same few things under much the same names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from agent_tui.core.changes import ChangeKind, FileDiff

_WRITES = re.compile(r"write|edit|patch|replace|create", re.IGNORECASE)
_PATHS = ("file_path", "filePath", "absolute_path", "path", "notebook_path", "target_file", "file")
_OLD = ("old_string", "oldString", "old_str", "oldText", "old")
_NEW = ("new_string", "newString", "new_str", "newText", "new", "new_source")
_WHOLE = ("content", "contents", "file_text", "text")
_EDITS = ("edits", "edit")
_PATCH = "*** Begin Patch"
_SECTION = re.compile(
    r"^\*\*\* (Add|Update|Delete) File: (.+)$|^\*\*\* (Move to|End)\b", re.MULTILINE
)
_BLOCK = re.compile(r"<{5,} ?SEARCH\n(.*?)\n?={5,}\n(.*?)\n?>{5,} ?REPLACE", re.DOTALL)
_KINDS: dict[str, ChangeKind] = {"Add": "created", "Update": "changed", "Delete": "deleted"}

PLACE_UNKNOWN = "the log does not say which lines"
WHOLE = "whole file written; its earlier content is not in the log"


def told_edits(name: str, arguments: Mapping[str, Any]) -> Iterator[FileDiff]:
    """The changes of files that a call of the tool ``name`` asks for, file by file."""
    patch = _patch_in(arguments)
    if patch:
        yield from _patched(patch)
        return
    path = _text(arguments, _PATHS)
    if not path:
        return
    lines = [line for edit in _edits(arguments) for line in edit]
    whole = _text(arguments, _WHOLE)
    if not lines and whole is not None and _WRITES.search(name):
        for old, new in _BLOCK.findall(whole):
            lines += [*_marked("-", old), *_marked("+", new)]
        if not lines:
            yield _told(path, "changed", list(_marked("+", whole)), WHOLE)
            return
    if lines:
        yield _told(path, "changed", lines, PLACE_UNKNOWN)


def _edits(arguments: Mapping[str, Any]) -> Iterator[list[str]]:
    for name in _EDITS:
        inner = arguments.get(name)
        for each in inner if isinstance(inner, list) else [inner]:
            if isinstance(each, dict):
                yield from _edits(each)
    old, new = _text(arguments, _OLD), _text(arguments, _NEW)
    if new is not None:
        yield [*_marked("-", old or ""), *_marked("+", new)]


def _patch_in(arguments: Mapping[str, Any]) -> str:
    """The text of a patch, given as an argument or as a word of a command."""
    for value in arguments.values():
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, str) and _PATCH in each:
                return each
    return ""


def _patched(patch: str) -> Iterator[FileDiff]:
    sections = list(_SECTION.finditer(patch))
    for section, following in zip(sections, [*sections[1:], None], strict=True):
        if section[1] is None:
            continue
        body = patch[section.end() + 1 : following.start() if following else len(patch)]
        kept = [line for line in body.splitlines() if line[:1] in ("+", "-")]
        path = section[2].strip()
        if section[1] == "Add":
            yield FileDiff(path, "created", len(kept), 0, _new_file(path, kept))
        elif section[1] == "Delete":
            yield FileDiff(path, "deleted", 0, 0, note="its content is not in the log")
        else:
            yield _told(path, _KINDS[section[1]], kept, PLACE_UNKNOWN)


def _new_file(path: str, lines: list[str]) -> str:
    return "\n".join(["--- /dev/null", f"+++ b/{path}", f"@@ -0,0 +1,{len(lines)} @@", *lines])


def _told(path: str, kind: ChangeKind, lines: list[str], note: str) -> FileDiff:
    added = sum(line.startswith("+") for line in lines)
    return FileDiff(path, kind, added, len(lines) - added, note=note, told="\n".join(lines))


def _marked(mark: str, text: str) -> Iterator[str]:
    return (f"{mark}{line}" for line in text.removesuffix("\n").split("\n") if text)


def _text(fields: Mapping[str, Any], names: tuple[str, ...]) -> str | None:
    found = (fields[name] for name in names if isinstance(fields.get(name), str))
    return next(found, None)
