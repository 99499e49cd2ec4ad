"""The screens about files: what is ticked, what can be chosen, and what is asked for in the end."""

from __future__ import annotations

import re
import shutil
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import AsyncMock, Mock

import pytest

from agent_tui.core.changes import ChangeGroup, FileDiff, fold_repeats, net_changes
from agent_tui.core.diff_pieces import DiffPiece, find_hunks, pieces_by_line
from agent_tui.core.file_changes import ChangeCause, LeftOut
from agent_tui.core.records import WorkspaceRecord
from agent_tui.core.summary import RevertPreview
from agent_tui.runtime.files.change_groups import count_net_changes
from agent_tui.runtime.files.session_files import FilesReverted
from agent_tui.ui.flows.files import browse_changes, revert_call
from agent_tui.ui.screens.time.changes import ChangesScreen, ToRevert
from agent_tui.ui.screens.time.diff_lines import colour_diff
from agent_tui.ui.screens.time.revert_files import RevertDecision, RevertFilesScreen
from agent_tui.ui.widgets.lists.rows import Rows
from agent_tui.workspace.diffs import describe_capture
from agent_tui.workspace.origins import REPLACED
from agent_tui.workspace.plan import make_plan
from tests.ui.stage import Stage
from tests.waiting import rest, until
from tests.workspace.yard import Yard

CODE = "".join(f"line = {number}\n" for number in range(20))
PREVIEW = RevertPreview(7, 14, 22, 18_200, 9_400, ("a",), "Fix")
SIZES = [(120, 36), (60, 20)]


@pytest.fixture
def yard(tmp_path: Path) -> Yard:
    """The agent changed two places of a.py and created new.py; a person changed one since."""
    yard = Yard(tmp_path / "yard")
    yard.write("a.py", CODE)
    yard.take()
    yard.checkpoint()
    agent = CODE.replace("line = 3\n", "broken\n").replace("line = 15\n", "also broken\n")
    yard.write("a.py", agent)
    yard.write("new.py", "[red]not markup[/red]\x1b[2J\n")
    yard.take(call="c1")
    yard.write("a.py", agent.replace("broken\n", "mine\n", 1))
    return yard


def net_of(yard: Yard) -> Callable[[], Awaitable[Sequence[FileDiff]]]:
    """The files that are not what they were."""

    async def load() -> Sequence[FileDiff]:
        return net_changes(change for each in yard.timeline.captures for change in each.delta)

    return load


def preview(yard: Yard) -> RevertFilesScreen:
    return RevertFilesScreen("Back to checkpoint 7?", yard.plan("c0"), PREVIEW)


@pytest.mark.parametrize("size", SIZES, ids=str)
async def test_the_agents_changes_are_ticked_and_a_conflict_is_not(
    yard: Yard, size: tuple[int, int]
) -> None:
    async with (app := Stage(screen=preview(yard))).run_test(size=size) as pilot:
        await rest(pilot, 0.3)
        assert "[-] a.py" in app.text
        assert "conflict: undoes later changes too" in app.text
        assert re.search(
            r"Revert 1 file and 1 part of 1 file(, and remove| and) 14 messages", app.text
        )
        assert "\x1b[2J" not in app.text
        await pilot.press("enter")
        (decision,) = app.results
        assert decision.scope == "both"
        assert decision.choice == {("a.py", True): {2}, ("new.py", True): {0}}


async def test_the_counts_are_said_to_be_those_of_the_revert(tmp_path: Path) -> None:
    yard = Yard(tmp_path / "yard")
    yard.write("a.py", CODE)
    yard.take()
    yard.checkpoint()
    yard.write("a.py", CODE.replace("line = 3\nline = 4\n", "one\n"))
    yard.take(call="c1")
    async with (app := Stage(screen=preview(yard))).run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "[x] a.py" in app.text)
        assert "[x] a.py  reverting: +2 -1" in app.text


