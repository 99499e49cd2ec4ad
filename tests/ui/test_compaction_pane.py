"""The compaction pane: sides aligned, fates and losses visible, nothing done before apply."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from time import process_time

import pytest

from agent_tui.core.errors import CompactionError, ProviderError
from agent_tui.core.records import CompactionRecord
from agent_tui.core.summary import (
    AfterRow,
    CompactionReport,
    CompactionRequest,
    CompactionView,
    DraftSummary,
    Fate,
    Loss,
    MessageFate,
    StrategySummary,
)
from agent_tui.ui.screens.context.compaction import PastCompactionScreen
from agent_tui.ui.screens.context.compaction_preview import CompactionPreviewScreen
from agent_tui.ui.screens.dialogs.compaction_choice import choose_compaction
from agent_tui.ui.widgets.bars.key_hints import KeyHints
from agent_tui.ui.widgets.lists.loss_list import LossList
from agent_tui.ui.widgets.panes.sides import Sides
from agent_tui.ui.widgets.panes.summary_editor import SummaryEditor
from tests.ui.stage import Stage
from tests.waiting import rest, settle, until

SUMMARY = "# Focus\nThe parser must handle nested quotes.\n\n# Done\n- [bold]read[/] src/parser.py"
LOSS = Loss("request", "always use tabs", "Please always use tabs.", 2, 9.0)


def look(
    count: int = 12,
    *,
    summary: str = SUMMARY,
    kept: int = 3,
    first_kept: bool = False,
    pins: frozenset[str] = frozenset(),
    losses: tuple[Loss, ...] = (LOSS,),
) -> CompactionView:
    roles = ("user", "assistant", "tool")
    before = []
    for index in range(count):
        fate: Fate = (
            "kept" if index >= count - kept or (first_kept and index == 0) else "summarised"
        )
        if index == 1 and fate != "kept":
            fate = "dropped"
        key = f"key-{index}"
        before.append(
            MessageFate(
                index,
                key,
                roles[index % 3],
                f"text of {index}",
                100,
                "kept" if key in pins else fate,
                pinned=key in pins,
            )
        )
    staying = [message for message in before if message.fate == "kept"]
    report = CompactionReport(
        trigger="manual",
        strategy="last-messages",
        tokens_before=100 * count,
        tokens_after=100 * len(staying) + 50,
        kept=len(staying),
        summarised=sum(message.fate == "summarised" for message in before),
        dropped=sum(message.fate == "dropped" for message in before),
        archive=0,
    )
    rows = [AfterRow("user", summary, 50, None)] if summary else []
    rows += [AfterRow(each.role, each.text, each.tokens, each.index) for each in staying]
    return CompactionView(tuple(before), tuple(rows), summary, report, losses)


class Session:
    """The session's part: it writes a fixed summary, piece by piece, when told to go on."""

    def __init__(self, draft: DraftSummary | None = None) -> None:
        self.first = draft or DraftSummary("", look())
        self.later_summary = SUMMARY
        self.go_on = asyncio.Event()
        self.go_on.set()
        self.asked: list[tuple[str, str, frozenset[str]]] = []
        self.applied: list[DraftSummary] = []
        self.drafts: list[DraftSummary] = []
        self.error: Exception | None = None
        self.pins_error: Exception | None = None
        self.is_slow = False

    strategies = (
        StrategySummary("last-messages", "keep the last 2"),
        StrategySummary("last-share", "keep the newest 20%"),
    )

    async def _take_time(self) -> None:
        if self.is_slow:
            await asyncio.sleep(0.1)

    async def draft(
        self,
        request: CompactionRequest,
        *,
        on_plan: Callable[[CompactionView], None] | None,
        on_text: Callable[[str], None] | None,
    ) -> DraftSummary:
        pins = request.pins or frozenset()
        self.asked.append((request.focus, request.strategy, pins))
        if self.error is not None:
            raise self.error
        assert on_plan is not None
        assert on_text is not None
        on_plan(look(summary="", losses=(), pins=pins))
        on_text(SUMMARY[:30])
        await self.go_on.wait()
        on_text(SUMMARY[30:])
        if len(self.asked) == 1:
            return self._keep(self.first)
        return self._keep(DraftSummary("", look(summary=self.later_summary, pins=pins)))

    def _keep(self, draft: DraftSummary) -> DraftSummary:
        self.drafts.append(replace(draft, id=str(len(self.drafts))))
        return self.drafts[-1]

    async def revise(
        self, draft_id: str, *, summary: str | None = None, pins: frozenset[str] | None = None
    ) -> DraftSummary:
        await self._take_time()
        if pins and self.pins_error is not None:
            raise self.pins_error
        before = self.drafts[int(draft_id)].view.summary
        return self._keep(
            DraftSummary("", look(summary=summary or before, pins=pins or frozenset()))
        )

    async def apply(self, draft_id: str) -> CompactionReport:
        await self._take_time()
        if self.error is not None:
            raise self.error
        self.applied.append(self.drafts[int(draft_id)])
        return self.applied[-1].view.report


