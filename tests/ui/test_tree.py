"""The tree screen: every branch visible, every act handed up, 100,000 records no trouble."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import process_time
from typing import Any

import pytest

from agent_tui.core.errors import StorageError
from agent_tui.core.records import (
    AssistantMessage,
    Checkpoint,
    CompactionRecord,
    HeadRecord,
    LabelRecord,
    Record,
    RevertRecord,
    SessionHeader,
    Stamp,
    UsageRecord,
    UserMessage,
)
from agent_tui.core.tree import TreeRow
from agent_tui.history.sources.file_source import ImportedSource
from agent_tui.history.tree.session_tree import SessionTree
from agent_tui.history.view import SessionView
from agent_tui.ui.flows.browsing import Browser
from agent_tui.ui.screens.dialogs.ask_line import AskLineScreen
from agent_tui.ui.screens.time.browse import BrowseScreen
from agent_tui.ui.screens.time.compare import CompareScreen
from agent_tui.ui.screens.time.scrubber import ScrubberScreen
from agent_tui.ui.screens.time.tree import TreeScreen
from agent_tui.ui.widgets.lists.tree_rows import TreeRows
from tests.history.views import source_of
from tests.ui.stage import Stage
from tests.waiting import rest, settle, until

HEADER = SessionHeader("s1", "/w", "2025-01-01T00:00:00Z", "0", stamp=Stamp("h"))


def turn(number: int, prompt: str, tokens: int = 1_000) -> list[Record]:
    """A checkpoint, a prompt, an answer and its usage, with ids that come from the prompt."""
    return [
        Checkpoint(number, number, 0, stamp=Stamp(f"c-{prompt}")),
        UserMessage(prompt, "human", number, stamp=Stamp(f"u-{prompt}")),
        AssistantMessage(f"## Answer to **{prompt}**", stamp=Stamp(f"a-{prompt}")),
        UsageRecord(tokens, stamp=Stamp(f"g-{prompt}")),
    ]


def branched(read_only: str = "") -> SessionView:
    """a, then b and c left by a revert, then d; compacted; e, left for f inside the file."""
    first = [HEADER, *turn(1, "a")]
    left = [*first, *turn(2, "b [red]\x1b[2J", 2_000), *turn(3, "c", 3_000)]
    went_back = [*first, RevertRecord(1, "user", 2, stamp=Stamp("r")), *turn(2, "d", 4_000)]
    live: list[Record] = [
        HEADER,
        CompactionRecord("manual", "last", 4_000, 1_200, 2, kept=2, stamp=Stamp("k")),
        UserMessage("summary", "compaction", stamp=Stamp("sum")),
        UsageRecord(1_200, stamp=Stamp("ku")),
        *turn(3, "e", 5_000),
        HeadRecord("ku", stamp=Stamp("hd")),
        *turn(3, "f", 6_000),
        LabelRecord("u-d", "the plan", stamp=Stamp("l")),
    ]
    return SessionView(source_of(live, left, went_back, read_only=read_only))


class Undoable(Browser):
    """Leads on from a session with an operation to undo."""

    def find_can_undo(self) -> bool:
        return True


def tree_stage(view: SessionView, lead: Callable[..., Browser] = Undoable, **options: Any) -> Stage:
    """The tree of a session, over an app that leads on from it."""
    return Stage(make_screen=lambda app: TreeScreen(view, lead(app, view), **options))


async def test_branches_stand_beside_their_parting_and_the_trunk_goes_down() -> None:
    async with (app := tree_stage(branched())).run_test(size=(100, 24)) as pilot:
        await settle(pilot)
        lines = [line.strip() for line in app.text.splitlines() if line.strip()][2:-1]
        said = ["a", "b [red]␛[2J", "c", "reverted to checkpoint 2", "d", "compacted", "e"]
        said += ["switched branch", "f"]
        assert [word in line for word, line in zip(said, lines, strict=False)] == [True] * 9
        assert [line[1:3] == "├─" for line in lines[:9]] == [i in (1, 6) for i in range(9)]
        assert "".join(line[0] for line in lines[:9]) == "▏▏▏▏▏▌▌▌▌", "one line to the present"
        assert "archive 1" in lines[2]
        assert "archive 2" in lines[4]
        assert "the plan" in lines[4]
        assert "◂ now" in lines[8]
        assert "6.0k" in lines[8]
        assert lines[8].startswith("▌")
        assert "2 branches" in app.text
        assert app.screen.query_one(TreeRows).cursor == 8


@pytest.mark.parametrize(
    ("key", "act"),
    [
        ("b", "branch"),
        ("r", "switch"),
        ("l", "label"),
        ("m", "summarise"),
        ("u", "undo"),
        ("U", "redo"),
    ],
)
async def test_acts_are_handed_up_with_their_row(key: str, act: str) -> None:
    async with (app := tree_stage(branched())).run_test() as pilot:
        await settle(pilot)
        await pilot.press("home", "down", "down", key)
        await settle(pilot)
        [choice] = app.results
        assert choice.act == act
        assert choice.tree.tree.uuid(choice.row.place) == "u-c"


async def test_a_read_only_session_is_looked_at_but_not_changed() -> None:
    async with (app := tree_stage(branched("open in another window"))).run_test(
        size=(120, 24)
    ) as pilot:
        await settle(pilot)
        await pilot.press("b", "r", "l", "u", "U", "m")
        await settle(pilot)
        assert app.results == []
        assert "branch " not in app.text.splitlines()[-1]
        await pilot.press("s")
        await settle(pilot)
        assert isinstance(app.screen, ScrubberScreen)


@pytest.mark.parametrize("read_only", ["", "open in another window"])
async def test_a_fork_is_handed_up_from_windows_that_cannot_write_too(read_only: str) -> None:
    async with (app := tree_stage(branched(read_only), can_fork=True)).run_test(
        size=(120, 24)
    ) as pilot:
        await settle(pilot)
        assert "f fork" in app.text.splitlines()[-1]
        await pilot.press("home", "down", "f")
        await settle(pilot)
        [choice] = app.results
        assert choice.act == "fork"
        assert choice.tree.tree.uuid(choice.row.place) == "u-b [red]\x1b[2J"


async def test_what_was_opened_by_path_cannot_be_forked() -> None:
    async with (app := tree_stage(branched("it was opened read-only"))).run_test(
        size=(120, 24)
    ) as pilot:
        await settle(pilot)
        assert "fork" not in app.text.splitlines()[-1]
        await pilot.press("f")
        await settle(pilot)
        assert app.results == []


async def test_keys_are_offered_only_where_they_would_do_something() -> None:
    async with (app := tree_stage(branched())).run_test(size=(120, 24)) as pilot:
        await settle(pilot)
        hints = app.text.splitlines()[-1]
        assert "Enter view" in hints
        assert "compare" not in hints  # the cursor is on the branch where the session is
        assert "r switch" not in hints
        assert "u undo" in hints
        await pilot.press("home", "down")
        await settle(pilot)
        hints = app.text.splitlines()[-1]
        assert "c compare" in hints
        assert "r switch" in hints


async def test_an_undo_is_not_offered_where_there_is_nothing_to_undo() -> None:
    view = SessionView(source_of([HEADER, *turn(1, "a")]))
    async with (app := tree_stage(view, Browser)).run_test(size=(120, 24)) as pilot:
        await settle(pilot)
        hints = app.text.splitlines()[-1]
        assert "b branch" in hints
        assert "u undo" not in hints


async def test_a_row_opens_with_the_context_as_it_was() -> None:
    async with (app := tree_stage(branched())).run_test() as pilot:
        await settle(pilot)
        await pilot.press("home", "down", "enter")
        await settle(pilot)
        assert isinstance(app.screen, BrowseScreen)
        assert "4 messages" in app.text
        assert "Answer to b" in app.text
        await pilot.press("escape")
        await settle(pilot)
        assert isinstance(app.screen, TreeScreen)


async def test_a_branch_is_compared_with_the_present_or_with_a_marked_one() -> None:
    async with (app := tree_stage(branched())).run_test(
        size=(120, 24), notifications=True
    ) as pilot:
        await settle(pilot)
        await pilot.press("c")
        await rest(pilot, 0.2)
        assert "This is the current branch. Press c on a row of another branch." in app.text
        await pilot.press("home", "down", "space", "end", "up", "up", "c")
        await settle(pilot)
        await settle(pilot)
        assert isinstance(app.screen, CompareScreen)
        assert "e  3 messages" in app.text
        assert "b [red]␛[2J  6 messages" in app.text


async def test_the_fold_keeps_the_place() -> None:
    async with (app := tree_stage(branched())).run_test(size=(100, 50)) as pilot:
        await settle(pilot)
        rows = app.screen.query_one(TreeRows)
        await pilot.press("home", "down", "down")
        assert rows.row is not None
        place = rows.row.place
        counts = [rows.count]
        for _ in range(3):
            await pilot.press("d")
            await settle(pilot)
            counts.append(rows.count)
            assert rows.row.place == place
        assert counts[0] < counts[1] < counts[2]
        assert counts[3] == counts[0]


async def test_branches_are_found_with_a_key() -> None:
    async with (app := tree_stage(branched())).run_test() as pilot:
        await settle(pilot)
        rows = app.screen.query_one(TreeRows)
        seen = []
        await pilot.press("home")
        for key in ("]", "]", "]", "["):
            await pilot.press(key)
            seen.append(rows.cursor)
        assert seen == [1, 6, 6, 1]


@pytest.mark.parametrize("size", [(40, 12), (80, 24), (120, 40)])
async def test_the_present_is_in_view_at_every_size(size: tuple[int, int]) -> None:
    async with (app := tree_stage(branched())).run_test(size=size) as pilot:
        await settle(pilot)
        assert "◂ now" in app.text
        assert "Esc back" in app.text


async def test_an_empty_session_and_an_unreadable_one_say_so() -> None:
    class Gone(ImportedSource):
        def build_tree(self, *, related: bool) -> SessionTree:
            raise StorageError("The folder of this session is gone.")

    empty = source_of([HEADER])
    gone = Gone(empty._found)
    for source, text in ((empty, "No messages yet"), (gone, "is gone")):
        async with (app := tree_stage(SessionView(source))).run_test(notifications=True) as pilot:
            await rest(pilot, 0.2)
            await pilot.press("enter", "b", "c", "s", "d", "space", "]")
            await rest(pilot, 0.2)
            assert text in app.text
            assert app.results == []


async def test_archives_that_were_left_out_are_counted_and_named() -> None:
    class WithoutOne(ImportedSource):
        def build_tree(self, *, related: bool) -> SessionTree:
            tree = super().build_tree(related=related)
            tree.left_out = ("id/context.jsonl.2",)
            return tree

    whole = source_of([HEADER, *turn(1, "a")])
    view = SessionView(WithoutOne(whole._found))
    async with (app := tree_stage(view)).run_test(size=(120, 24)) as pilot:
        await settle(pilot)
        assert "1 left out" in app.text
        assert "1 log left out, not a regular file: id/context.jsonl.2." in app.text


async def test_where_there_is_no_tree_one_sentence_says_why() -> None:
    class WithoutTree(ImportedSource):
        tree_refusal = "A session that is kept in memory only has no tree and no replay."

    source = WithoutTree(source_of([HEADER])._found)
    async with (app := tree_stage(SessionView(source))).run_test() as pilot:
        await until(pilot, lambda: source.tree_refusal in app.text)
        assert "could not be read" not in app.text
        assert app.text.count("no tree") == 1


async def test_a_hundred_thousand_records_scroll_like_ten() -> None:
    records: list[Record] = [HEADER]
    for number in range(25_000):
        records += turn(number, f"prompt {number}")
    view = SessionView(source_of(records))
    async with (app := tree_stage(view)).run_test(size=(100, 30)) as pilot:
        while "prompt 24999" not in app.text:
            await settle(pilot)
        rows = app.screen.query_one(TreeRows)
        began = process_time()
        for row in range(0, 20_000, 500):
            rows.cursor = row
            await pilot.pause()
        assert (process_time() - began) / 40 < 0.25
        await settle(pilot)
        assert "prompt 19500" in app.text


async def test_a_line_is_asked_for_and_given() -> None:
    async with (app := Stage(screen=AskLineScreen("Label", "note", "old"))).run_test() as pilot:
        await settle(pilot)
        await pilot.press("end", "e", "r", "enter")
        await settle(pilot)
        assert app.results == ["older"]


@pytest.mark.parametrize(
    ("width", "ends"),
    [(80, "◂ now 2 archives session “Other” "), (160, "◂ now archives 15, 17 session “Other” ")],
)
async def test_a_row_at_which_many_logs_end_keeps_its_words_its_tokens_and_its_label_apart(
    width: int, ends: str
) -> None:
    leaves = ("archive 15", "live", "archive 17", "other")
    row = TreeRow(
        0, 0, 0, 0, opens=False, kind="undo", standing="context", label="good point",
        tokens=1_400, leaves=leaves, leaf_titles=("Other",),
    )  # fmt: skip
    record = RevertRecord(1, "undo", 2, stamp=Stamp("r", at="2025-01-01T00:00:00Z"))

    async def describe(_places: Sequence[int]) -> dict[int, Record]:
        return {0: record}

    rows = TreeRows()
    async with Stage([rows]).run_test(size=(width, 10)) as pilot:
        rows.show_outline(1, lambda _: row, describe, 0)
        await settle(pilot)
        line = rows.draw_row(0, width - 1).plain
        assert len(line) <= width - 1
        assert "↺ [good point] undone" in line
        assert ends in line
        assert line.split()[-3] == "1.4k"


async def test_beside_the_tree_stands_what_was_said_last_until_a_row() -> None:
    async with (app := tree_stage(branched())).run_test(size=(120, 24)) as pilot:
        await until(pilot, lambda: "Until here · 6.0k tokens" in app.text)
        await until(pilot, lambda: "\u276f f" in app.text)
        await pilot.press("home", "down")
        await until(pilot, lambda: "\u276f b [red]" in app.text)
        assert "Answer to b [red]" in app.text
        assert "\u276f c" not in app.text