@pytest.mark.parametrize("size", SIZES, ids=str)
async def test_a_repository_that_was_replaced_is_told_in_words(
    yard: Yard, size: tuple[int, int]
) -> None:
    plan = replace(yard.plan("c0"), uncovered=(LeftOut(".", REPLACED),))
    screen = RevertFilesScreen("Back to checkpoint 7?", plan, PREVIEW)
    async with (app := Stage(screen=screen)).run_test(size=size) as pilot:
        await until(pilot, lambda: "Revert 1 file" in app.text)
        await pilot.press("tab", "end")
        await until(pilot, lambda: "    some of this folder  its git" in app.text)


async def test_one_click_ticks_a_box(yard: Yard) -> None:
    async with (app := Stage(screen=preview(yard))).run_test(size=(120, 36)) as pilot:
        await rest(pilot, 0.3)
        assert "[-] a.py" in app.text
        await pilot.click("#files", offset=(2, 1))
        assert "[ ] a.py" in app.text
        await pilot.click("#files", offset=(2, 1))
        assert "[x] a.py" in app.text
        await pilot.click("#files", offset=(6, 2))
        assert "[-] a.py" in app.text


async def test_hunks_and_files_are_ticked_by_key(yard: Yard) -> None:
    async with (app := Stage(screen=preview(yard))).run_test(size=(120, 36)) as pilot:
        await rest(pilot, 0.3)
        await pilot.press("space")  # the first one shows where it is
        await pilot.press("up", "space")  # the conflict, asked for by name
        await pilot.press("end", "home", "w")
        assert "Revert 2 files" in app.text
        await pilot.press("r")
        assert not app.results
        await pilot.press("y")  # as in every question
        (decision,) = app.results
        assert isinstance(decision, RevertDecision)
        assert decision.scope == "files"
        assert decision.choice[("a.py", True)] == {1, 2}


async def test_enter_answers_after_a_click_on_what_goes_back(yard: Yard) -> None:
    async with (app := Stage(screen=preview(yard))).run_test(size=(120, 36)) as pilot:
        await rest(pilot, 0.3)
        await pilot.click("#scopes", offset=(6, 1))
        await pilot.pause()
        await pilot.press("enter")
        await until(pilot, lambda: app.results)
        assert app.results[0].scope == "files"


async def test_the_key_of_a_box_is_named_where_there_is_one(yard: Yard) -> None:
    screen = preview(yard)
    async with (app := Stage(screen=screen)).run_test(size=(120, 36)) as pilot:

        async def is_named(*, expected: bool) -> None:
            await until(pilot, lambda: ("Space tick" in app.text) == expected, lambda: app.text)

        await until(pilot, lambda: "[x]" in app.text)
        assert screen.query_one("#answers").has_focus
        await is_named(expected=False)
        assert "Tab files" in app.text
        await pilot.press("tab")
        await is_named(expected=True)
        await until(pilot, lambda: "Tab answers" in app.text)
        await pilot.press("home")  # below the title of the agent's changes
        await is_named(expected=True)
        assert screen.query_one("#files", Rows).cursor == 1
        await pilot.press("w", "w")  # the conversation only
        await is_named(expected=False)


async def test_a_file_that_is_ticked_twice_counts_once(yard: Yard) -> None:
    """Its agent's changes and all changes are two boxes; the wider one is what is made."""
    async with (app := Stage(screen=preview(yard))).run_test(size=(120, 36)) as pilot:
        await rest(pilot, 0.3)
        await pilot.press("tab", "end")
        lines = [line.strip() for line in app.text.splitlines()]
        above = len(lines) - 1 - lines[::-1].index(next(x for x in lines[::-1] if "a.py" in x))
        last = max(at for at, line in enumerate(lines) if "also broken" in line)
        await pilot.press(*["up"] * (last + 1 - above), "space")
        assert "Revert 2 files, and remove" in app.text


async def test_the_answers_name_the_keys_of_the_settings(yard: Yard) -> None:
    app = Stage(make_screen=lambda _: preview(yard))
    app.set_keymap({"revert-files-answer-first": "n", "revert-files-answer-on": "y"})
    async with app.run_test(size=(120, 36)) as pilot:
        await rest(pilot, 0.3)
        (revert,) = (line for line in app.text.splitlines() if "and remove" in line)
        (cancel,) = (line for line in app.text.splitlines() if "Cancel" in line)
        assert (revert.split()[-1], cancel.split()[-1]) == ("n", "y")
        await pilot.press("y")
        assert app.results == [None]