def preview(session: Session) -> Stage:
    return Stage(screen=CompactionPreviewScreen(session))


def past(view: CompactionView) -> Stage:
    async def load() -> CompactionView:
        return view

    return Stage(screen=PastCompactionScreen(3, load))


def sides(app: Stage) -> Sides:
    return app.screen.query_one(Sides)


def split(app: Stage) -> list[tuple[str, str]]:
    """The two columns of every row, stripped."""
    pane = sides(app)
    rows = [
        pane.render_line(y).text.partition("│") for y in range(min(pane.count, pane.size.height))
    ]
    return [(left.strip(), right.strip()) for left, _, right in rows]


async def test_every_message_shows_its_fate_and_its_tokens() -> None:
    async with (app := past(look())).run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        lefts = [left for left, _ in split(app)]
        assert lefts[0].split()[:3] == ["◐", "1", "user"]
        assert lefts[1].split()[:3] == ["○", "2", "agent"]
        assert lefts[11].split()[:3] == ["●", "12", "tool"]
        assert all(left.endswith("100") for left in lefts)
        for text in ("3 kept", "8 summarised", "1 dropped", "1.2k", "~350"):
            assert text in app.text


async def test_a_compaction_that_only_masks_tells_of_no_summary() -> None:
    view = look(kept=12, summary="", losses=())
    report = replace(view.report, strategy="mask", masked=4, masked_tokens=400)
    before = tuple(replace(each, fate="masked") for each in view.before[:4]) + view.before[4:]
    async with (app := past(replace(view, before=before, report=report))).run_test(
        size=(120, 40)
    ) as pilot:
        await settle(pilot)
        heading = sides(app).headings(110).plain
        assert "summary" not in heading
        assert heading.endswith("12 kept, 4 of them masked")
        assert "400 masked" in app.text


async def test_a_row_of_a_tool_names_the_tool() -> None:
    view = look()
    tools = ("edit_file" if each.role == "tool" else "" for each in view.before)
    before = tuple(replace(each, tool=name) for each, name in zip(view.before, tools, strict=True))
    async with (app := past(replace(view, before=before))).run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        lefts = [left for left, _ in split(app)]
        assert lefts[11].split()[:3] == ["●", "12", "edit_file"]


async def test_the_right_side_is_the_new_context_in_its_own_order() -> None:
    for view in (look(), look(first_kept=True), look(kept=11), look(count=5, kept=4)):
        async with (app := past(view)).run_test(size=(120, 60)) as pilot:
            await settle(pilot)
            rights = [right for _, right in split(app) if right]
            kept = [f"● {row.before + 1}" for row in view.after if row.before is not None]
            shown = [" ".join(right.split()[:2]) for right in rights if right.startswith("●")]
            assert rights[0].startswith("◐ summary")
            assert "The parser must handle nested quotes." in rights
            assert rights[len(rights) - len(kept) - 1] == "• [bold]read[/] src/parser.py"
            assert shown == kept
            assert split(app)[-1][0].split() == split(app)[-1][1].split()


