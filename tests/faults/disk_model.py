"""A disk as the law describes it: what was not flushed may be there, torn, zero, or gone.

Files and folders have a part that a power cut cannot touch, and changes that wait. Flushing a file
makes its bytes safe, never its name; flushing a folder makes its names safe, never the bytes. What
waits may reach the disk in any order, or not at all; a rename alone is one step. After one into
another folder the file may for a while have both names, but never none.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from tests.faults.snapshot import Snapshot

_MOST_COMBINED = 4
_MOST_CONTENTS = 500


@dataclass(frozen=True, slots=True)
class Write:
    """Bytes that were written but not flushed; ``dropped`` when a flush of them has failed."""

    offset: int
    data: bytes
    dropped: bool = False


@dataclass(frozen=True, slots=True)
class Cut:
    """A change of size that was not flushed."""

    size: int


Edit: TypeAlias = Write | Cut


@dataclass(slots=True, eq=False)
class File:
    """The bytes of one file: those that are safe, and the edits that wait."""

    safe: bytes = b""
    edits: list[Edit] = field(default_factory=list)

    @property
    def size(self) -> int:
        return len(applied(self.safe, self.edits))

    def flush(self) -> None:
        """What a flush once failed to store is not tried again: those bytes are zero."""
        self.safe = applied(self.safe, [_as_flushed(edit) for edit in self.edits])
        self.edits = []

    def fail_to_flush(self) -> None:
        """The system forgets what it could not store, and thinks that nothing waits any more."""
        self.edits = [
            Write(edit.offset, edit.data, dropped=True) if isinstance(edit, Write) else edit
            for edit in self.edits
        ]

    def contents(self) -> set[bytes]:
        """Every content that a power cut may leave."""
        edits = [_as_flushed(edit) for edit in self.edits]
        found = {self.safe, applied(self.safe, edits)}
        for done, edit in enumerate(edits):
            found.add(applied(self.safe, edits[:done]))
            if isinstance(edit, Write):
                for kept in {1, len(edit.data) // 2, len(edit.data) - 1}:
                    torn = Write(edit.offset, edit.data[:kept])
                    found.add(applied(self.safe, [*edits[:done], torn]))
        for kept_edits in _subsets(edits):
            zeroed = [edit if i in kept_edits else _as_zero(edit) for i, edit in enumerate(edits)]
            found.add(applied(self.safe, [edit for edit in zeroed if edit is not None]))
        return found


@dataclass(slots=True, eq=False)
class Folder:
    """The names in one folder: those that are safe, and the changes that wait."""

    safe: dict[str, Node] = field(default_factory=dict)
    edits: list[Mapping[str, Node | None]] = field(default_factory=list)

    @property
    def names(self) -> dict[str, Node]:
        return named(self.safe, self.edits)

    def flush(self) -> None:
        self.safe = self.names
        self.edits = []

    def listings(self) -> list[dict[str, Node]]:
        """Every set of names that a power cut may leave."""
        return [
            named(self.safe, [self.edits[i] for i in sorted(kept)]) for kept in _subsets(self.edits)
        ]


Node: TypeAlias = File | Folder


@dataclass(frozen=True, slots=True, eq=False)
class Move:
    """A rename into another folder, neither of which was flushed since."""

    source: Folder
    target: Folder
    name: Mapping[str, Node | None]
    file: File  # one below what was moved, or that itself

    def flush(self, folder: Folder) -> None:
        """The old name cannot be gone for good before the new one is there for good."""
        if folder is self.source:
            self.target.edits = [edit for edit in self.target.edits if edit is not self.name]
            self.target.safe = named(self.target.safe, [self.name])

    def fits(self, paths: dict[str, File]) -> bool:
        """Whether what was moved is in one place, neither in both nor in none."""
        return list(paths.values()).count(self.file) == 1


def applied(data: bytes, edits: list[Edit]) -> bytes:
    """A content after edits; what lies between its end and a later write is zero."""
    content = bytearray(data)
    for edit in edits:
        end = edit.size if isinstance(edit, Cut) else edit.offset
        if isinstance(edit, Cut):
            del content[end:]
        content += b"\0" * (end - len(content))
        if isinstance(edit, Write):
            content[end : end + len(edit.data)] = edit.data
    return bytes(content)


def named(names: Mapping[str, Node], edits: list[Mapping[str, Node | None]]) -> dict[str, Node]:
    """The names after edits; None takes a name away."""
    result: dict[str, Node | None] = dict(names)
    for edit in edits:
        result.update(edit)
    return {name: node for name, node in result.items() if node is not None}


def _as_flushed(edit: Edit) -> Edit:
    if isinstance(edit, Write) and edit.dropped:
        return Write(edit.offset, b"\0" * len(edit.data))
    return edit


def _as_zero(edit: Edit) -> Edit | None:
    return Write(edit.offset, b"\0" * len(edit.data)) if isinstance(edit, Write) else None


def _subsets(edits: list[Any]) -> Iterator[frozenset[int]]:
    """Which of the edits reached the disk: any, or, when they are many, any beginning of them."""
    places = range(len(edits))
    if len(edits) > _MOST_COMBINED:
        yield from (frozenset(places[:done]) for done in range(len(edits) + 1))
        return
    for size in range(len(edits) + 1):
        yield from (frozenset(kept) for kept in itertools.combinations(places, size))


class Disk:
    """Follows the calls of a process below a root folder; a shim feeds it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.top = Folder()
        self._open: dict[int, tuple[Node, int]] = {}
        self._moves: list[Move] = []

    def adopt(self, snapshot: Snapshot, folder: str = "") -> None:
        """Begin with files that are safe in all their parts."""
        for name, data in snapshot.files.items():
            *parents, last = Path(folder, name).parts
            names = self.top.safe
            for parent in parents:
                below = names.setdefault(parent, Folder())
                assert isinstance(below, Folder)
                names = below.safe
            names[last] = File(data)

    def watch(self, name: str, arguments: tuple[Any, ...], result: Any) -> bool:
        """Follow one call; whether it changed what a power cut could leave."""
        match name:
            case "open":
                return self._opened(Path(arguments[0]), arguments[1], result)
            case "close":
                self._open.pop(arguments[0], None)
            case "write":
                return self._wrote(arguments[0], arguments[1][:result])
            case "ftruncate" if arguments[0] in self._open:
                node = self._open[arguments[0]][0]
                assert isinstance(node, File)
                node.edits.append(Cut(arguments[1]))
                return True
            case "fsync" | "fdatasync":
                node = self._open[arguments[0]][0]
                node.flush()
                for move in list(self._moves):
                    if node in (move.source, move.target):
                        move.flush(node)
                        self._moves.remove(move)
                return True
            case "fsync failed":
                node = self._open[arguments[0]][0]
                if isinstance(node, File):
                    node.fail_to_flush()
                return True
            case "link" | "rename" | "unlink" | "mkdir" | "rmdir":
                return self._renamed(name, arguments)
        return False

    def _opened(self, path: Path, flags: int, descriptor: int) -> bool:
        if path.name.endswith((".lock", ".owner")):
            return False
        folder, node = self._find(path)
        created = node is None
        if node is None:
            node = File()
            folder.edits.append({path.name: node})
        self._open[descriptor] = (node, flags)
        return created

    def _wrote(self, descriptor: int, data: bytes) -> bool:
        if descriptor not in self._open:
            return False
        node, _ = self._open[descriptor]
        assert isinstance(node, File)
        node.edits.append(Write(node.size, bytes(data)))  # the store only ever writes at the end
        return True

    def _renamed(self, name: str, arguments: tuple[Any, ...]) -> bool:
        source = Path(arguments[0])
        folder, node = self._find(source)
        match name:
            case "mkdir":
                folder.edits.append({source.name: Folder()})
            case "unlink" | "rmdir":
                folder.edits.append({source.name: None})
            case "link":
                folder.edits.append({Path(arguments[1]).name: node})
            case "rename":
                assert node is not None
                self._moved(folder, node, source, Path(arguments[1]))
        return True

    def _moved(self, folder: Folder, node: Node, source: Path, target: Path) -> None:
        into, _ = self._find(target)
        if into is folder:
            folder.edits.append({source.name: None, target.name: node})
            return
        name = {target.name: node}
        into.edits.append(name)
        folder.edits.append({source.name: None})
        self._moves.append(Move(folder, into, name, next(_files_below(node))))

    def _find(self, path: Path) -> tuple[Folder, Node | None]:
        if path == self.root:
            return self.top, self.top
        folder = self.top
        *parents, last = path.relative_to(self.root).parts
        for parent in parents:
            below = folder.names[parent]
            assert isinstance(below, Folder)
            folder = below
        return folder, folder.names.get(last)

    def states(self) -> Iterator[Snapshot]:
        """Every disk that may be found when the power goes now, each once."""
        seen: set[object] = set()
        for state in _trees(paths for paths in _paths(self.top) if self._is_legal(paths)):
            if state.key not in seen:
                seen.add(state.key)
                yield state

    def _is_legal(self, paths: dict[str, File]) -> bool:
        return all(move.fits(paths) for move in self._moves)


