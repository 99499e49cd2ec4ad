"""What capturing and reverting files costs, beside ``git status`` in the same run.

``python -m tests.benchmarks.workspace [files …]``: 2,000 and 20,000 files by default.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from agent_tui.workspace.plan import choose
from agent_tui.workspace.restore import Restore
from tests.workspace.yard import Yard, git

RUNS = 5
LOOKS = 30_000
"""A small tree is looked at more often: so many files in all, each time for the first time."""
REVERTS = 3
REVERTED = 100
FIRST_LIMIT = 1.5
"""How much longer than ``git status`` the first capture of a repository may take."""
REVERT_LIMIT = 0.2
"""What a revert of a hundred files may take, in seconds."""
STORE_LIMIT = 2.0
"""How much the store may grow for each byte that changed."""
TURN_LIMITS = {2_000: 0.05, 20_000: 0.3, 200_000: 2.0}
"""What a turn with one change may cost, in seconds: a capture before and one after it."""


@dataclass(frozen=True, slots=True)
class Costs:
    """Medians in seconds, and what the store holds for each byte that changed.

    ``young`` is the first capture of files that were added as they were written: git compares
    their times by the second alone, so a capture looks at each of them.
    """

    files: int
    status: float
    first: float
    young: float
    quiet: float
    turn: float
    revert: float
    bare: float
    store_ratio: float

    @property
    def complaints(self) -> list[str]:
        """What is not reached of what is wanted, in words."""
        first, young = self.first / self.status, self.young / self.status
        turn = TURN_LIMITS.get(self.files, max(TURN_LIMITS.values()))
        reached = {
            f"first capture {first:.2f} x git status, wanted {FIRST_LIMIT} x": first <= FIRST_LIMIT,
            f"of young files {young:.2f} x git status, wanted {FIRST_LIMIT} x": (
                young <= FIRST_LIMIT
            ),
            f"a turn {self.turn:.3f} s, wanted {turn} s": self.turn <= turn,
            f"revert {self.revert:.3f} s, wanted {REVERT_LIMIT} s": self.revert <= REVERT_LIMIT,
            f"store {self.store_ratio:.2f} x, wanted {STORE_LIMIT} x": (
                self.store_ratio <= STORE_LIMIT
            ),
        }
        return [words for words, sound in reached.items() if not sound]

    def line(self) -> str:
        """The figures of one size, with the ratios to ``git status``."""
        return (
            f"{self.files:>7,} files: git status {self.status * 1e3:.1f} ms,"
            f" first capture {self.first * 1e3:.1f} ms ({self.first / self.status:.2f} x,"
            f" of young files {self.young / self.status:.2f} x),"
            f" nothing changed {self.quiet * 1e3:.0f} ms ({self.quiet / self.status:.2f} x),"
            f" a turn {self.turn * 1e3:.0f} ms ({self.turn / self.status:.2f} x),"
            f" revert of {REVERTED} files {self.revert * 1e3:.0f} ms"
            f" ({self.revert / self.status:.2f} x, {self.revert / self.bare:.2f} x bare writes),"
            f" store {self.store_ratio:.2f} x what changed"
        )


def seconds(work: Callable[[], object]) -> float:
    """How long something takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


_YOUNG_SECONDS = 3
"""A file that was written longer ago than this is not young when it is added."""


def make_repository(root: Path, files: int) -> None:
    """A committed work tree of small files, 50 to a folder."""
    text = "".join(f"line {number} of a file\n" for number in range(60))
    for number in range(files):
        folder = root / f"d{number // 1000}" / f"e{number // 50}"
        if number % 50 == 0:
            folder.mkdir(parents=True, exist_ok=True)
        (folder / f"f{number}.py").write_text(f"{number}\n{text}")
    git(root, "config", "gc.auto", "0")  # which would clean up while it is measured
    written = int(time.time())
    while int(time.time()) <= written + _YOUNG_SECONDS:
        time.sleep(0.05)
    git(root, "add", "-A")
    git(root, "commit", "-qm", "one")


def make_young(root: Path) -> None:
    """Let the index be one that was written in the second after its files."""
    newest = max(path.lstat().st_ctime for path in root.glob("d*/e*/*.py"))
    os.utime(root / ".git" / "index", (newest + 1, newest + 1))


def measure(files: int, folder: Path) -> Costs:
    """Capture and revert in a repository of a size."""
    yard = Yard(folder, with_git=True)
    make_repository(yard.root, files)
    status = ["git", "status", "--porcelain"]
    ask_git: Callable[[], object] = lambda: subprocess.run(  # noqa: E731
        status, cwd=yard.root, capture_output=True, check=True
    )
    ask_git()
    firsts: list[float] = []
    youngs: list[float] = []
    statuses: list[float] = []
    for times in (firsts, youngs):
        for _ in range(max(RUNS, LOOKS // files)):
            statuses.append(seconds(ask_git))
            yard.open(f"first{len(statuses)}")
            times.append(seconds(yard.capture.take))
        make_young(yard.root)
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
    reverts, bares = [], []
    for _ in range(REVERTS):
        bares.append(seconds(lambda: write_bare(folder / "bare", paths[-REVERTED:])))
        wanted = {str(path.relative_to(yard.root)) for path in paths[-REVERTED:]}
        plan = yard.plan()
        chosen = {key: value for key, value in plan.default.items() if key[0] in wanted}
        actions = choose(plan, chosen)
        assert len(actions) == REVERTED
        restore = Restore(str(yard.root), yard.store)
        revert = partial(restore.run, actions, "bench", {"operation": "bench"})
        reverts.append(seconds(revert) + seconds(restore.finish))
        for path in paths[-REVERTED:]:
            path.write_text(path.read_text() + "changed by the agent\n")
    return Costs(
        files,
        statistics.median(statuses),
        statistics.median(firsts),
        statistics.median(youngs),
        statistics.median(quiet),
        statistics.median(turns),
        statistics.median(reverts),
        statistics.median(bares),
        ratio,
    )


def write_bare(folder: Path, paths: list[Path]) -> None:
    """The same files written in the plainest way that survives a power cut."""
    folder.mkdir(exist_ok=True)
    for path in paths:
        with (folder / f"{path.name}.tmp").open("wb") as file:
            file.write(path.read_bytes())
            os.fsync(file.fileno())
        (folder / f"{path.name}.tmp").rename(folder / path.name)
    shutil.rmtree(folder)


def _store_size(yard: Yard) -> int:
    objects = yard.folder / "store" / "objects"
    return sum(place.stat().st_size for place in objects.rglob("*") if place.is_file())


def main() -> None:
    """Measure the sizes that were asked for."""
    for files in [int(word) for word in sys.argv[1:]] or [2_000, 20_000]:
        with tempfile.TemporaryDirectory() as scratch:
            costs = measure(files, Path(scratch) / "yard")
            print(
                costs.line(),
                *(f"  not reached: {c}" for c in costs.complaints),
                sep="\n",
                flush=True,
            )


if __name__ == "__main__":
    main()
