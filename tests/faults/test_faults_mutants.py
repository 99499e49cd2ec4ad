"""Every deliberate bug is caught; a change that is no bug is not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.faults.hunt import CAUGHT, MISSED, hunt, soonest
from tests.faults.layers import BY_NAME
from tests.faults.mutants import MUTANTS, Mutant

Record = Callable[[str, object], None]
BUGS = [mutant for mutant in MUTANTS if mutant.soonest]
NO_BUGS = [mutant for mutant in MUTANTS if not mutant.soonest]


@pytest.mark.parametrize("mutant", BUGS, ids=lambda mutant: mutant.name.replace(" ", "-"))
def test_a_bug_in_the_protocol_is_caught(mutant: Mutant, record_property: Record) -> None:
    verdict = soonest(mutant)
    record_property("mutants", (mutant.name, mutant.promise, mutant.soonest, verdict))
    assert verdict == CAUGHT


@pytest.mark.parametrize("mutant", NO_BUGS, ids=lambda mutant: mutant.name.replace(" ", "-"))
@pytest.mark.parametrize("layer", ["sequences", "power cut"])
def test_what_is_no_bug_is_not_called_one(mutant: Mutant, layer: str) -> None:
    assert hunt(mutant, BY_NAME[layer]) == MISSED


def test_there_are_enough_mutants() -> None:
    assert len(BUGS) >= 10
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)