async def test_what_no_compaction_touches_comes_first_at_both_sides() -> None:
    view = look()
    report = replace(view.report, tokens_before=2_000, tokens_after=1_150)
    async with (app := past(replace(view, report=report))).run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        left, right = split(app)[0]
        assert left.split() == right.split() == ["system", "prompt", "and", "tools", "800"]
        assert split(app)[1][1].startswith("◐ summary")
        assert sides(app).message == view.before[0]
        await pilot.press("up", "enter")
        await settle(pilot)
        assert app.screen.query_one(Sides).message is None


async def test_a_summary_longer_than_what_it_replaces_pushes_both_sides_down() -> None:
    view = look(count=6, kept=4, summary="\n".join(f"line {number}" for number in range(20)))
    async with (app := past(view)).run_test(size=(120, 60)) as pilot:
        await settle(pilot)
        rows = split(app)
        assert len(rows) == 6 + 21 - 2
        assert rows[-1][0].split() == rows[-1][1].split()
        gap = [row for row in rows if row[0].strip() in ("", "↓ 4 more messages")]
        assert [left.strip() for left, _ in gap] == ["↓ 4 more messages", *[""] * (len(gap) - 1)]
        assert gap[-1][1] == "line 19"


async def test_tab_leads_to_losses_only_where_there_are_any() -> None:
    async with (app := past(look())).run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        assert "Tab losses" in app.text
        await pilot.press("tab")
        await settle(pilot)
        assert "Tab messages" in app.text
        assert app.screen.query_one(LossList).has_focus
        screen = app.screen
        assert isinstance(screen, PastCompactionScreen)
        screen.show_view(look(losses=()), final=True)
        await settle(pilot)
        assert sides(app).has_focus
        assert "No losses found." in app.text
        assert "Tab" not in app.text
        await pilot.press("tab")
        await settle(pilot)
        assert sides(app).has_focus


async def test_enter_on_a_loss_leads_to_its_message() -> None:
    async with (app := past(look())).run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        assert "Please always use tabs." in app.text
        await pilot.press("tab", "enter")
        await settle(pilot)
        assert sides(app).has_focus
        assert sides(app).message == look().before[2]


async def test_narrow_screens_show_one_side_at_a_time() -> None:
    async with (app := past(look())).run_test(size=(60, 24)) as pilot:
        await settle(pilot)
        assert "text of 0" in app.text
        assert "nested quotes" not in app.text
        await pilot.press("right")
        await settle(pilot)
        assert "nested quotes" in app.text
        assert "text of 0" not in app.text
        assert "text of 11" in app.text


async def test_a_low_screen_shows_the_losses_instead_of_the_sides() -> None:
    async with (app := past(look())).run_test(size=(40, 12)) as pilot:
        await settle(pilot)
        assert "always use tabs" not in app.text
        await pilot.press("tab")
        await settle(pilot)
        assert "always use tabs" in app.text
        await pilot.press("enter")
        await settle(pilot)
        assert "text of 2" in app.text


async def test_a_past_compaction_can_be_undone_or_its_log_opened() -> None:
    for key, result in (("u", ("undo", 3)), ("o", ("open", 3)), ("escape", None)):
        async with (app := past(look())).run_test() as pilot:
            await settle(pilot)
            await pilot.press(key)
            await settle(pilot)
            assert app.results == [result]


async def test_the_heading_of_a_past_compaction_names_files_and_retries() -> None:
    view = look()
    report = replace(view.report, files=("src/[b]a.py", "b.py"), retries=2)
    async with (app := past(replace(view, report=report))).run_test(size=(140, 30)) as pilot:
        await settle(pilot)
        assert "with src/[b]a.py, b.py" in app.text
        assert "2 retries" in app.text


