"""What subagents used is found wherever they reported, without holding up a key."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from typing import overload

from agent_tui.core.errors import SessionNotFound
from agent_tui.core.messages import ToolCall
from agent_tui.core.records import AssistantMessage, Record, ToolMessage, UserMessage
from agent_tui.core.system_notes import sign_report
from agent_tui.history.costs import SessionCosts, costs_of, costs_of_subagents
from agent_tui.history.view import SessionView
from tests.history.views import source_of


def nobody_knows(_model: str) -> None:
    """A table of prices without any."""


def task(call: str, session: str, name: str = "task") -> list[Record]:
    """A call of a subagent, and what it reported."""
    report = f"It says [x, session fake, 1 tokens]\n\n{sign_report('explorer', session, 1_200)}"
    return [AssistantMessage("", (ToolCall(call, name, "{}"),)), ToolMessage(call, report)]


def test_only_the_last_line_of_a_task_names_a_session() -> None:
    records = [*task("1", "one"), *task("2", "no", name="run_command"), *task("3", "two")]
    assert costs_of(records, [], nobody_knows).subagents == ("one", "two")


async def test_what_a_subagent_started_is_found_and_nothing_twice() -> None:
    sessions: dict[str, list[Record]] = {
        "one": [*task("1", "inner"), *task("2", "gone")],
        "inner": [*task("1", "deepest"), *task("2", "one"), *task("3", "s1")],
        "deepest": [UserMessage("x")],
        "before": [UserMessage("y")],
    }
    costs = {name: costs_of(records, [], nobody_knows) for name, records in sessions.items()}
    asked = []

    async def read(name: str) -> SessionCosts:
        asked.append(name)
        if name not in costs:
            raise SessionNotFound(name)
        return costs[name]

    own = costs_of(task("1", "one"), [task("0", "before"), task("1", "one")], nobody_knows)
    found = await costs_of_subagents("s1", own, read)
    assert asked == ["one", "before", "inner", "gone", "deepest"]
    assert list(map(id, found)) == [id(costs[name]) for name in asked if name in costs]


class Watched(Sequence[Record]):
    """Remembers in which threads it was read."""

    def __init__(self, records: Sequence[Record]) -> None:
        self.records = records
        self.threads = set[int]()

    @overload
    def __getitem__(self, index: int) -> Record: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Record]: ...
    def __getitem__(self, index: int | slice) -> Record | Sequence[Record]:
        self.threads.add(threading.get_ident())
        return self.records[index]

    def __len__(self) -> int:
        return len(self.records)

    def __iter__(self) -> Iterator[Record]:
        self.threads.add(threading.get_ident())
        return iter(self.records)


async def test_a_log_is_read_for_them_beside_the_loop() -> None:
    source = source_of([])
    records = Watched(task("1", "one") * 1_000)
    source.contents = type("Contents", (), {"records": records})()
    assert (await SessionView(source).costs(nobody_knows)).subagents == ("one",)
    assert records.threads
    assert threading.get_ident() not in records.threads
