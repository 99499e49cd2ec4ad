"""``python -m tests.faults [--full] [--write PATH]``: run the harness, and print its tables."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from tests.faults.hunt import CAUGHT, as_markdown, hunt_all, scratch_folder
from tests.faults.layers import LAYERS, Layer
from tests.faults.mutants import MUTANTS
from tests.faults.outcome import Effort, Outcome
from tests.faults.report import layers_table, mutants_table, promises_list, put_rows, write_report


def main() -> int:
    """Run every layer, then every mutant; 0 when all promises hold and all bugs were caught."""
    options = _options()
    wanted = [layer for layer in LAYERS if not options.layer or layer.name in options.layer]
    outcomes = [_run(layer, options.full) for layer in wanted]
    sound = not any(_complaints(layer, found, options.full) for layer, found in outcomes)
    report = [layers_table(outcomes, full=options.full)]
    if options.layer:
        print(report[0])
        if options.write and sound:
            put_rows(report[0], options.write)
        return 0 if sound else 1
    if options.full:
        began = time.monotonic()
        found = hunt_all(_say)
        caught = [name for name, row in found.items() if CAUGHT in row.values()]
        expected = [mutant.name for mutant in MUTANTS if mutant.soonest]
        sound = sound and sorted(caught) == sorted(expected)
        print(as_markdown(found), end="\n\n")
        report += [promises_list(), mutants_table(found, time.monotonic() - began)]
    text = "\n\n".join(report)
    print(text)
    if options.write:
        write_report(text, options.write)
    return 0 if sound else 1


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--full", action="store_true", help="the long form, with all mutants")
    parser.add_argument(
        "--layer", action="append", metavar="NAME", help="only this one, and only its row"
    )
    parser.add_argument(
        "--write",
        type=Path,
        help="put the tables into this file, or between the marks that a README has for them",
    )
    return parser.parse_args()


def _run(layer: Layer, full: bool) -> tuple[Layer, Outcome]:
    with scratch_folder() as scratch:
        outcome = layer.run(Effort(scratch, full=full))
    _say(outcome.line())
    for finding in [*outcome.findings[:20], *_complaints(layer, outcome, full)]:
        _say(f"  {finding}")
    return layer, outcome


def _complaints(layer: Layer, outcome: Outcome, full: bool) -> list[str]:
    if outcome.skipped:
        return []
    goal = layer.goal if full else layer.brief
    few = [
        f"too few {unit}" for unit, number in goal.items() if outcome.counts.get(unit, 0) < number
    ]
    return few + [f"{len(outcome.findings)} broken"] * bool(outcome.findings)


if __name__ == "__main__":
    sys.exit(main())
