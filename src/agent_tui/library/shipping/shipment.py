"""Writing shipments: each file from where the last one ended, into a folder of flat files.

What was shipped stands beside the files, for each form by itself. It is written after them: a
shipment that was cut off is repeated, with the same ids. Spans begin again with the turn that was
not over, because what a turn and a call end with may only come with the next shipment.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from agent_tui.core.errors import AgentTuiError, StorageError, UsageError
from agent_tui.core.record_writing import record_fields
from agent_tui.importers.importer import SessionRef
from agent_tui.importers.registry import importer_of, read
from agent_tui.library.redaction import Redactor
from agent_tui.library.search.raw_lines import lines_before, whole_lines
from agent_tui.library.search.sources import is_lined, tell_trouble
from agent_tui.library.shipping.rows import Row, RowReader
from agent_tui.library.shipping.spans import export_spans

Form: TypeAlias = Literal["jsonl", "parquet", "otlp"]
FORMS: tuple[Form, ...] = get_args(Form)
STATE = "shipped.json"
_ROWS_A_FILE = 200_000
_LONGEST_KEPT, _MOST_KEPT = 200, 1_000
"""Of values that hold no secret, short ones are kept: most rows say the same again."""


@dataclass(slots=True)
class Shipment:
    """What a shipment wrote; ``troubles`` are sentences on sessions that could not be read."""

    sessions: int = 0
    rows: int = 0
    files: list[str] = field(default_factory=list)
    troubles: list[str] = field(default_factory=list)
    redacted: str = ""


class Shipper:
    """Ships sessions into one folder; blocks, so call it in a thread.

    Args:
        folder: where files and state go; made if it is not there.
        redactor: takes secrets out of content, titles and paths.
        with_content: whether what was said goes along; it never does unless this is true.
    """

    def __init__(self, folder: Path, redactor: Redactor, *, with_content: bool = False) -> None:
        self._folder = folder
        self._redactor = redactor
        self._with_content = with_content
        self._state: dict[str, list[Any]] = {}
        self._form = "jsonl"
        self._given: set[str] = set()
        self._harmless: set[str] = {""}
        self._folder_of_given = folder
        self.shipment = Shipment()

    def ship(self, refs: Iterable[SessionRef], form: str = "jsonl") -> Shipment:
        """Write what is new in these sessions.

        Raises:
            UsageError: there is no such form, or Parquet is asked for without duckdb.
            StorageError: the folder cannot be written.
        """
        if form not in FORMS:
            raise UsageError(f"Expected one of {', '.join(FORMS)}, got {form!r}.")
        write = _WRITERS[form]
        if form == "parquet":
            _require_duckdb()
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._form = form
            self._state = self._read_state()
            self._write_all(self._fresh(refs), write)
            self._write_state()
        except OSError as error:
            raise StorageError(f"{self._folder} cannot be written: {error.strerror}.") from error
        self.shipment.redacted = self._redactor.report.sentence
        return self.shipment

    def _write_all(self, rows: Iterator[Row], write: Callable[[Path, list[Row]], Path]) -> None:
        batch: list[Row] = []
        for row in rows:
            if len(batch) >= _ROWS_A_FILE and self._may_cut(batch[-1], row):
                self._write_batch(batch, write)
                batch = []
            batch.append(row)
        if batch:
            self._write_batch(batch, write)

    def _may_cut(self, last: Row, row: Row) -> bool:
        """Whether a file may end between two rows: a turn and its calls are spans of one."""
        begins = row.kind == "prompt" or row.session_id != last.session_id
        return begins or self._form != "otlp"

    def _write_batch(self, batch: list[Row], write: Callable[[Path, list[Row]], Path]) -> None:
        names = (path.name.partition(".")[0] for path in self._folder.glob("events-*"))
        numbers = (name.rpartition("-")[2] for name in names)
        number = max((int(each) for each in numbers if each.isdigit()), default=0) + 1
        path = write(self._folder / f"events-{number:06}", batch)
        self.shipment.rows += len(batch)
        self.shipment.files.append(str(path))

    def _fresh(self, refs: Iterable[SessionRef]) -> Iterator[Row]:
        for ref in refs:
            known = self._known_of(ref)
            if known is not None and known[:3] == list(ref.stamp):
                continue
            if ref.path.parent != self._folder_of_given:
                self._given.clear()  # only the logs of one session say the same again
                self._folder_of_given = ref.path.parent
            try:
                yield from self._rows(ref, known)
            except (AgentTuiError, OSError) as error:
                self.shipment.troubles.append(tell_trouble(ref, error))
                continue
            self.shipment.sessions += 1

    def _rows(self, ref: SessionRef, known: list[Any] | None) -> Iterator[Row]:
        about = importer_of(ref.source).summarise(ref)
        project = self._redactor.redact(about.cwd)
        reader = RowReader(about.session_id, ref.source, project, about.model)
        start, counted = 0, -1
        if known is not None and is_lined(ref) and known[2] == ref.stamp[2]:
            start, counted = _left_at(known) if known[3] <= ref.stamp[0] else (0, -1)
        for _, line in islice(whole_lines(ref, counted), 1) if counted >= 0 else ():
            reader.begin_behind(line)
        if start:
            reader.follow(lines_before(ref, start))
        end, turn = start, (start, counted)
        for offset, line in _lines(ref, start):
            end = offset + len(line) + 1
            for row in reader.rows(line):
                turn = (offset, counted) if row.kind == "prompt" else turn
                if row.id not in self._given:
                    self._given.add(row.id)
                    yield self._safe(row)
            counted = offset if reader.counts_again else counted
        left = turn if self._form == "otlp" else (end, counted)
        self._state[_place(ref)] = [*ref.stamp, end, *left]

    def _safe(self, row: Row) -> Row:
        if not self._with_content:
            row = replace(row, content="")
        safe = row.columns
        for name, value in safe.items():
            if isinstance(value, str) and value not in self._harmless:
                safe[name] = self._redactor.redact(value)
                if safe[name] == value and len(value) < _LONGEST_KEPT:
                    self._harmless.add(value)
                    self._harmless = self._harmless if len(self._harmless) < _MOST_KEPT else set()
        return Row(**safe)

    def _known_of(self, ref: SessionRef) -> list[Any] | None:
        """Up to where a session was shipped, which formerly stood under its path."""
        if (formerly := self._state.pop(_path_of(ref), None)) is not None:
            self._state.setdefault(_place(ref), formerly)
        return self._state.get(_place(ref))

    @property
    def _state_path(self) -> Path:
        return self._folder / (STATE if self._form == "jsonl" else f"shipped-{self._form}.json")

    def _read_state(self) -> dict[str, list[Any]]:
        try:
            found = json.loads(self._state_path.read_bytes())
        except (FileNotFoundError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def _write_state(self) -> None:
        path = self._state_path
        draft = path.with_suffix(".part")
        write_private(draft, json.dumps(self._state).encode())
        draft.replace(path)


def _place(ref: SessionRef) -> str:
    """Names a session in what is kept beside the files: its path itself might hold a secret."""
    return blake2b(os.fsencode(_path_of(ref)), digest_size=16).hexdigest()


def _path_of(ref: SessionRef) -> str:
    return f"{ref.path}#{ref.key}" if ref.key else str(ref.path)


def _left_at(known: list[Any]) -> tuple[int, int]:
    """Where to begin, and the last line before whose tokens may be said again; -1 for none."""
    return (known[4], known[5]) if len(known) > 5 else (known[-1], -1)


def _lines(ref: SessionRef, start: int) -> Iterator[tuple[int, bytes]]:
    if is_lined(ref):
        yield from whole_lines(ref, start)
        return
    for number, record in enumerate(read(ref).records):
        fields = json.dumps(record_fields(record), ensure_ascii=False, default=str)
        yield number, fields.encode("utf-8", "replace")


def _write_lines(path: Path, rows: list[Row]) -> Path:
    path = path.with_suffix(".jsonl")
    lines = (json.dumps(row.columns, ensure_ascii=False, separators=(",", ":")) for row in rows)
    write_private(path, ("\n".join(lines) + "\n").encode("utf-8", "replace"))
    return path


def _write_parquet(path: Path, rows: list[Row]) -> Path:
    import duckdb

    lines = _write_lines(path, rows)
    target = path.with_suffix(".parquet")
    try:
        relation = duckdb.read_json(str(lines), format="newline_delimited")
        relation.write_parquet(str(target))
        target.chmod(0o600)
    finally:
        lines.unlink(missing_ok=True)
    return target


def _write_spans(path: Path, rows: list[Row]) -> Path:
    path = path.with_suffix(".otlp.json")
    body = json.dumps(export_spans(rows), ensure_ascii=False, separators=(",", ":"))
    write_private(path, body.encode("utf-8", "replace"))
    return path


_WRITERS: dict[str, Callable[[Path, list[Row]], Path]] = {
    "jsonl": _write_lines,
    "parquet": _write_parquet,
    "otlp": _write_spans,
}


def _require_duckdb() -> None:
    try:
        import duckdb  # noqa: F401 only whether it is there
    except ImportError:
        raise UsageError(
            "Parquet needs duckdb: install agent-tui[parquet], or ship as jsonl."
        ) from None


def write_private(path: Path, content: bytes) -> None:
    """Write a file that only its owner can read, over one that is there."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
