"""``python -m tests.faults [--full] [--write PATH]``: run the harness, and print its two tables."""

from __future__ import annotations

import argparse
import platform
import sys
import time
from pathlib import Path

from tests.faults.hunt import as_markdown, hunt_all, scratch_folder
from tests.faults.layers import LAYERS, Layer
from tests.faults.mutants import MUTANTS
from tests.faults.outcome import Effort, Outcome


def main() -> int:
    """Run every layer, then every mutant; 0 when all promises hold and all bugs were caught."""
    options = _options()
    outcomes = [_run(layer, options.full) for layer in LAYERS]
    sound = not any(_complaints(layer, found, options.full) for layer, found in outcomes)
    report = [_layers_as_markdown(outcomes, options.full)]
    if options.full:
        began = time.monotonic()
        table = hunt_all(_say)
        caught = [name for name, row in table.items() if "caught" in row.values()]
        wanted = [mutant.name for mutant in MUTANTS if mutant.soonest]
        sound = sound and sorted(caught) == sorted(wanted)
        took = time.monotonic() - began
        report += [
            f"{len(caught)} of {len(wanted)} protocol bugs were caught, in {took:.0f} s.",
            as_markdown(table),
        ]
    text = "\n\n".join(report) + "\n"
    print(text)
    if options.write:
        options.write.write_text(text, encoding="utf-8")
    return 0 if sound else 1


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--full", action="store_true", help="the long form, with all mutants")
    parser.add_argument("--write", type=Path, help="write the tables to this file as well")
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


def _layers_as_markdown(outcomes: list[tuple[Layer, Outcome]], full: bool) -> str:
    form = "long" if full else "short"
    where = f"{platform.system()} {platform.release()}, Python {platform.python_version()}"
    lines = [
        f"The {form} form, on {where}:",
        "",
        "| layer | what is done | tried | broken | seconds | what it proves |",
        "|---|---|---:|---:|---:|---|",
    ]
    for layer, outcome in outcomes:
        tried = "<br>".join(f"{number:,} {unit}" for unit, number in outcome.counts.items())
        lines.append(
            f"| {layer.name} | {layer.what} | {outcome.skipped or tried} |"
            f" {len(outcome.findings)} | {outcome.seconds:.0f} | {layer.proves} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
