"""Reverts and captures of files under the harness: enough is tried, and nothing is broken."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.faults import files_layer
from tests.faults.hunt import scratch_folder
from tests.faults.outcome import Effort

Record = Callable[[str, object], None]
ENOUGH = {"deaths": 100, "errors": 300, "double deaths": 1_000, "disks": 80, "broken captures": 80}


@pytest.mark.timeout(300)
def test_a_revert_of_files_is_made_wholly_or_not_at_all(record_property: Record) -> None:
    with scratch_folder() as scratch:
        outcome = files_layer.run(Effort(scratch))
    record_property("faults", outcome.line())
    assert not outcome.findings, "\n".join([outcome.line(), *outcome.findings[:20]])
    short = {unit: n for unit, n in ENOUGH.items() if outcome.counts.get(unit, 0) < n}
    assert not short, f"{outcome.line()}; too few: {short}"