@pytest.mark.parametrize("keys", [[], ["w", "w"]], ids=["both", "conversation"])
async def test_what_is_reverted_is_said_whole_in_the_smallest_window(
    yard: Yard, keys: list[str]
) -> None:
    plan = replace(yard.plan("c0"), paths=yard.plan("c0").paths[1:])
    sheet = RevertFilesScreen("Revert?", plan, PREVIEW)
    async with (app := Stage(screen=sheet)).run_test(size=(40, 14)) as pilot:
        await rest(pilot, 0.3)
        await pilot.press(*keys)
        await rest(pilot, 0.1)
        rows = [row for row in app.text.splitlines() if "14 messages" in row]
        assert len(rows) == 2
        assert not any("…" in row for row in rows)


async def test_choices_and_files_end_at_one_edge_however_wide_the_screen_is(yard: Yard) -> None:
    async with (app := Stage(screen=preview(yard))).run_test(size=(200, 60)) as pilot:
        await rest(pilot, 0.3)
        edges = {
            app.screen.query_one(f"#{each}").region.right for each in ("scopes", "files", "answers")
        }
        assert len(edges) == 1


async def test_what_no_tick_means_is_said(yard: Yard) -> None:
    plan = yard.plan("c0")
    for shown, words in ((PREVIEW, "; no file is ticked"), (None, "Close; no file is ticked")):
        sheet = RevertFilesScreen("Revert?", plan, shown, {})
        async with (app := Stage(screen=sheet)).run_test(size=(120, 36)) as pilot:
            await rest(pilot, 0.3)
            assert words in app.text


@pytest.mark.parametrize(("height", "blank"), [(60, 1), (18, 1), (14, 0)])
async def test_the_answers_stand_right_below_what_they_are_about(
    yard: Yard, height: int, blank: int
) -> None:
    async with (app := Stage(screen=preview(yard))).run_test(size=(120, height)) as pilot:
        await rest(pilot, 0.3)
        rows, answers = (app.screen.query_one(f"#{name}").region for name in ("files", "answers"))
        assert answers.y == rows.bottom + blank
        assert answers.bottom <= height - 1
        assert app.text.split("\n")[rows.bottom - 1].strip()
        assert "Revert 1 file" in app.text


async def test_on_a_wide_screen_the_keys_of_the_answers_stand_beside_them(yard: Yard) -> None:
    async with (app := Stage(screen=preview(yard))).run_test(size=(300, 40)) as pilot:
        await rest(pilot, 0.3)
        region = app.screen.query_one("#answers").region
        assert (region.x, region.width) == (93, 113)


async def test_esc_reverts_nothing(yard: Yard) -> None:
    async with (app := Stage(screen=preview(yard))).run_test(size=(120, 36)) as pilot:
        await rest(pilot, 0.2)
        await pilot.press("escape")
        assert app.results == [None]


@pytest.mark.parametrize("size", SIZES, ids=str)
async def test_changes_open_as_diffs_and_one_file_can_be_asked_back(
    yard: Yard, size: tuple[int, int]
) -> None:
    yard.take("human")
    captures = [capture for capture in yard.timeline.captures if capture.delta]

    async def load() -> Sequence[ChangeGroup]:
        return [describe_capture(yard.store, each, {"c1": "run_command"}) for each in captures]

    async with (app := Stage(screen=ChangesScreen(load, net_of(yard)))).run_test(
        size=size
    ) as pilot:
        await rest(pilot, 0.3)
        lines = app.text.splitlines()
        assert any("you or another program" in line for line in lines)
        assert any("agent: run_command" in line and "in 2 files" in line for line in lines)
        await pilot.press("down", "enter")
        await rest(pilot, 0.3)
        assert "+ mine" in app.text
        assert "4 - broken" in app.text  # the number of its line before its mark
        await pilot.press("u")
        name = "the changes by you or another program before turn 1"
        ids = frozenset({captures[1].stamp.uuid or ""})
        assert app.results == [ToRevert(ids, "a.py", name=name)]


