"""The records of a log too big to be held: found by offset, parsed when they are looked at."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path

from agent_tui.core.records import Record, UnknownRecord
from agent_tui.history.records.lazy_sequence import RecordsOnDisk
from agent_tui.sessions.index import LogIndex
from agent_tui.sessions.replay import Entry, Item

BIG_BYTES = 16 << 20
"""From this size on a log is indexed rather than read."""

_PAGE = 64
_PAGES_KEPT = 32


def shown_record(item: Item | None) -> Record:
    """The record of a line, or one that says why there is none."""
    if isinstance(item, Entry):
        return item.record
    return UnknownRecord("damaged line", {"kept here": item.reason if item else "a blank line"})


class IndexedRecords(RecordsOnDisk):
    """One record for each line of a log; a line that cannot be read is shown as such.

    Making one scans the file for line ends (about a gigabyte in 0.3 s): do it in a thread. Memory
    is nine bytes a line and a few pages of parsed records.
    """

    def __init__(self, path: Path) -> None:
        self._log = LogIndex(path)
        self._log.grow()
        self._pages: OrderedDict[int, list[Record]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._log)

    def at(self, place: int) -> Record:
        return self._page(place // _PAGE)[place % _PAGE]

    def roles(self, first: int, stop: int) -> list[str]:
        return [self._log.role(line) for line in range(first, min(stop, len(self)))]

    def errors(self, first: int, stop: int) -> Sequence[int]:
        return self._log.errors(first, stop)

    def _page(self, number: int) -> list[Record]:
        page = self._pages.get(number)
        if page is None:
            page = self._pages[number] = self._read_page(number)
            if len(self._pages) > _PAGES_KEPT:
                self._pages.popitem(last=False)
        else:
            self._pages.move_to_end(number)
        return page

    def _read_page(self, number: int) -> list[Record]:
        start = number * _PAGE
        stop = min(start + _PAGE, len(self))
        items = {item.offset: item for item in self._log.read(start, stop)}
        page: list[Record] = []
        for line in range(start, stop):
            page.append(shown_record(items.get(self._log.span(line)[0])))
        return page

    @property
    def size(self) -> int:
        """Bytes of the log when it was indexed."""
        return self._log.size

    @property
    def is_ours(self) -> bool:
        """Whether it is a log of agent-tui: other agents write no header."""
        return self._log.count("_session") > 0

    @property
    def message_count(self) -> int:
        return self._log.count_in_all_branches()
