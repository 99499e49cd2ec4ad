"""The ``doctor`` command: what is there, what is missing, and what to do about it."""

from __future__ import annotations

from agent_tui.core.output import say
from agent_tui.headless.printing import print_json
from agent_tui.runtime.machine.doctor import examine

_MARKS = {"ok": "✓", "warning": "!", "error": "✗"}


def print_findings(*, as_json: bool) -> int:
    """Print every finding; returns 1 where something cannot work."""
    findings = examine()
    if as_json:
        print_json(findings)
    else:
        width = max(len(finding.name) for finding in findings)
        for finding in findings:
            say(f"{_MARKS[finding.state]} {finding.name:<{width}}  {finding.detail}")
    return int(any(finding.state == "error" for finding in findings))
