"""A list offers only keys that do something: those about rows come and go with the rows."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual.screen import Screen

from agent_tui.core.errors import StorageError
from agent_tui.core.summary import CheckpointSummary
from agent_tui.core.tree import Branch, Comparison
from agent_tui.core.usage import Gauge, Share
from agent_tui.history.view import SessionView
from agent_tui.library.search.finding import SearchAnswer
from agent_tui.ui.screens.context.attribution import AttributionScreen
from agent_tui.ui.screens.dialogs.choice import Choice, ChoiceScreen
from agent_tui.ui.screens.dialogs.keys import describe_keys
from agent_tui.ui.screens.dialogs.picker import Pick, PickerScreen
from agent_tui.ui.screens.sessions.search import SearchScreen
from agent_tui.ui.screens.sessions.session_list import SessionListScreen
from agent_tui.ui.screens.sessions.statistics import StatisticsScreen
from agent_tui.ui.screens.sessions.why import WhyScreen
from agent_tui.ui.screens.time.archives import ArchivesScreen
from agent_tui.ui.screens.time.changes import ChangesScreen
from agent_tui.ui.screens.time.checkpoints import CheckpointsScreen
from agent_tui.ui.screens.time.compare import CompareScreen
from tests.history.views import source_of
from tests.ui.stage import Stage
from tests.ui.test_session_list import Sessions, summary
from tests.ui.test_small_screens import Followed
from tests.ui.test_tree import HEADER, tree_stage, turn
from tests.waiting import settle, until


class Nothing:
    """An index in which nothing is found."""

    async def search(self, text: str, limit: int = 50) -> SearchAnswer:
        return SearchAnswer()

    async def why(self, target: str, cwd: Path) -> list[Any]:
        return []

    async def statistics(self, by: str, since: str = "") -> list[Any]:
        return []

    async def update(self) -> None:
        pass


async def nothing(*_: object) -> tuple[Any, ...]:
    return ()


async def no_messages() -> Comparison:
    return Comparison(Branch("left", (), (), 0), Branch("right", (), (), 0), (), 0)


EMPTY: dict[str, tuple[Callable[[], Screen[Any]], str]] = {
    "archives": (lambda: ArchivesScreen(nothing, Followed()), ""),
    "checkpoints": (lambda: CheckpointsScreen([]), ""),
    "changes": (lambda: ChangesScreen(nothing, nothing), ""),
    "sessions": (lambda: SessionListScreen(Sessions()), "n new  t search text  "),
    "why": (lambda: WhyScreen(Nothing(), "a.py", Path("/w")), ""),
    "statistics": (lambda: StatisticsScreen(Nothing()), ""),
    "context": (lambda: AttributionScreen(Gauge(0, 9, 8, estimated=False), nothing), ""),
    "comparison": (lambda: CompareScreen(no_messages), ""),
}


@pytest.mark.parametrize("name", EMPTY)
async def test_an_empty_list_offers_no_key_about_rows(name: str) -> None:
    make, offered = EMPTY[name]
    async with (app := Stage(screen=make())).run_test(size=(120, 20)) as pilot:
        await settle(pilot, workers=True)
        assert app.text.splitlines()[-1].strip() == f"{offered}? keys  Esc back"


async def test_a_tree_without_messages_offers_no_key_about_rows() -> None:
    app = tree_stage(SessionView(source_of([HEADER])), can_fork=True)
    async with app.run_test(size=(120, 20)) as pilot:
        await settle(pilot, workers=True)
        assert app.text.splitlines()[-1].strip() == "? keys  Esc back"
        named = {each.term for each in describe_keys(app.screen)}
        assert not named & {"b", "r", "f", "c", "l", "s", "d", "u", "U", "m", "Space", "[ ]"}


async def test_a_search_offers_to_open_once_there_is_a_hit_and_no_letter_that_is_typed() -> None:
    async with (app := Stage(screen=SearchScreen(Nothing(), "tide"))).run_test() as pilot:
        await settle(pilot, workers=True)
        assert app.text.splitlines()[-1].strip() == "Esc back"


async def test_the_filter_of_the_sessions_takes_their_letters_and_hints_say_so() -> None:
    screen = SessionListScreen(Sessions(summary(1), summary(2)))
    async with (app := Stage(screen=screen)).run_test(size=(120, 20)) as pilot:
        await settle(pilot, workers=True)
        assert app.text.splitlines()[-1].strip() == (
            "Enter open  n new  / filter  t search text  r rename  d delete  Space mark"
            "  g by project  ? keys  Esc back"
        )
        await pilot.press("slash", *"prompt")
        hints = "Tab list  Enter open  Esc back"
        await until(pilot, lambda: app.text.splitlines()[-1].strip() == hints, lambda: app.text)
        await pilot.press(*" of none")
        without = "Tab search text  Esc back"
        await until(pilot, lambda: app.text.splitlines()[-1].strip() == without, lambda: app.text)


async def test_undo_is_offered_in_the_sessions_once_something_was_deleted() -> None:
    screen = SessionListScreen(Sessions(summary(1)))
    async with Stage(screen=screen).run_test(size=(120, 20)) as pilot:
        await settle(pilot, workers=True)
        assert "Undo" not in {each.meaning for each in describe_keys(screen)}
        await pilot.press("d")
        await settle(pilot, workers=True)
        assert "Undo" in {each.meaning for each in describe_keys(screen)}


@pytest.mark.parametrize(
    ("screen", "offered"),
    [
        (ChoiceScreen("Agent", []), "Esc back"),
        (ChoiceScreen("Agent", [Choice("a", "a")]), "↑↓ choose · Enter select · Esc back"),
        (ChoiceScreen("Tools", [Choice("", "a")], enter=""), "↑↓ move · Esc back"),
        (PickerScreen("Model", []), "Esc back"),
        (PickerScreen("Model", [Pick("a", "a")]), "↑↓ choose · Enter select · Esc back"),
    ],
)
async def test_a_popup_without_rows_offers_only_the_way_out(
    screen: Screen[Any], offered: str
) -> None:
    async with (app := Stage(screen=screen)).run_test(size=(80, 20)) as pilot:
        await settle(pilot, workers=True)
        edge = next(line for line in app.text.splitlines() if "╰" in line)
        assert edge.strip("╰╯─ ") == offered


async def test_a_picker_offers_its_keys_again_when_words_fit() -> None:
    screen = PickerScreen("Model", [Pick("a", "a")])
    async with (app := Stage(screen=screen)).run_test(size=(80, 20)) as pilot:
        await pilot.press("x")
        await until(pilot, lambda: "Enter select" not in app.text)
        await pilot.press("backspace")
        await until(pilot, lambda: "Enter select" in app.text)


@pytest.mark.parametrize("name", ["archives", "checkpoints", "statistics"])
async def test_an_empty_list_has_no_column_heads(name: str) -> None:
    async with (app := Stage(screen=EMPTY[name][0]())).run_test(size=(180, 20)) as pilot:
        await settle(pilot, workers=True)
        shown = [line.strip() for line in app.text.splitlines() if line.strip()]
        assert len(shown) == 3, shown  # the title, why there is nothing, and the keys
        assert "newest first" not in shown[0]


async def test_a_tree_without_branches_counts_none() -> None:
    app = tree_stage(SessionView(source_of([HEADER, *turn(1, "a")])))
    async with app.run_test(size=(120, 20)) as pilot:
        await settle(pilot, workers=True)
        assert "branches" not in app.text


class Building(Nothing):
    """An index that is not there yet."""

    def __init__(self) -> None:
        self.updated = asyncio.Event()

    async def statistics(self, by: str, since: str = "") -> list[Any]:
        raise StorageError("There is no index yet. Create it with: agent-tui index")

    async def update(self) -> None:
        await self.updated.wait()


async def test_statistics_wait_for_an_index_that_is_being_built() -> None:
    async with (app := Stage(screen=StatisticsScreen(service := Building()))).run_test() as pilot:
        await until(pilot, lambda: "Building the index…" in app.text)
        assert "tokens" not in app.text
        service.updated.set()
        await until(pilot, lambda: "There is no index yet" in app.text)


async def test_in_a_narrow_list_the_hint_of_its_purpose_stays() -> None:
    screen = CheckpointsScreen([CheckpointSummary(1, "", 1, 0, 1, "ask")])
    async with (app := Stage(screen=screen)).run_test(size=(40, 12)) as pilot:
        await settle(pilot)
        assert app.text.splitlines()[-1].strip() == "Enter preview revert  ? keys  Esc back"


@pytest.mark.parametrize("width", [60, 100])
async def test_the_context_explains_its_last_columns_where_they_are_shown(width: int) -> None:
    async def load(_: int | None) -> tuple[Share, ...]:
        return (Share("user", 900, compaction_frees=100),)

    screen = AttributionScreen(Gauge(900, 8_000, 6_000, estimated=False), load)
    async with (app := Stage(screen=screen)).run_test(size=(width, 20)) as pilot:
        await settle(pilot, workers=True)
        is_shown = "COMPACTION" in app.text
        assert is_shown == (width == 100)
        assert ("last column: freed by compaction" in app.text) == is_shown
        assert "by revert" not in app.text


@pytest.mark.parametrize("turns", range(0, 30, 3))
async def test_the_context_may_be_left_at_any_moment(turns: int) -> None:
    screen = AttributionScreen(Gauge(900, 8_000, 6_000, estimated=False), nothing)
    async with (app := Stage()).run_test(size=(100, 20)) as pilot:
        app.push_screen(screen)
        await until(pilot, lambda: screen.is_mounted)
        for _ in range(turns):
            await asyncio.sleep(0)
        screen.action_leave()
        await settle(pilot)
        screen._explain_columns()  # as a resize that came right before would have it
        await settle(pilot)
        assert app.screen is not screen


async def test_the_key_of_a_choice_is_spelt_as_in_the_hints() -> None:
    choices = [Choice("open", "Open", key="space"), Choice("copy", "Copy", key="y")]
    async with (app := Stage(screen=ChoiceScreen("Block", choices))).run_test(size=(60, 20)):
        opened, copied = (
            line for line in app.text.splitlines() if "Open" in line or "Copy" in line
        )
        assert opened.split()[-2] == "Space"
        assert copied.split()[-2] == "y"