def _files_below(node: Node) -> Iterator[File]:
    if isinstance(node, File):
        yield node
    else:
        for below in node.names.values():
            yield from _files_below(below)


def _trees(listings: Iterable[dict[str, File]]) -> Iterator[Snapshot]:
    for paths in listings:
        files = [*dict.fromkeys(paths.values())]
        for contents in _combined([sorted(file.contents()) for file in files]):
            found = dict(zip(files, contents, strict=True))
            first: dict[File, str] = {}
            same = {}
            for path in sorted(paths):
                if (earlier := first.setdefault(paths[path], path)) != path:
                    same[path] = earlier
            yield Snapshot({path: found[file] for path, file in paths.items()}, same)


def _combined(choices: list[list[bytes]]) -> Iterator[Sequence[bytes]]:
    """What the files may hold together; when that is too much, one of them varies at a time."""
    if math.prod(map(len, choices)) <= _MOST_CONTENTS:
        yield from itertools.product(*choices)
        return
    first = [choice[0] for choice in choices]
    for at, choice in enumerate(choices):
        yield from ([*first[:at], content, *first[at + 1 :]] for content in choice)


def _paths(folder: Folder) -> Iterator[dict[str, File]]:
    for listing in folder.listings():
        below = [
            [{f"{name}/{path}": file for path, file in paths.items()} for paths in found]
            for name, node in listing.items()
            if isinstance(node, Folder)
            for found in [list(_paths(node))]
        ]
        here = {name: node for name, node in listing.items() if isinstance(node, File)}
        for parts in itertools.product(*below):
            yield here | {path: file for part in parts for path, file in part.items()}