async def test_the_heading_of_a_past_compaction_says_plainly_how_it_was_made() -> None:
    view = look()
    report = replace(view.report, trigger="auto", strategy="last-messages")
    async with (app := past(replace(view, report=report))).run_test(size=(140, 30)) as pilot:
        await settle(pilot)
        assert "automatic  last messages" in app.text


async def test_compactions_and_strategies_are_offered_in_plain_words() -> None:
    record = CompactionRecord("auto", "last-share", 9_000, 2_000, 3)
    async with (app := Stage()).run_test(size=(100, 30)) as pilot:
        app.run_worker(choose_compaction(app, [(3, record)]))
        await settle(pilot)
        assert "automatic · last share" in app.text
    async with (app := preview(Session())).run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await pilot.press("s")
        await settle(pilot)
        assert "last share" in app.text
        assert "last-" not in app.text


async def test_enter_reads_a_message_whole() -> None:
    async with (app := past(look())).run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await pilot.press("down", "enter")
        await settle(pilot)
        assert "Message 2" in app.text
        assert "text of 1" in app.text


async def test_fates_stand_there_while_the_summary_is_written() -> None:
    session = Session()
    session.go_on.clear()
    async with (app := preview(session)).run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await pilot.pause(0.2)
        assert "the summary is being written" in app.text
        assert split(app)[0][0].startswith("◐  1 user")
        assert "The parser must han" in app.text
        assert "a apply" not in app.text
        assert "e edit" not in app.text
        await pilot.press("a")
        await settle(pilot)
        assert "The summary is not complete yet." in app.text
        assert session.applied == []
        session.go_on.set()
        await settle(pilot)
        assert "Please always use tabs." in app.text
        app.screen.query_one(KeyHints).show_keys()
        await settle(pilot)
        assert "a apply" in app.text
        assert "e edit" in app.text
        assert session.applied == []


async def test_apply_makes_it_and_escape_does_not() -> None:
    session = Session()
    async with (app := preview(session)).run_test() as pilot:
        await settle(pilot)
        await pilot.press("a")
        await settle(pilot)
        assert session.applied == [session.drafts[0]]
        assert app.results == [session.first.view.report]
    session = Session()
    async with (app := preview(session)).run_test() as pilot:
        await settle(pilot)
        await pilot.press("escape")
        await settle(pilot)
        assert (session.applied, app.results) == ([], [None])


async def test_apply_pressed_twice_applies_once() -> None:
    session = Session()
    async with (app := preview(session)).run_test() as pilot:
        await settle(pilot)
        session.is_slow = True
        await pilot.press("a", "a")
        await rest(pilot, 0.4)
        assert session.applied == [session.drafts[0]]
        assert app.results == [session.first.view.report]


async def test_losses_kept_in_quick_succession_are_all_kept_before_it_is_applied() -> None:
    session = Session()
    async with preview(session).run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        session.is_slow = True
        await pilot.press("tab", "k", "down", "k", "a")
        await rest(pilot, 0.8)
        (applied,) = session.applied
        kept = applied.view.summary.partition("# Kept by hand")[2]
        assert kept.count("\n- ") == 2


async def test_a_pin_set_while_the_summary_is_written_counts_when_it_is_there() -> None:
    session = Session()
    session.go_on.clear()
    async with (app := preview(session)).run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await pilot.press("p")
        session.go_on.set()
        await settle(pilot)
        screen = app.screen
        assert isinstance(screen, CompactionPreviewScreen)
        assert screen._draft is not None
        assert any(message.pinned for message in screen._draft.view.before)


async def test_a_pin_that_leaves_nothing_to_compact_is_let_go_of() -> None:
    session = Session()
    session.pins_error = CompactionError("Nothing to compact.")
    async with (app := preview(session)).run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await pilot.press("p")
        await settle(pilot)
        screen = app.screen
        assert isinstance(screen, CompactionPreviewScreen)
        assert screen._pins == frozenset()
        assert "Nothing to compact." in app.text
        await pilot.press("e")
        await until(pilot, lambda: "Ctrl+S save" in app.text)


