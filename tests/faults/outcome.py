"""What a layer of the harness has to say: how much it tried, and what it found broken."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Effort:
    """How hard to try.

    Attributes:
        scratch: an empty folder that the layer may fill.
        full: the long form, run on demand; the short one runs in CI.
        first_only: stop at the first finding; enough to catch a mutant.
        mutant: the protocol bug that is in force in this process; child processes are told.
    """

    scratch: Path
    full: bool = False
    first_only: bool = False
    mutant: str = ""


@dataclass(slots=True)
class Outcome:
    """The result of one layer.

    Attributes:
        layer: its name.
        counts: how many of what were tried, by unit: ``{"deaths": 571}``.
        findings: every broken promise, one sentence each; empty is the only good answer.
        skipped: why nothing could be tried here, in words.
        note: anything else that a reader of the table should know.
    """

    layer: str
    counts: dict[str, int] = field(default_factory=dict)
    findings: list[str] = field(default_factory=list)
    skipped: str = ""
    note: str = ""
    seconds: float = 0.0

    def count(self, unit: str, by: int = 1) -> None:
        """Say that something was tried."""
        self.counts[unit] = self.counts.get(unit, 0) + by

    def find(self, where: str, broken: list[str]) -> None:
        """Say what was found broken, and where."""
        self.findings += [f"{where}: {sentence}" for sentence in broken]

    def line(self) -> str:
        """The one line that CI prints."""
        if self.skipped:
            return f"{self.layer}: skipped: {self.skipped}"
        tried = ", ".join(f"{number:,} {unit}" for unit, number in self.counts.items())
        note = f" ({self.note})" if self.note else ""
        return f"{self.layer}: {tried}{note}: {len(self.findings)} broken, {self.seconds:.1f} s"

    def to_json(self) -> str:
        return json.dumps(asdict(self))


@contextmanager
def timed(outcome: Outcome) -> Iterator[Outcome]:
    """Measure how long a layer took."""
    began = time.monotonic()
    try:
        yield outcome
    finally:
        outcome.seconds = time.monotonic() - began
