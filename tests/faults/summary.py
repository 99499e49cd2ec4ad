"""Prints what the harness counted, so that the log of a test run shows it."""

from __future__ import annotations

from typing import Any

import pytest


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


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """One line for each layer; one for each mutant, with the layer that caught it."""
    layers = properties(terminalreporter, "faults")
    mutants = properties(terminalreporter, "mutants")
    if layers:
        terminalreporter.section("fault harness: what was tried")
        for line in layers:
            terminalreporter.write_line(str(line))
    if mutants:
        terminalreporter.section("fault harness: mutants (python -m tests.faults: full table)")
        for name, promise, soonest, verdict in mutants:
            terminalreporter.write_line(f"{verdict} by {soonest}: {name} ({promise})")