async def test_a_diff_that_closes_under_the_cursor_leaves_it_on_its_file(yard: Yard) -> None:
    (capture,) = (each for each in yard.timeline.captures if each.call)

    async def load() -> Sequence[ChangeGroup]:
        return [describe_capture(yard.store, capture, {"c1": "run_command"})]

    async with (app := Stage(screen=ChangesScreen(load, net_of(yard)))).run_test() as pilot:
        await until(pilot, lambda: "new.py" in app.text)
        await pilot.press("down", "down", "enter")
        await until(pilot, lambda: "▾" in app.text)
        await until(pilot, lambda: "Enter close" in app.text)
        await pilot.press("up")
        await until(pilot, lambda: "Enter open" in app.text)
        await pilot.press("down", "down", "enter")
        await until(pilot, lambda: "▾" not in app.text)
        await pilot.press("u")
        assert app.results[0].path == "new.py"


async def test_one_place_of_a_diff_is_asked_back_and_ticked_alone(yard: Yard) -> None:
    """The cursor on a line of a diff means its place; what a person changed since stays."""
    yard.write("a.py", (yard.read("a.py") or "").replace("line = 0\n", "first, mine\n"))
    yard.take("human")
    (capture,) = (each for each in yard.timeline.captures if each.call)

    async def load() -> Sequence[ChangeGroup]:
        return [describe_capture(yard.store, capture, {"c1": "run_command"})]

    async with (app := Stage(screen=ChangesScreen(load, net_of(yard)))).run_test(
        size=(120, 40)
    ) as pilot:
        await rest(pilot, 0.3)
        await pilot.press("down", "enter")
        await rest(pilot, 0.3)
        lines = [line.strip() for line in app.text.splitlines()]
        start = next(at for at, line in enumerate(lines) if "a.py" in line)
        wanted = next(at for at, line in enumerate(lines) if "+ also broken" in line)
        await pilot.press(*["down"] * (wanted - start), "u")
        (asked,) = app.results
    assert asked.pieces == {DiffPiece(("line = 15",), ("also broken",))}
    causes = frozenset({"tool_call"})
    plan = make_plan(str(yard.root), yard.store, [capture], own_causes=causes)
    (path, _) = plan.paths
    hunks = find_hunks(path, asked.pieces)
    sheet = RevertFilesScreen("Revert?", plan, None, {path.key: hunks})
    async with (app := Stage(screen=sheet)).run_test(size=(120, 40)) as pilot:
        await rest(pilot, 0.3)
        assert "Revert 1 part of 1 file" in app.text
        assert "Changed by the agent" not in app.text  # a revert of a person's change asks so too
        assert "what to revert" not in app.text  # there are only files
        assert "[-] a.py" in app.text
        assert "[ ] new.py" in app.text
        await pilot.press("y")
    (decision,) = app.results
    yard.revert(plan, decision.choice)
    after = yard.read("a.py") or ""
    assert "line = 15\n" in after
    assert "mine\n" in after
    assert "first, mine\n" in after


def twins(folder: Path) -> tuple[Yard, list[frozenset[DiffPiece]]]:
    """The agent made the same change in two places; the pieces of each, as they are shown."""
    yard = Yard(folder)
    yard.write("a.py", CODE.replace("line = 3\n", "same\n").replace("line = 15\n", "same\n"))
    yard.take()
    yard.checkpoint()
    yard.write("a.py", (yard.read("a.py") or "").replace("same\n", "changed\n"))
    yard.take(call="c1")
    (file,) = describe_capture(yard.store, yard.timeline.captures[-1], {}).files
    lines = file.diff.split("\n")[2:]
    at = [place for place, line in enumerate(lines) if line == "+changed"]
    pieces = pieces_by_line(file.diff)
    return yard, [pieces[place - 1] for place in at]  # there is no gap before the first hunk