async def test_a_failed_apply_says_why_and_the_draft_stays() -> None:
    session = Session()
    async with (app := preview(session)).run_test(size=(120, 40), notifications=True) as pilot:
        await settle(pilot)
        session.error = CompactionError("The log changed.")
        await pilot.press("a")
        await rest(pilot, 0.2)
        assert "The log changed." in app.text
        assert app.results == []


async def test_a_draft_that_would_be_refused_cannot_be_applied() -> None:
    session = Session(DraftSummary("", look(), refusal="It would not make the context smaller."))
    async with (app := preview(session)).run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        assert "It would not make the context smaller." in app.text
        await pilot.press("a")
        await settle(pilot)
        assert session.applied == []


@pytest.mark.parametrize("error", [CompactionError("Nothing to compact."), ProviderError("No.")])
async def test_what_makes_a_draft_impossible_is_said(error: Exception) -> None:
    session = Session()
    session.error = error
    async with (app := preview(session)).run_test() as pilot:
        await settle(pilot)
        assert str(error) in app.text
        hints = app.text.splitlines()[-1]
        assert "strategy" in hints
        assert not [key for key in ("apply", "edit", "pin", "keep") if key in hints]
        assert "Losses" not in app.text
        await pilot.press("a", "e", "p", "k", "escape")
        await settle(pilot)
        assert app.results == [None]


async def test_a_pin_keeps_a_message_without_asking_the_model_again() -> None:
    session = Session()
    async with (app := preview(session)).run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await pilot.press("p")
        await settle(pilot)
        assert split(app)[0][0].startswith("◉  1 user")
        assert len(session.asked) == 1
        await pilot.press("space")
        await settle(pilot)
        assert split(app)[0][0].startswith("◐  1 user")


async def test_k_writes_a_loss_into_the_summary() -> None:
    session = Session()
    async with (app := preview(session)).run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await pilot.press("tab", "k")
        await settle(pilot)
        await pilot.press("tab", "a")
        await settle(pilot)
        assert session.applied[0].view.summary.endswith("# Kept by hand\n- Please always use tabs.")
        assert app.results


async def test_k_keeps_the_loss_that_led_to_its_message_until_another_is_highlighted() -> None:
    session = Session()
    async with (app := preview(session)).run_test(size=(120, 40), notifications=True) as pilot:
        await settle(pilot)
        await pilot.press("tab", "enter")
        await settle(pilot)
        assert sides(app).has_focus
        await pilot.press("down", "k")
        await settle(pilot)
        assert "Choose a loss first. Press Tab for the list." in app.text
        assert "Please always use tabs." not in app.text.partition("Kept by hand")[2]
        await pilot.press("up", "k")
        await settle(pilot)
        await pilot.press("a")
        await settle(pilot)
        assert session.applied[0].view.summary.endswith("# Kept by hand\n- Please always use tabs.")


@pytest.mark.parametrize("keys", [("p",), ("tab", "k"), ("e", "X", "ctrl+s")])
async def test_escape_asks_once_before_it_drops_pins_and_edits(keys: tuple[str, ...]) -> None:
    async with (app := preview(Session())).run_test(size=(120, 40), notifications=True) as pilot:
        await settle(pilot)
        await pilot.press(*keys)
        await settle(pilot)
        await pilot.press("escape")
        await settle(pilot)
        assert "Press Esc again to discard your changes." in app.text
        assert app.results == []
        await pilot.press("escape")
        await settle(pilot)
        assert app.results == [None]


async def test_the_summary_can_be_edited_by_hand() -> None:
    session = Session()
    async with (app := preview(session)).run_test(size=(100, 30)) as pilot:
        await settle(pilot)
        await pilot.press("e", *"X ", "ctrl+s")
        await settle(pilot)
        await pilot.press("a")
        await settle(pilot)
        assert session.applied[0].view.summary == f"X {SUMMARY}"
        assert app.results


