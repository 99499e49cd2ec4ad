"""Sets the layers on the mutants: the harness is as good as the bugs that it catches."""

from __future__ import annotations

import contextlib
import os
import signal
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

from tests.faults.layers import BY_NAME, LAYERS, Layer
from tests.faults.mutants import MUTANTS, Mutant, in_force
from tests.faults.outcome import Effort

Verdicts: TypeAlias = dict[str, dict[str, str]]
"""By mutant, then by layer: what the layer said of it."""

CAUGHT, MISSED, UNTRIED, SKIPPED = "caught", "-", "", "skipped"


@contextlib.contextmanager
def scratch_folder() -> Iterator[Path]:
    """An empty folder, in memory where that can be had: flushing it costs nothing."""
    shared = Path("/dev/shm")
    place = shared if os.access(shared, os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=place) as scratch:
        yield Path(scratch)


def hunt(mutant: Mutant, layer: Layer) -> str:
    """Whether a layer catches a mutant."""
    with scratch_folder() as scratch, in_force(mutant.name):
        effort = Effort(scratch, first_only=True, mutant=mutant.name)
        try:
            outcome = layer.run(effort)
        except Exception:  # the harness itself could not go on: that is noticed, too
            return CAUGHT
    return SKIPPED if outcome.skipped else CAUGHT if outcome.findings else MISSED


def soonest(mutant: Mutant) -> str:
    """Whether the layer that should notice a mutant soonest does."""
    return hunt(mutant, BY_NAME[mutant.soonest])


class Hung(BaseException):
    """A bug made a layer wait for ever; that is noticed, too."""


@contextlib.contextmanager
def bounded(seconds: float) -> Iterator[None]:
    """Raise Hung when something takes too long, again and again until it is out."""

    def give_up(*_: object) -> None:
        raise Hung

    before = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, seconds, 2)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def hunt_all(say: Callable[[str], None]) -> Verdicts:
    """Every hunting layer on every mutant."""
    table: Verdicts = {}
    for mutant in MUTANTS:
        row = table.setdefault(mutant.name, {})
        for layer in LAYERS:
            if layer.hunts:
                try:
                    with bounded(60):
                        row[layer.name] = hunt(mutant, layer)
                except Hung:
                    row[layer.name] = CAUGHT
        caught = [name for name, verdict in row.items() if verdict == CAUGHT]
        say(f"{mutant.name}: caught by {', '.join(caught) or 'nothing'}")
    return table


def as_markdown(table: Verdicts) -> str:
    """The table mutant by layer, in Markdown."""
    names = [layer.name for layer in LAYERS if layer.hunts]
    promises = {mutant.name: mutant.promise for mutant in MUTANTS}
    lines = ["| mutant | breaks | " + " | ".join(names) + " |", "|---" * (len(names) + 2) + "|"]
    for mutant, row in table.items():
        cells = " | ".join(row.get(name, UNTRIED) for name in names)
        lines.append(f"| {mutant} | {promises[mutant] or 'nothing'} | {cells} |")
    return "\n".join(lines)
