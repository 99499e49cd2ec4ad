"""What capturing and reverting files costs, beside ``git status`` in the same run.

``python -m tests.benchmarks.workspace [files …]``: 2,000 and 20,000 files by default.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.workspace.yard import Yard, git

RUNS = 5
REVERTED = 100
FIRST_LIMIT = 1.5
"""How much longer than ``git status`` the first capture of a repository may take."""
TURN_LIMITS = {2_000: 0.05, 20_000: 0.3, 200_000: 2.0}
"""What a turn with one change may cost, in seconds: a capture before and one after it."""


@dataclass(frozen=True, slots=True)
class Costs:
    """Medians in seconds, and what the store holds for each byte that changed."""

    files: int
    status: float
    first: float
    quiet: float
    turn: float
    revert: float
    store_ratio: float

    def line(self) -> str:
        """The figures of one size, with the ratios to ``git status``."""
        return (
            f"{self.files:>7,} files: git status {self.status * 1e3:.0f} ms,"
            f" first capture {self.first * 1e3:.0f} ms ({self.first / self.status:.2f} x),"
            f" nothing changed {self.quiet * 1e3:.0f} ms ({self.quiet / self.status:.2f} x),"
            f" a turn {self.turn * 1e3:.0f} ms ({self.turn / self.status:.2f} x),"
            f" revert of {REVERTED} files {self.revert * 1e3:.0f} ms,"
            f" store {self.store_ratio:.2f} x what changed"
        )


def seconds(work: Callable[[], object]) -> float:
    """How long something takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def make_repository(root: Path, files: int) -> None:
    """A committed work tree of small files, 50 to a folder."""
    text = "".join(f"line {number} of a file\n" for number in range(60))
    for number in range(files):
        folder = root / f"d{number // 1000}" / f"e{number // 50}"
        if number % 50 == 0:
            folder.mkdir(parents=True, exist_ok=True)
        (folder / f"f{number}.py").write_text(f"{number}\n{text}")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "one")
    git(root, "status")


def measure(files: int, folder: Path) -> Costs:
    """Capture and revert in a repository of a size."""
    yard = Yard(folder, with_git=True)
    make_repository(yard.root, files)
    status = ["git", "status", "--porcelain"]
    ask_git: Callable[[], object] = lambda: subprocess.run(  # noqa: E731
        status, cwd=yard.root, capture_output=True, check=True
    )
    ask_git()
    firsts, statuses = [], []
    for run in range(RUNS):
        statuses.append(seconds(ask_git))
        yard.open(f"first{run}")
        firsts.append(seconds(yard.capture.take))
    yard.open()
    yard.take()
    quiet = [seconds(yard.capture.take) for _ in range(RUNS)]
    paths = sorted(yard.root.glob("d*/e*/*.py"))
    turns = []
    for run in range(RUNS):
        before = seconds(yard.capture.take)
        paths[run].write_text(f"changed {run}\n")
        found = yard.capture.take()
        assert len(found.delta) == 1
        turns.append(before + found.cost_ms / 1e3 + seconds(yard.capture.settle))
    size, changed = _store_size(yard), 0
    for path in paths[-REVERTED:]:
        path.write_text(path.read_text() + "changed by the agent\n")
        changed += path.stat().st_size
    yard.take()
    ratio = (_store_size(yard) - size) / changed
    plan = yard.plan()
    chosen = {key: value for key, value in plan.default.items() if "changed" not in key[0]}
    revert = seconds(lambda: yard.revert(plan, chosen))
    return Costs(
        files,
        statistics.median(statuses),
        statistics.median(firsts),
        statistics.median(quiet),
        statistics.median(turns),
        revert,
        ratio,
    )


def _store_size(yard: Yard) -> int:
    objects = yard.folder / "store" / "objects"
    return sum(place.stat().st_size for place in objects.rglob("*") if place.is_file())


def main() -> None:
    """Measure the sizes that were asked for."""
    for files in [int(word) for word in sys.argv[1:]] or [2_000, 20_000]:
        with tempfile.TemporaryDirectory() as scratch:
            print(measure(files, Path(scratch) / "yard").line(), flush=True)


if __name__ == "__main__":
    main()
