"""What a session shows above its log when it is opened: what its compactions archived."""

from __future__ import annotations

from typing import cast

from agent_tui.core.records import CompactionRecord, Record, UserMessage
from agent_tui.history.view import SessionView
from agent_tui.ui.conversation.shown_log import _before_compactions


class _View:
    """A log and its archives, which tell of compactions as they like."""

    def __init__(self, logs: dict[int, list[Record]], number: int = 0) -> None:
        self.logs, self.records = logs, logs[number]
        self.opened: list[int] = []

    async def open_archive(self, number: int) -> _View:
        assert number not in self.opened, "each archive is read once"
        view = _View(self.logs, number)
        view.opened = self.opened
        self.opened.append(number)
        return view


def _log(archive: int, *texts: str) -> list[Record]:
    compaction = CompactionRecord("manual", "summary", 9, 1, archive)
    return [*([compaction] if archive else []), *(UserMessage(text, "human") for text in texts)]


async def test_each_archive_is_read_once_though_they_lead_in_a_circle() -> None:
    straight = _View({0: _log(2, "now"), 2: _log(1, "later"), 1: _log(0, "first")})
    told = await _before_compactions(cast("SessionView", straight))
    assert [each.content for each in told if isinstance(each, UserMessage)] == ["first", "later"]
    circle = _View({0: _log(2, "now"), 2: _log(1, "later"), 1: _log(2, "first")})
    told = await _before_compactions(cast("SessionView", circle))
    assert [each.content for each in told if isinstance(each, UserMessage)] == ["first", "later"]
    assert circle.opened == [2, 1]