def test_each_of_two_places_that_look_the_same_is_found(tmp_path: Path) -> None:
    yard, (first, second) = twins(tmp_path / "yard")
    (path,) = make_plan(str(yard.root), yard.store, [yard.timeline.captures[-1]]).paths
    assert find_hunks(path, first) == {1}
    assert find_hunks(path, second) == {2}


def test_a_place_is_not_taken_for_another_one_that_looks_the_same(tmp_path: Path) -> None:
    yard, (first, second) = twins(tmp_path / "yard")
    yard.write("a.py", (yard.read("a.py") or "").replace("changed\n", "same\n", 1))
    (path,) = make_plan(str(yard.root), yard.store, [yard.timeline.captures[-1]]).paths
    assert len(path.hunks) == 1
    assert find_hunks(path, first) == frozenset()  # a person put it back already
    assert find_hunks(path, second) == frozenset()


async def test_a_place_that_is_gone_does_not_stand_for_its_whole_file(tmp_path: Path) -> None:
    yard, (first, _) = twins(tmp_path / "yard")
    yard.write("a.py", (yard.read("a.py") or "").replace("changed\n", "same\n", 1))
    capture = yard.timeline.captures[-1]
    asked = ToRevert(frozenset({capture.stamp.uuid or ""}), "a.py", first, "run_command, turn 1")
    sheet = await asked_by_the_flow(yard, capture, asked)
    async with (app := Stage(screen=sheet)).run_test(size=(120, 40)) as pilot:
        await rest(pilot, 0.3)
        assert "could not be found exactly. Tick what to revert." in app.text
        assert "Close; no file is ticked" in app.text
        assert "[ ] a.py" in app.text


async def test_a_whole_file_is_ticked_where_no_place_of_it_is_chosen(tmp_path: Path) -> None:
    yard, _ = twins(tmp_path / "yard")
    capture = yard.timeline.captures[-1]
    asked = ToRevert(frozenset({capture.stamp.uuid or ""}), "a.py", name="run_command, turn 1")
    sheet = await asked_by_the_flow(yard, capture, asked)
    async with (app := Stage(screen=sheet)).run_test(size=(120, 40)) as pilot:
        await rest(pilot, 0.3)
        assert "was not found" not in app.text
        assert "[x] a.py" in app.text


@pytest.mark.parametrize("is_made", [True, False], ids=["something", "nothing"])
async def test_undo_is_named_only_where_something_was_reverted(yard: Yard, is_made: bool) -> None:
    """It would take back what was reverted before."""
    done = FilesReverted("", yard.timeline.captures[-1].delta if is_made else (), "Done.")
    session = SimpleNamespace(
        operations=SimpleNamespace(revert_files=AsyncMock(return_value=done)),
        files=SimpleNamespace(plan_captures=AsyncMock(return_value=yard.plan("c0"))),
    )
    push = AsyncMock(return_value=RevertDecision("files", {}))
    chat = Mock(
        app=Mock(push_screen_wait=push, _keymap={}), holder=Mock(require_session=lambda: session)
    )
    chat.runner.start.return_value = AsyncMock()
    await revert_call(chat, ["c1"])
    (act,) = chat.runner.start.call_args.args
    await act(session)
    told = "Done. Undo with Alt+U." if is_made else "Done."
    chat.notices.hint.assert_called_once_with(told)


async def asked_by_the_flow(
    yard: Yard, capture: WorkspaceRecord, asked: ToRevert
) -> RevertFilesScreen:
    """What /changes asks once something was chosen there; it is cancelled, and then left."""
    plan = make_plan(str(yard.root), yard.store, [capture])
    files = SimpleNamespace(
        changes=None,
        net_changes=None,
        trimmed=AsyncMock(return_value=""),
        plan_captures=AsyncMock(return_value=plan),
    )
    session = SimpleNamespace(read_only="", busy=False, files=files)
    push = AsyncMock(side_effect=[asked, None, None])
    chat = Mock(app=Mock(push_screen_wait=push), holder=Mock(require_session=lambda: session))
    await browse_changes(chat, "")
    (sheet,) = push.await_args_list[1].args
    assert isinstance(sheet, RevertFilesScreen)
    return sheet


