"""What was freed after answers of megabytes is not held."""

from __future__ import annotations

import pytest

from tests.benchmarks.test_http_benchmarks import figures


@pytest.mark.timeout(900)
def test_answers_of_megabytes_leave_no_more_than_the_session_needs() -> None:
    first, floods, _ = figures("tests.benchmarks.memory")
    assert first["mb"] < first["limit_mb"]
    assert floods["session_mb"] >= 50
    assert floods["over_mb"] <= floods["limit_over_mb"]
