"""The report beside this file shows what a run wrote, of every layer and every bug."""

from __future__ import annotations

import re
from pathlib import Path

from tests.faults.hunt import CAUGHT, MISSED
from tests.faults.layers import LAYERS
from tests.faults.mutants import MUTANTS
from tests.faults.outcome import Outcome
from tests.faults.promises import PROMISES
from tests.faults.report import BEGIN, END, layers_table, mutants_table, write_report

README = Path(__file__).with_name("README.md")


def rows(text: str) -> list[list[str]]:
    """The cells of every row of the tables in a text, without their headings."""
    lines = re.findall(r"^\| (.*) \|$", text, re.MULTILINE)
    return [cells for line in lines if (cells := line.split(" | "))[0] not in {"layer", "the bug"}]


def test_the_report_shows_every_layer_and_every_bug() -> None:
    shown = README.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0]
    names = [row[0] for row in rows(shown)]
    assert names == [layer.name for layer in LAYERS] + [mutant.name for mutant in MUTANTS]
    broken = {row[0]: row[3] for row in rows(shown) if len(row) == 5}
    assert set(broken.values()) == {"0"}
    missed = [row[0] for row in rows(shown) if row[-1] == "nobody"]
    assert not missed


def test_every_number_that_is_named_is_a_promise() -> None:
    named = [layer.proves for layer in LAYERS] + [mutant.promise for mutant in MUTANTS]
    numbers = {number for text in named for number in re.findall(r"I\d+", text)}
    assert numbers <= PROMISES.keys()
    shown = README.read_text(encoding="utf-8")
    assert not [number for number, said in PROMISES.items() if f"- {number}: {said}" not in shown]


def test_tables_take_their_place_in_a_readme_and_leave_the_rest_of_it(tmp_path: Path) -> None:
    readme = tmp_path / "README.md"
    readme.write_text(f"before\n\n{BEGIN}\nyesterday\n{END}\n\nafter\n", encoding="utf-8")
    outcomes = [(LAYERS[0], Outcome(LAYERS[0].name, {"deaths": 1_234}, ["lost a line"]))]
    write_report(layers_table(outcomes, full=True), readme)
    text = readme.read_text(encoding="utf-8")
    assert text.startswith(f"before\n\n{BEGIN}\n\nThe long form, on ")
    assert text.endswith(f"|\n\n{END}\n\nafter\n")
    assert "yesterday" not in text
    assert rows(text) == [
        [LAYERS[0].name, LAYERS[0].what, "1,234 deaths", "1", LAYERS[0].proves],
    ]


def test_a_bug_that_nobody_caught_is_told_from_a_change_that_is_none() -> None:
    found = {mutant.name: {"shim": CAUGHT, "fuzz": MISSED} for mutant in MUTANTS}
    harmless = next(mutant.name for mutant in MUTANTS if not mutant.soonest)
    found[harmless] = found[MUTANTS[0].name] = {"shim": MISSED, "fuzz": MISSED}
    caught_by = {row[0]: row[2] for row in rows(mutants_table(found, 60))}
    assert caught_by[MUTANTS[1].name] == "shim"
    assert caught_by[MUTANTS[0].name] == "nobody"
    assert caught_by[harmless] == "nobody, as it should be"
