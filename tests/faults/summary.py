"""Prints what the harness counted, so that the log of a test run shows it."""

from __future__ import annotations

from typing import Any

import pytest

FULL = "the full form: python -m tests.faults --full"


def properties(reporter: pytest.TerminalReporter, name: str) -> list[Any]:
    """What tests recorded under a name, wherever they ran."""
    reports = [report for kind in reporter.stats.values() for report in kind]
    return [
        value
        for report in reports
        if getattr(report, "when", "") == "call"
        for key, value in report.user_properties
        if key == name
    ]


def attack_counts(reporter: pytest.TerminalReporter) -> list[str]:
    """What the attacks printed: how often each was tried, and what came of it."""
    return [
        line
        for report in reporter.stats.get("passed", [])
        if report.when == "call" and report.nodeid.startswith("tests/attacks/")
        for line in report.capstdout.splitlines()
    ]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What attacks counted, one line for each layer, and one for each mutant: the short forms."""
    layers = properties(terminalreporter, "faults")
    mutants = properties(terminalreporter, "mutants")
    if counts := attack_counts(terminalreporter):
        terminalreporter.section("attacks: what was tried")
        for line in sorted(counts):
            terminalreporter.write_line(line)
    if layers:
        terminalreporter.section(
            "fault harness: what the short form tried (all: python -m tests.faults --full)"
        )
        for line in layers:
            terminalreporter.write_line(str(line))
    if mutants:
        terminalreporter.section(
            "fault harness: mutants, each on one layer (on all: python -m tests.faults --full)"
        )
        for name, promise, soonest, verdict in mutants:
            terminalreporter.write_line(f"{verdict} by {soonest}: {name} ({promise})")