async def test_a_file_that_was_reverted_is_not_counted_in_the_head(yard: Yard) -> None:
    yard.write("a.py", CODE)
    yard.take("human")
    captures = [capture for capture in yard.timeline.captures if capture.delta]
    assert len(captures) == 2

    async def load() -> Sequence[ChangeGroup]:
        return [describe_capture(yard.store, each, {}) for each in captures]

    async with (app := Stage(screen=ChangesScreen(load, net_of(yard)))).run_test() as pilot:
        await rest(pilot, 0.3)
        head = next(line for line in app.text.splitlines() if "File changes" in line)
        assert "1 file " in head  # new.py; a.py is as it was
        assert "+1 -0" in head


async def test_the_cursor_stands_on_the_newest_change_below_one_row_of_undos(yard: Yard) -> None:
    (agents,) = (each for each in yard.timeline.captures if each.call)
    yard.take("human")
    other = yard.revert(yard.plan_back(agents), {("new.py", True): frozenset({0})})
    again = yard.take_back(yard.take_back(other), "redo")
    yard.take_back(again)
    captures = [capture for capture in yard.timeline.captures if capture.delta]
    assert [each.cause for each in captures][2:] == ["revert", "undo", "redo", "undo"]

    async def load() -> Sequence[ChangeGroup]:
        return [describe_capture(yard.store, each, {"c1": "edit_file"}) for each in captures]

    async with (app := Stage(screen=ChangesScreen(load, net_of(yard)))).run_test() as pilot:
        await rest(pilot, 0.3)
        (undo,) = (line for line in app.text.splitlines() if "revert:" in line or "undo" in line)
        assert "undo of a revert  +1 -0 in 1 file, newest of 4" in undo
        await pilot.press("u")
        assert app.results[0].name == "the changes by you or another program before turn 1"


def test_reverts_of_one_part_after_another_are_not_folded() -> None:
    file = FileDiff("a.py", "changed", 1, 1)
    causes: list[ChangeCause] = ["revert", "revert", "undo", "undo"]
    groups = [ChangeGroup(str(at), cause, (file,)) for at, cause in enumerate(causes)]
    assert [(each.id, each.repeats) for each in fold_repeats(groups)] == [
        ("0", 0),
        ("2", 1),
        ("3", 0),
    ]


async def test_what_was_lost_stands_above_the_changes(yard: Yard) -> None:
    captures = [capture for capture in yard.timeline.captures if capture.delta]

    async def load() -> Sequence[ChangeGroup]:
        return [describe_capture(yard.store, each, {}) for each in captures]

    screen = ChangesScreen(load, net_of(yard), "", "2 earlier versions of files were removed.")
    async with (app := Stage(screen=screen)).run_test(size=(60, 20)) as pilot:
        await rest(pilot, 0.3)
        lines = app.text.splitlines()
        lost = next(at for at, line in enumerate(lines) if "2 earlier versions" in line)
        assert lost < next(at for at, line in enumerate(lines) if "a.py" in line)


async def test_changes_name_what_was_left_out(yard: Yard) -> None:
    captures = [capture for capture in yard.timeline.captures if capture.delta]
    seen = ChangeGroup(
        "id", "outside", (), left_out=(LeftOut("node\x1b_modules", "git ignores it"),)
    )

    async def load() -> Sequence[ChangeGroup]:
        return [*(describe_capture(yard.store, each, {}) for each in captures), seen]

    screen = ChangesScreen(load, net_of(yard))
    async with (app := Stage(screen=screen)).run_test(size=(60, 20)) as pilot:
        await rest(pilot, 0.3)
        lines = app.text.splitlines()
        at = next(at for at, line in enumerate(lines) if "not captured: git ignores it" in line)
        assert lines[at].strip() == "node␛_modules  not captured: git ignores it"
        assert lines[at - 1].strip() == "before turn 1"
        assert lines[at + 1].strip() == ""
        assert screen.query_one(Rows).cursor == 3


