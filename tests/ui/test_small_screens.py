"""Archives, revert preview, confirmation, help and attribution: what they promise."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from textual import events
from textual.screen import Screen

from agent_tui.core.errors import StorageError
from agent_tui.core.events import Question
from agent_tui.core.messages import ToolCall
from agent_tui.core.records import AssistantMessage, Checkpoint, UserMessage
from agent_tui.core.shell import shell_text
from agent_tui.core.summary import ArchiveSummary, CheckpointSummary, RevertPreview
from agent_tui.core.summary_format import write_summary
from agent_tui.core.usage import Gauge, Share
from agent_tui.history.records.checkpoints import preview_revert
from agent_tui.ui.commands.table import COMMANDS
from agent_tui.ui.flows.browsing import Browser
from agent_tui.ui.screens.context.attribution import AttributionScreen
from agent_tui.ui.screens.dialogs.choice import Choice, ChoiceScreen
from agent_tui.ui.screens.dialogs.confirm import ConfirmScreen
from agent_tui.ui.screens.dialogs.grant import GrantScreen
from agent_tui.ui.screens.dialogs.help import HelpScreen
from agent_tui.ui.screens.dialogs.question import QuestionScreen
from agent_tui.ui.screens.time.archives import ArchivesScreen
from agent_tui.ui.screens.time.revert_preview import RevertPreviewScreen
from agent_tui.ui.widgets.bars.heading import Heading
from agent_tui.ui.widgets.bars.key_hints import KeyHints
from agent_tui.ui.widgets.lists.rows import Rows
from tests.ui.stage import Stage
from tests.waiting import rest, settle

ARCHIVES = tuple(
    ArchiveSummary(
        number, f"/s/context.jsonl.{number}", reason, "2026-01-01T00:00:00Z", 4_000, 12, 4
    )
    for number, reason in enumerate(["user", "compaction", "clear"], 1)
)
PREVIEW = RevertPreview(
    checkpoint=7,
    messages_leaving=14,
    messages_staying=22,
    tokens_leaving=18_200,
    tokens_staying=9_400,
    lines=tuple(f"user: line {number} [red]\x1b[2J" for number in range(14)),
    prompt="Fix the parser",
)
SHARES = (
    Share("user", 1_000),
    Share("tool results", 6_000, "run_command", compaction_frees=5_000),
    Share("tool results", 2_000, "src/[bold]x.py"),
)


async def archives() -> Sequence[ArchiveSummary]:
    return ARCHIVES


async def no_archives() -> Sequence[ArchiveSummary]:
    return ()


async def unreadable() -> Sequence[ArchiveSummary]:
    raise StorageError("The folder of this session is gone.")


async def shares(_checkpoint: int | None) -> Sequence[Share]:
    return SHARES


class Followed(Browser):
    """Remembers where a list of archives led, and shows nothing."""

    def __init__(self) -> None:
        self.opened: list[int] = []
        self.restored: list[int] = []

    async def archive(self, number: int) -> bool:
        self.opened.append(number)
        return False

    def restore(self, archive: int) -> None:
        self.restored.append(archive)


async def test_archives_come_newest_first_with_reason_and_size() -> None:
    lead = Followed()
    screen = ArchivesScreen(archives, lead)
    async with (app := Stage(screen=screen)).run_test(size=(100, 20)) as pilot:
        await settle(pilot)
        text = app.text
        assert text.index("was cleared") < text.index("a compaction") < text.index("a revert")
        assert text.count("12 messages · 4.0 KB") == 3
        await pilot.press("down", "enter")
        await settle(pilot)
        assert lead.opened == [2]
        assert app.results == [], "the list stays below what it leads to"


async def test_an_archive_says_in_words_what_it_holds() -> None:
    held = ArchiveSummary(3, "", "user", "", 10, 18, 11, checkpoint=8, prompt="Fix it", gone=4)

    async def load() -> Sequence[ArchiveSummary]:
        none = replace(held, number=2, gone=0, is_part=True)
        every = replace(held, number=1, gone=18)
        return [held, none, every]

    async with (app := Stage(screen=ArchivesScreen(load, Followed()))).run_test(
        size=(170, 20)
    ) as pilot:
        await settle(pilot)
        told = (
            "18 messages, 4 of them not in the log now",
            "18 messages, all of them in the log now",
            "18 messages, none of them in the log now",
        )
        rows = app.text
        assert rows.count("before “Fix it” was reverted") == 3
        assert rows.count("before part of “Fix it” was reverted") == 1
        assert "11 checkpoints" in rows
        assert [rows.count(each) for each in told] == [2, 1, 1], "the preview says it as well"
        await pilot.press("down")
        await settle(pilot)
        assert [app.text.count(each) for each in told] == [1, 2, 1]


@pytest.mark.parametrize("width", [40, 80, 200])
async def test_an_archive_has_two_rows_and_a_long_prompt_in_it_keeps_its_end(width: int) -> None:
    asked = ArchiveSummary(
        7, "", "user", "", 23_600, 18, 11, checkpoint=8, prompt="Fix the bug " * 16, gone=4
    )

    async def load() -> Sequence[ArchiveSummary]:
        return [asked, replace(asked, number=6)]

    lead = Followed()
    screen = ArchivesScreen(load, lead)
    async with (app := Stage(screen=screen)).run_test(size=(width, 20)) as pilot:
        await settle(pilot)
        first, below, second, *_ = app.text.splitlines()[2:]
        assert first.strip().startswith("7  before “")
        assert second.strip().startswith("6  before “")
        assert "…” was reverted" in first or width < 60
        assert below.strip().startswith("18 messages, ")
        assert ("· 23.6 KB" in below) == (width > 60)
        await pilot.click("#past-rows", offset=(8, 3))
        await settle(pilot)
        await pilot.press("enter")
        await settle(pilot)
        assert lead.opened == [6], "a click below a row is on it"


FLIPPED = tuple(
    ArchiveSummary(
        number, f"/s/context.jsonl.{number}", reason, "2026-01-01T00:00:00Z", 4_000, 12, 4,
        of="" if within == 0 else "revert", within=within,
    )
    for number, reason, within in [
        (1, "user", 0), (2, "undo", 1), (3, "redo", 1), (4, "undo", 1), (5, "clear", 0),
        (6, "undo", 5),
    ]
)  # fmt: skip


@pytest.mark.parametrize("width", [100, 50])
async def test_what_undos_and_redos_left_is_one_row_until_it_is_opened(width: int) -> None:
    async def load() -> Sequence[ArchiveSummary]:
        return FLIPPED

    lead = Followed()
    screen = ArchivesScreen(load, lead)
    async with (app := Stage(screen=screen)).run_test(size=(width, 20)) as pilot:
        await settle(pilot)
        assert "2-4  undos and redos, all in archive 1" in app.text
        assert app.text.count("before") == 3, "6, 5 and 1 have rows of their own"
        await pilot.press("down", "down", "r", "c")
        await settle(pilot)
        assert "open the row to list them" in app.text
        await pilot.press("enter")
        await settle(pilot)
        assert app.text.count("before") == 6
        await pilot.press("enter")
        await settle(pilot)
        assert lead.opened == [4], "the cursor is on the newest of those that were folded"
        await pilot.press("a")
        await settle(pilot)
        assert "2-4  undos and redos" in app.text


async def test_the_key_that_folds_says_which_of_both_it_does() -> None:
    async def load() -> Sequence[ArchiveSummary]:
        return FLIPPED

    screen = ArchivesScreen(load, Followed())
    async with (app := Stage(screen=screen)).run_test(size=(100, 20)) as pilot:
        for offered, other in (("a all", "a fold"), ("a fold", "a all"), ("a all", "a fold")):
            await settle(pilot)
            assert offered in app.text
            assert other not in app.text
            await pilot.press("a")


async def test_a_list_in_which_nothing_is_folded_offers_no_key_for_it() -> None:
    async with (app := Stage(screen=ArchivesScreen(archives, Followed()))).run_test() as pilot:
        await settle(pilot)
        assert "a all" not in app.text
        await pilot.press("a")
        await settle(pilot)
        assert app.text.count("before") == 3


async def test_a_restore_asks_first() -> None:
    lead = Followed()
    async with (app := Stage(screen=ArchivesScreen(archives, lead))).run_test() as pilot:
        await settle(pilot)
        await pilot.press("r")
        await settle(pilot)
        assert "Restore archive 3?" in app.text
        await pilot.press("escape")
        await settle(pilot)
        assert app.results == []
        await pilot.press("r")
        await settle(pilot)
        await pilot.press("y")
        await settle(pilot)
        assert lead.restored == [3]
        assert app.results == ["changed"]


async def test_nothing_is_restored_into_a_read_only_session() -> None:
    screen = ArchivesScreen(archives, Followed(), read_only="open in another window")
    async with (app := Stage(screen=screen)).run_test(notifications=True) as pilot:
        await settle(pilot)
        await pilot.press("r")
        await rest(pilot, 0.2)
        assert "Nothing can be restored here" in app.text
        assert app.results == []


@pytest.mark.parametrize(("load", "text"), [(no_archives, "No archives"), (unreadable, "is gone")])
async def test_no_archives_and_unreadable_ones_are_said_in_words(load, text) -> None:  # type: ignore[no-untyped-def]
    async with (app := Stage(screen=ArchivesScreen(load, Followed()))).run_test(
        notifications=True
    ) as pilot:
        await rest(pilot, 0.2)
        await pilot.press("enter", "r")
        assert text in app.text
        assert app.results == []


@pytest.mark.parametrize("size", [(40, 12), (120, 40)])
async def test_a_revert_shows_what_leaves_and_what_stays(size: tuple[int, int]) -> None:
    async with (app := Stage(screen=RevertPreviewScreen(PREVIEW))).run_test(size=size) as pilot:
        await settle(pilot)
        for text in (
            "14 messages removed",
            "22 messages kept",
            "18.2k",
            "9.4k",
            "line 0 [red]␛[2J",
        ):
            assert text in app.text
        for text in ("Revert to checkpoint 7?", "Revert", "Cancel"):
            assert text in app.text


@pytest.mark.parametrize("width", [60, 100, 160])
async def test_what_leaves_is_cut_once_where_the_box_ends(width: int) -> None:
    calls = (ToolCall("c", "edit_file", "{}"), ToolCall("d", "run_command", "{}"))
    leaving = (AssistantMessage("some words " * 30, calls), UserMessage("a request " * 30, "human"))
    preview = preview_revert([Checkpoint(0), *leaving], 0, lambda _message: 1)
    async with (app := Stage(screen=RevertPreviewScreen(preview))).run_test(
        size=(width, 24)
    ) as pilot:
        await settle(pilot)
        for who in ("agent [edit_file, run_command]: some", "you: a request"):
            (row,) = [line for line in app.text.splitlines() if who in line]
            assert row.count("…") == 1
            assert row.partition("…")[2].strip(" ▁▔▕▏│┃") == ""


@pytest.mark.parametrize(
    ("left", "told"),
    [
        (
            UserMessage(write_summary("## Current focus\n- the tide"), "compaction"),
            "summary of what came before: Current focus",
        ),
        (UserMessage(shell_text("ls -l | wc", "3"), "shell"), "you: ! ls -l | wc"),
        (UserMessage("<system>is</system> a tag", "human"), "you: <system>is</system> a tag"),
    ],
)
def test_what_leaves_is_told_as_the_conversation_shows_it(left: UserMessage, told: str) -> None:
    (line,) = preview_revert([Checkpoint(0), left], 0, lambda _message: 1).lines
    assert line == told


def test_what_leaves_is_told_without_the_marks_of_markdown() -> None:
    said = AssistantMessage("## **FAILED (failures=2)**: both are in `format_height`")
    (line,) = preview_revert([Checkpoint(0), said], 0, lambda _message: 1).lines
    assert line == "agent: FAILED (failures=2): both are in format_height"


@pytest.mark.parametrize(
    ("keys", "result"),
    [(["enter"], True), (["y"], True), (["escape"], False), (["down", "enter"], False)],
)
@pytest.mark.parametrize(
    "make",
    [lambda: RevertPreviewScreen(PREVIEW), lambda: ConfirmScreen("Clear?", "All of it.", "Clear")],
)
async def test_a_question_is_answered_by_keys(make, keys: list[str], result: bool) -> None:  # type: ignore[no-untyped-def]
    async with (app := Stage(screen=make())).run_test() as pilot:
        await settle(pilot)
        await pilot.press(*keys)
        await settle(pilot)
        assert app.results == [result]


@pytest.mark.parametrize(
    "make",
    [
        lambda: RevertPreviewScreen(PREVIEW),
        lambda: ConfirmScreen("Clear?", "All of it.", "Clear"),
        lambda: ChoiceScreen("Which?", [Choice("a", "One"), Choice("b", "Other")]),
    ],
)
async def test_two_enters_that_come_together_close_one_screen(
    make: Callable[[], Screen[Any]],
) -> None:
    """The second is on its way to the rows before the first has closed their screen."""
    below = ConfirmScreen("Below?", "It stays.", "Close")
    async with (app := Stage(screen=below)).run_test() as pilot:
        await settle(pilot)
        answers: list[Any] = []
        await app.push_screen(make(), answers.append)
        await settle(pilot)
        for _ in range(2):
            app.post_message(events.Key("enter", None))
        await settle(pilot)
        assert len(answers) == 1
        assert below in app.screen_stack
        assert not app.results


@pytest.mark.parametrize(
    "make",
    [
        lambda: ConfirmScreen("Clear?", "All of it.", "Clear"),
        lambda: GrantScreen("Allow?", "All of it.", "Allow", "Cancel"),
        lambda: QuestionScreen(Question("q", "Which store?")),
    ],
)
async def test_what_a_question_stands_over_stays_in_sight(make: Callable[[], Screen[Any]]) -> None:
    async with (app := Stage()).run_test() as pilot:
        await app.push_screen(make())
        await settle(pilot)
        assert app.screen.styles.background.a < 1


async def test_an_answer_by_key_and_one_by_click_close_one_screen() -> None:
    """A held key counts in the moment in which the other answer is clicked."""
    screen = GrantScreen("Allow?", "All of it.", "Allow", "Cancel")
    below = ConfirmScreen("Below?", "It stays.", "Close")
    async with (app := Stage(screen=below)).run_test() as pilot:
        await settle(pilot)
        answers: list[bool | None] = []
        await app.push_screen(screen, answers.append)
        await settle(pilot)
        screen.action_answer(answer=False)
        screen.action_answer(answer=True)
        await settle(pilot)
        assert answers == [False]
        assert below in app.screen_stack
        assert not app.results


async def test_a_question_is_answered_by_a_click() -> None:
    async with (
        app := Stage(screen=ConfirmScreen("Clear?", "All of it.", "Clear"))
    ).run_test() as pilot:
        await settle(pilot)
        await pilot.click(Rows, offset=(4, 0))
        await settle(pilot)
        assert app.results == [True]


async def test_help_says_where_the_settings_are() -> None:
    async with (app := Stage(screen=HelpScreen())).run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        assert "agent-tui config edit" in app.text


@pytest.mark.parametrize("width", [40, 80, 140])
async def test_help_tells_every_command_of_the_table(width: int) -> None:
    async with (app := Stage(screen=HelpScreen())).run_test(size=(width, 200)) as pilot:
        await settle(pilot)
        await settle(pilot)
        for command in COMMANDS:
            assert (command.usage if command.slash else command.key_label) in app.text


async def test_attribution_says_what_a_revert_to_a_chosen_checkpoint_would_free() -> None:
    async def load(checkpoint: int | None) -> Sequence[Share]:
        return [Share("user", 900, revert_frees=100 * (checkpoint or 0))]

    places = [CheckpointSummary(n, "", n, step, n, "ask") for n, step in ((3, 0), (4, 1))]
    gauge = Gauge(900, 8_000, 6_000, estimated=False)
    screen = AttributionScreen(gauge, load, lambda: places)
    async with (app := Stage(screen=screen)).run_test(size=(100, 20)) as pilot:
        await settle(pilot)
        await pilot.pause(0.2)
        assert "REVERT" in app.text
        assert "-300" in app.text
        assert "revert to \u25c7 3" in app.text
        await pilot.press("c")
        await pilot.pause(0.2)
        assert "Enter show what it frees" in app.text
        assert "preview revert" not in app.text, "nothing is reverted from here"
        await pilot.press("home", "enter")
        await pilot.pause(0.2)
        assert "-400" in app.text


async def test_a_key_hint_can_be_clicked() -> None:
    async with (app := Stage(screen=HelpScreen())).run_test() as pilot:
        await settle(pilot)
        place = app.text.splitlines()[-1].index("back")
        await pilot.click(KeyHints, offset=(place, 0))
        await settle(pilot)
        assert app.results == [None]


async def test_every_panel_says_what_its_keys_do() -> None:
    async with (app := Stage(screen=ArchivesScreen(archives, Followed()))).run_test() as pilot:
        await settle(pilot)
        await pilot.press("question_mark")
        await rest(pilot, 0.3)
        for words in ("Keys here", "Compare with now", "Restore", "Page down"):
            assert words in app.text
        rows = [row for row in app.text.splitlines() if "panel-leave" in row or "compare" in row]
        names = [re.search(r"(panel|archives)-", row) for row in rows]
        assert len({found.start() for found in names if found}) == 1, "names in one column"
        await pilot.press("escape")
        await settle(pilot)
        assert isinstance(app.screen, ArchivesScreen)


async def test_what_is_told_stands_in_the_place_of_the_keys() -> None:
    screen = ArchivesScreen(archives, Followed(), read_only="open in another window")
    async with (app := Stage(screen=screen)).run_test(size=(100, 20)) as pilot:
        await settle(pilot)
        await pilot.press("r")
        await settle(pilot)
        assert "Nothing can be restored here" in app.text.splitlines()[-1]


async def test_attribution_lists_the_biggest_kind_first_with_its_parts() -> None:
    gauge = Gauge(9_000, 128_000, 100_000, estimated=True)
    screen = AttributionScreen(gauge, shares)
    async with (app := Stage(screen=screen)).run_test(size=(100, 20)) as pilot:
        await settle(pilot)
        text = app.text
        order = ["tool results", "run_command", "src/[bold]x.py", "user"]
        places = [text.index(each) for each in order]
        assert places == sorted(places)
        assert "~9.0k / 128k" in text
        assert "89%" in text
        assert "COMPACTION" in text
        assert "-5.0k" in text


async def test_on_a_wide_screen_figures_stand_beside_what_they_are_of() -> None:
    gauge = Gauge(9_000, 128_000, 100_000, estimated=True)
    async with (app := Stage(screen=AttributionScreen(gauge, shares))).run_test(
        size=(300, 20)
    ) as pilot:
        await settle(pilot)
        head, row = (next(x for x in app.text.split("\n") if y in x) for y in ("WHAT", "8.0k"))
        assert row.index("8.0k") - row.index("\u25a0") < 70
        assert head.index("TOKENS") + len("TOKENS") == row.index("8.0k") + len("8.0k")


@pytest.mark.parametrize(("width", "shown"), [(80, 3), (44, 1), (30, 1)])
async def test_a_heading_leaves_out_whole_notes_where_room_is_short(width: int, shown: int) -> None:
    notes = ("● 7 kept", "name index: 58 tokens", "writing it used 4.1k tokens")
    heading = Heading()
    async with (app := Stage([heading])).run_test(size=(width, 20)) as pilot:
        heading.show("Compaction preview", *notes)
        await pilot.pause()
        assert [note in app.text for note in notes] == [n < shown for n in range(3)]
        assert "names" not in app.text or notes[1] in app.text


async def test_a_key_of_the_conversation_says_where_it_works_on_another_screen() -> None:
    lead = Followed()
    screen = ArchivesScreen(archives, lead)
    async with (app := Stage(screen=screen)).run_test(size=(80, 20)) as pilot:
        await pilot.press("alt+s")
        await pilot.pause()
        assert "Alt+S works in the conversation. Press Esc to go back." in app.text
