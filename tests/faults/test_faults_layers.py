"""Every layer of the harness on the store as it is: enough is tried, and nothing is broken."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.faults.hunt import scratch_folder
from tests.faults.layers import LAYERS, Layer
from tests.faults.outcome import Effort

Record = Callable[[str, object], None]


@pytest.mark.timeout(900)
@pytest.mark.parametrize("layer", LAYERS, ids=lambda layer: layer.name.replace(" ", "-"))
def test_nothing_that_the_store_promises_is_broken(layer: Layer, record_property: Record) -> None:
    with scratch_folder() as scratch:
        outcome = layer.run(Effort(scratch))
    record_property("faults", outcome.line())
    if outcome.skipped:
        pytest.skip(outcome.skipped)
    assert not outcome.findings, "\n".join([outcome.line(), *outcome.findings[:20]])
    short = {unit: n for unit, n in layer.brief.items() if outcome.counts.get(unit, 0) < n}
    assert not short, f"{outcome.line()}; too few: {short}"


def test_a_layer_that_cannot_run_says_why(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", "")
    layers = {layer.name: layer for layer in LAYERS}
    for name in ("SIGKILL", "system errors"):
        assert layers[name].run(Effort(tmp_path)).skipped == "strace is not installed"
