"""How much memory this process takes at most while something is done, whatever it took before.

The peak that the system tells of a process never goes down, so that after one large test no
difference of two peaks can say anything: here it is set back first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

_SET_BACK = Path("/proc/self/clear_refs")
_STATUS = Path("/proc/self/status")


@dataclass(slots=True)
class PeakMemory:
    """Megabytes by which the memory had grown when it was largest; known when the block ends."""

    grown_mb: int = 0


@contextmanager
def peak_memory() -> Iterator[PeakMemory]:
    """Measure what is done in the block; the test is skipped where the system cannot tell."""
    try:
        _SET_BACK.write_text("5")
    except OSError as error:
        pytest.skip(f"The peak of this process's memory cannot be set back here: {error.strerror}.")
    before = _kilobytes("VmRSS")
    peak = PeakMemory()
    yield peak
    peak.grown_mb = max(0, _kilobytes("VmHWM") - before) // 1000


def _kilobytes(name: str) -> int:
    found = re.search(rf"^{name}:\s+(\d+) kB$", _STATUS.read_text(), re.MULTILINE)
    assert found, f"{_STATUS} does not tell {name}"
    return int(found[1])
