"""The tables of a run, as Markdown, and their place in a page."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from pathlib import Path

from tests.faults.hunt import CAUGHT, Verdicts
from tests.faults.layers import Layer
from tests.faults.mutants import MUTANTS
from tests.faults.outcome import Outcome
from tests.faults.promises import PROMISES

BEGIN = "<!-- faults: written by python -m tests.faults --full --write tests/faults/README.md -->"
END = "<!-- end of faults -->"


def layers_table(outcomes: Sequence[tuple[Layer, Outcome]], *, full: bool) -> str:
    """What each layer tried, what it found broken, and what it proves."""
    form = "long" if full else "short"
    where = f"{platform.system()} {platform.release()}, Python {platform.python_version()}"
    lines = [
        f"The {form} form, on {where}:",
        "",
        "| layer | what is done | tried | broken | what holds |",
        "|---|---|---:|---:|---|",
    ]
    for layer, outcome in outcomes:
        tried = ", ".join(f"{number:,} {unit}" for unit, number in outcome.counts.items())
        lines.append(
            f"| {layer.name} | {layer.what} | {outcome.skipped or tried} |"
            f" {len(outcome.findings):,} | {layer.proves} |"
        )
    return "\n".join(lines)


def put_rows(table: str, path: Path) -> None:
    """Put the rows of some layers in the place of those that a page has of them, or behind all."""
    lines = path.read_text(encoding="utf-8").splitlines()
    for row in table.splitlines()[4:]:
        name = row.split(" | ")[0]
        places = [at for at, line in enumerate(lines) if line.startswith(f"{name} |")]
        if places:
            lines[places[0]] = row
        else:
            lines.insert(lines.index("", lines.index("|---|---|---:|---:|---|")), row)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def mutants_table(found: Verdicts, seconds: float) -> str:
    """Who caught which bug, folded away; the one that is no bug is caught by nobody."""
    wanted = sum(bool(mutant.soonest) for mutant in MUTANTS)
    caught = sum(CAUGHT in row.values() for row in found.values())
    lines = [
        f"<details><summary>Would it notice? {caught} of {wanted} deliberate bugs were caught,"
        f" in {seconds / 60:.0f} minutes</summary>",
        "",
        "| the bug | breaks | caught by |",
        "|---|---|---|",
    ]
    for mutant in MUTANTS:
        who = [layer for layer, verdict in found[mutant.name].items() if verdict == CAUGHT]
        nobody = "nobody, as it should be" if not mutant.soonest else "nobody"
        caught_by = ", ".join(who) or nobody
        lines.append(f"| {mutant.name} | {mutant.promise or 'nothing'} | {caught_by} |")
    return "\n".join([*lines, "", "</details>"])


def promises_list() -> str:
    """What the numbers in the tables stand for, folded away."""
    lines = [f"- {number}: {promise}" for number, promise in PROMISES.items()]
    summary = "<details><summary>What is promised, by number</summary>"
    return "\n".join([summary, "", *lines, "", "</details>"])


def write_report(text: str, path: Path) -> None:
    """Put the tables in the place that a README keeps for them, or into a file of their own."""
    whole = path.read_text(encoding="utf-8") if path.exists() else ""
    before, begin, rest = whole.partition(BEGIN)
    _, end, after = rest.partition(END)
    if begin and end:
        text = f"{before}{begin}\n\n{text}\n\n{end}{after}"
    path.write_text(text, encoding="utf-8")