async def test_escape_asks_once_before_it_drops_what_was_typed_in_the_editor() -> None:
    async with (app := preview(Session())).run_test(size=(100, 30), notifications=True) as pilot:
        await settle(pilot)
        await pilot.press("e", "X", "escape")
        await settle(pilot)
        assert "Press Esc again to discard your changes." in app.text
        await pilot.press("Y", "escape")
        await settle(pilot)
        assert app.screen.query_one(SummaryEditor).text.startswith("XY")
        await pilot.press("escape")
        await settle(pilot)
        assert not app.screen.query(SummaryEditor)
        assert app.results == []


async def test_escape_leaves_the_editor_before_it_leaves_the_pane() -> None:
    async with (app := preview(Session())).run_test(size=(100, 30)) as pilot:
        await settle(pilot)
        await pilot.press("e", "escape")
        await settle(pilot)
        assert not app.screen.query(SummaryEditor)
        assert sides(app).has_focus
        assert app.results == []


async def test_while_something_is_typed_only_the_keys_of_its_field_are_shown() -> None:
    async with (app := preview(Session())).run_test(size=(100, 30)) as pilot:
        await settle(pilot)
        for key, shown in (
            ("e", "Ctrl+S save  Esc back"),
            ("f", "Enter summarise again  Esc back"),
        ):
            assert app.text.splitlines()[-1].strip().startswith("a apply  e edit  p pin  k keep")
            await pilot.press(key)
            await settle(pilot)
            assert app.text.splitlines()[-1].strip() == shown
            await pilot.press("escape")
            await settle(pilot)


async def test_the_keys_that_are_shown_while_something_is_typed_can_be_clicked() -> None:
    session = Session()
    async with preview(session).run_test(size=(100, 30)) as pilot:
        await settle(pilot)
        for key in ("e", "f"):
            await pilot.press(key, "X")
            await settle(pilot)
            await pilot.click("KeyHints", offset=(2, 0))
            await settle(pilot)
        await pilot.press("a")
        await settle(pilot)
        assert [focus for focus, _, _ in session.asked] == ["", "X"]
        assert session.applied[0].view.summary.count("X# Focus") == 1


async def test_a_focus_or_another_strategy_asks_again() -> None:
    session = Session()
    async with (app := preview(session)).run_test(size=(100, 30)) as pilot:
        await settle(pilot)
        await pilot.press("f", *"tests", "enter")
        await settle(pilot)
        await pilot.press("s")
        await settle(pilot)
        assert "keep the newest 20%" in app.text
        await pilot.press("down", "enter")
        await settle(pilot)
        assert [asked[:2] for asked in session.asked] == [
            ("", ""),
            ("tests", ""),
            ("tests", "last-share"),
        ]


@pytest.mark.parametrize("again", [("f", *"tests", "enter"), ("s", "down", "enter")])
async def test_pins_and_what_was_kept_or_edited_by_hand_outlive_another_summary(
    again: tuple[str, ...],
) -> None:
    session = Session()
    session.later_summary = "# Focus\nThe lexer.\n\n# Done\n- [bold]read[/] src/parser.py"
    async with (app := preview(session)).run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await pilot.press("p", "tab", "k", "tab")
        await settle(pilot)
        await pilot.press("e", *("down",) * 4, "end", "enter", *"- by me", "ctrl+s")
        await settle(pilot)
        for _ in range(2):
            await pilot.press(*again)
            await settle(pilot)
        assert split(app)[0][0].startswith("◉  1 user")
        await pilot.press("a")
        await settle(pilot)
        assert [pins for _, _, pins in session.asked[1:]] == [frozenset({"key-0"})] * 2
        (applied,) = session.applied
        by_hand = "\n\n# Kept by hand\n- by me\n- Please always use tabs."
        assert applied.view.summary == session.later_summary + by_hand
        assert [message.key for message in applied.view.before if message.pinned] == ["key-0"]