def test_lines_are_counted_from_the_first_state_to_the_last(yard: Yard) -> None:
    yard.write("a.py", CODE.replace("line = 3\n", "broken\n"))
    yard.take("human")
    counts = {each.path: (each.added, each.removed) for each in net(yard)}
    assert counts == {"a.py": (1, 1), "new.py": (1, 0)}
    shutil.rmtree(yard.store.objects)
    counts = {each.path: (each.added, each.removed) for each in net(yard)}
    assert counts == {"a.py": (3, 3), "new.py": (1, 0)}  # each time, where no content is left


def net(yard: Yard) -> Sequence[FileDiff]:
    return count_net_changes(yard.store, yard.timeline)


async def test_a_turn_is_reverted_whole_without_what_others_changed_in_it(yard: Yard) -> None:
    yard.take("human")
    yard.write("more.py", "more\n")
    yard.take(call="c2")
    captures = [capture for capture in yard.timeline.captures if capture.delta]
    turns = {"c1": 1, "": 1, "c2": 1}

    async def load() -> Sequence[ChangeGroup]:
        groups = [describe_capture(yard.store, each, {}) for each in captures]
        return [replace(group, turn=turns[group.call]) for group in groups]

    async with (app := Stage(screen=ChangesScreen(load, net_of(yard)))).run_test(
        size=(120, 36)
    ) as pilot:
        await rest(pilot, 0.3)
        await pilot.press("t")
        own = {each.stamp.uuid or "" for each in captures if each.call}
        assert len(own) == 2
        assert app.results == [ToRevert(frozenset(own), name="turn 1")]


async def test_where_nothing_can_be_reverted_the_screen_says_why(yard: Yard) -> None:
    captures = [capture for capture in yard.timeline.captures if capture.delta]

    async def load() -> Sequence[ChangeGroup]:
        return [describe_capture(yard.store, each, {}) for each in captures]

    screen = ChangesScreen(load, net_of(yard), "a turn is running")
    async with (app := Stage(screen=screen)).run_test(size=(120, 36)) as pilot:
        await rest(pilot, 0.3)
        await pilot.press("u")
        await rest(pilot, 0.2)
        assert app.results == []
        assert "Nothing can be reverted here: a turn is running" in app.text


async def test_a_call_whose_tool_nobody_knows_is_not_shown_by_its_id() -> None:
    group = ChangeGroup("id", "tool_call", (FileDiff("a.py", "created", 1, 0),), call="call_9f3")

    async def load() -> Sequence[ChangeGroup]:
        return [group]

    async with (app := Stage(screen=ChangesScreen(load))).run_test() as pilot:
        await rest(pilot, 0.3)
        assert "agent  +1 -0 in 1 file" in app.text
        assert "call_9f3" not in app.text
        assert "start" not in app.text


async def test_the_colour_of_a_line_of_a_diff_fills_its_row() -> None:
    rows = colour_diff("a.txt", "--- a/a.txt\n+++ b/a.txt\n@@ -9,2 +9,2 @@\n keep\n-old\n+new")
    drawn = [row.pieces(20)[0] for row in rows]
    assert [line.plain.rstrip() for line in drawn] == [" 9   keep", "10 - old", "10 + new"]
    assert [line.cell_length for line in drawn[1:]] == [20, 20]
    spans = [(span.start, span.end) for span in drawn[2].spans if "surface" in str(span.style)]
    assert spans == [(0, 20)]


def test_the_text_of_a_line_tells_its_kind_where_a_theme_has_no_grounds_for_it() -> None:
    rows = colour_diff("a.py", "--- a/a.py\n+++ b/a.py\n@@ -9,2 +9,2 @@\n keep\n-old\n+new = 1")
    drawn = [row.pieces(20, is_plain=True)[0] for row in rows]
    styles = [{str(span.style) for span in line.spans if span.start >= 5} for line in drawn]
    assert styles == [{"$muted"}, {"$diff-removed"}, {"$diff-added"}]


