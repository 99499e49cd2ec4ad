"""An hour of use, compressed to a sample of it; the whole is ``python -m tests.e2e.hour``."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.hour import Hour


@pytest.mark.timeout(900)
def test_nothing_breaks_in_an_hour_of_use(tmp_path: Path) -> None:
    hour = Hour(rounds=2, resizes=9, chunks_a_round=250, rest_seconds=1)
    hour.play(tmp_path)