async def test_a_line_kept_at_the_moment_another_summary_is_asked_for_is_in_that_one() -> None:
    session = Session()
    async with preview(session).run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        session.is_slow = True
        await pilot.press("tab", "k", "f", *"tests", "enter", "tab")
        await rest(pilot, 0.4)
        await pilot.press("a")
        await rest(pilot, 0.4)
        assert session.applied[0].view.summary.endswith("# Kept by hand\n- Please always use tabs.")


@pytest.mark.parametrize("changes", [("p",), ("p", "tab", "k", "tab")])
async def test_another_summary_that_is_not_possible_leaves_the_draft_as_it_was(
    changes: tuple[str, ...],
) -> None:
    session = Session()
    async with (app := preview(session)).run_test(size=(120, 40), notifications=True) as pilot:
        await settle(pilot)
        await pilot.press(*changes)
        await settle(pilot)
        session.error = CompactionError("Nothing to compact.")
        await pilot.press("s", "down", "enter")
        await rest(pilot, 0.2)
        assert "Nothing to compact." in app.text
        assert split(app)[0][0].startswith("◉  1 user")
        assert ("Kept by hand" in app.text) == ("k" in changes)
        session.error = None
        await pilot.press("f", *"tests", "enter")
        await settle(pilot)
        assert session.asked[-1] == ("tests", "", frozenset({"key-0"}))


async def test_the_fallback_is_named() -> None:
    view = look()
    view = replace(view, report=replace(view.report, fallback=True))
    session = Session(DraftSummary("", view, failure="The server answered 429."))
    async with (app := preview(session)).run_test(size=(100, 30)) as pilot:
        await settle(pilot)
        assert "The server answered 429." in app.text


async def test_ten_thousand_messages_open_at_once() -> None:
    view = look(10_000)
    async with (app := Stage()).run_test(size=(120, 40)) as pilot:
        await pilot.pause()

        async def load() -> CompactionView:
            return view

        began = process_time()
        await app.push_screen(PastCompactionScreen(1, load))
        while not app.screen.query_one(LossList).count:
            await pilot.pause()
        assert process_time() - began < 1.0
        await pilot.press("end")
        await settle(pilot)
        assert split(app)[-1][0].startswith("●")
        assert sides(app).message == view.before[-1]


async def test_the_summary_is_drawn_not_shown_as_markdown() -> None:
    summary = "# Focus\nThe parser must handle **nested quotes**.\n\n- read `parser.py`"
    app = past(look(summary=summary))
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        shown = "\n".join(right for _, right in split(app))
        assert "handle nested quotes." in shown
        assert "• read parser.py" in shown
        assert not [sign for sign in ("**", "# ", "`") if sign in shown]


def test_a_loss_is_shown_without_marks_except_where_they_may_belong_to_a_command() -> None:
    said = Loss("number", "30 seconds", "is known to **30 seconds** in `extremes.py`", 0, 1.0)
    done = Loss("command", "ls **/*.py", "ls **/*.py", 0, 1.0)
    asked = Loss("request", "", "Mind the *stars*, **all of them", 0, 1.0)
    rows = LossList()
    rows._losses = (said, done, asked)
    assert "is known to 30 seconds in extremes.py" in rows.draw_row(0, 100).plain
    assert "ls **/*.py" in rows.draw_row(1, 100).plain
    assert "Mind the stars, all of them" in rows.draw_row(2, 100).plain
    assert "Mind the sta…" in rows.draw_row(2, 27).plain


async def test_a_row_shows_the_words_of_markdown_and_what_a_tool_says_as_it_is() -> None:
    view = look()
    said = ("* Mind the *stars* of `a.py`", "**Done** with __init__.py", "| **kwargs | `x`")
    texts = [replace(each, text=text) for each, text in zip(view.before[:3], said, strict=True)]
    view = replace(view, before=(*texts, *view.before[3:]))
    async with (app := past(view)).run_test(size=(140, 40)) as pilot:
        await settle(pilot)
        shown = [left for left, _ in split(app)]
        assert "Mind the stars of a.py" in shown[0]
        assert "Done with __init__.py" in shown[1]
        assert "| **kwargs | `x`" in sides(app).render_line(2).text