def test_a_long_line_of_a_diff_is_broken_and_not_cut_off() -> None:
    (row,) = colour_diff("a.txt", f"--- a/a.txt\n+++ b/a.txt\n@@ -0,0 +9,1 @@\n+{'word ' * 9}")
    pieces = row.pieces(30)
    assert [piece.plain[:4] for piece in pieces] == [" 9 +", "   \u250a"]
    assert "".join(piece.plain[4:] for piece in pieces).split() == ["word"] * 9
    assert {piece.cell_length for piece in pieces} == {30}


def test_a_long_line_of_a_diff_breaks_between_words() -> None:
    line = "the tide is measured from the chart datum"
    (row,) = colour_diff("a.txt", f"--- a/a.txt\n+++ b/a.txt\n@@ -0,0 +9,1 @@\n+{line}")
    pieces = [piece.plain[4:].strip() for piece in row.pieces(24)]
    assert pieces == ["the tide is", "measured from the", "chart datum"]


@pytest.fixture
def long_line(tmp_path: Path) -> Yard:
    """The agent wrote one line longer than a screen is wide."""
    yard = Yard(tmp_path / "yard")
    yard.write("a.txt", "short\n")
    yard.take()
    yard.checkpoint()
    yard.write("a.txt", "#" * 200 + "\n")
    yard.take(call="c1")
    return yard


@pytest.mark.parametrize("is_revert", [False, True])
async def test_long_lines_are_shown_whole_however_wide_the_screen_is(
    long_line: Yard, is_revert: bool
) -> None:
    captures = [capture for capture in long_line.timeline.captures if capture.call]

    async def load() -> Sequence[ChangeGroup]:
        return [describe_capture(long_line.store, each, {}) for each in captures]

    screen = preview(long_line) if is_revert else ChangesScreen(load, net_of(long_line))
    async with (app := Stage(screen=screen)).run_test(size=(120, 30)) as pilot:
        await until(pilot, lambda: "a.txt" in app.text)
        await pilot.press("a")
        for width in (120, 60, 90):
            await pilot.resize_terminal(width, 30)
            await until(pilot, lambda: app.text.count("#") == 200, lambda: app.text)


async def test_files_without_lines_are_counted_without_lines(yard: Yard) -> None:
    yard.write("new.bin", "\0")
    yard.take(call="c2")
    captures = [capture for capture in yard.timeline.captures if capture.call == "c2"]

    async def load() -> Sequence[ChangeGroup]:
        return [
            replace(group, files=tuple(each for each in group.files if each.path == "new.bin"))
            for group in (describe_capture(yard.store, each, {}) for each in captures)
        ]

    async with (app := Stage(screen=ChangesScreen(load))).run_test() as pilot:
        await until(pilot, lambda: "new.bin" in app.text)
        assert "1 file changed" in app.text
        assert "+0 -0 in" not in app.text


async def test_files_that_stay_are_not_said_to_be_reverted(yard: Yard) -> None:
    async with (app := Stage(screen=preview(yard))).run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: "new.py  will be deleted" in app.text)
        await pilot.press("w", "w")
        await until(pilot, lambda: "files are not changed" in app.text)
        assert "new.py  stays as it is" in app.text
        assert "will be" not in app.text
        assert "[x]" not in app.text
        assert "[-]" not in app.text
        await pilot.press("tab", "space", "w")
        await until(pilot, lambda: "new.py  will be deleted" in app.text)
        assert "Revert 1 file and 1 part of 1 file, and remove" in app.text


async def test_the_bar_of_a_wide_screen_ends_with_the_times_of_a_page_in_its_middle() -> None:
    at = "2020-01-01T00:00:00Z"
    group = ChangeGroup("id", "tool_call", (FileDiff("a.py", "created", 1, 0),), at=at)

    async def load() -> Sequence[ChangeGroup]:
        return [group]

    async with (app := Stage(screen=ChangesScreen(load))).run_test(size=(200, 30)) as pilot:
        await until(pilot, lambda: "in 1 file" in app.text)
        row = next(line for line in app.text.splitlines() if "in 1 file" in line)
        page = app.screen.query_one(Rows).scrollable_content_region
        assert (page.x, page.right) == (44, 154)
        assert (len(row) - len(row.lstrip()), len(row.rstrip())) == (page.x, page.right)
