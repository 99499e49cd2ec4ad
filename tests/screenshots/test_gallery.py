"""Every picture of the gallery: the real program, brought there by keys, as the README shows it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from textual.pilot import Pilot

from tests.screenshots.past import remember_sessions
from tests.screenshots.stage import Exhibit, Stage, Visitor

Compare = Callable[..., bool]
Visit = Callable[[Visitor], Awaitable[None]]
SIZE = (120, 36)
LOW = (120, 24)


def is_as_accepted(
    snap_compare: Compare,
    stage: Stage,
    app: Exhibit,
    visit: Visit,
    size: tuple[int, int] = SIZE,
) -> bool:
    async def drive(pilot: Pilot[Any]) -> None:
        visitor = Visitor(pilot, stage.clock)
        await visitor.arrive()
        await visit(visitor)
        await visitor.stand_still()

    return snap_compare(app, terminal_size=size, run_before=drive)


def test_welcome(snap_compare: Compare, stage: Stage) -> None:
    async def visit(visitor: Visitor) -> None:
        await visitor.until_text("Try one of these")

    assert is_as_accepted(snap_compare, stage, stage.demo(), visit)


def test_timeline(snap_compare: Compare, stage: Stage) -> None:
    async def visit(visitor: Visitor) -> None:
        await visitor.ask("Fix the bug", allow=2)
        await visitor.press("pageup")

    assert is_as_accepted(snap_compare, stage, stage.demo(), visit)


def test_streaming(snap_compare: Compare, stage: Stage) -> None:
    async def visit(visitor: Visitor) -> None:
        await visitor.say("Explain how the tide is calculated")
        await visitor.until_text("pulleys")
        stage.clock.let_pass(seconds=7.3)

    app = stage.demo(halt_at="Lord Kelvin did the same sum in 1872 with brass pulleys")
    assert is_as_accepted(snap_compare, stage, app, visit)


def test_approval_of_a_command(snap_compare: Compare, stage: Stage) -> None:
    async def visit(visitor: Visitor) -> None:
        await visitor.say("Run the tests")
        await visitor.until_screen("ApprovalScreen")

    assert is_as_accepted(snap_compare, stage, stage.demo(), visit, LOW)


def test_approval_of_an_edit(snap_compare: Compare, stage: Stage) -> None:
    async def visit(visitor: Visitor) -> None:
        await visitor.say("Fix the bug")
        await visitor.until_screen("ApprovalScreen")

    assert is_as_accepted(snap_compare, stage, stage.demo(), visit)


def test_session_list(snap_compare: Compare, stage: Stage) -> None:
    remember_sessions(stage)

    async def visit(visitor: Visitor) -> None:
        await visitor.ask("Show me around this project")
        await visitor.press("f2")
        await visitor.until_text("in 6 projects")
        await visitor.press("down", "down")

    assert is_as_accepted(snap_compare, stage, stage.demo(), visit, LOW)


def test_gauge_near_full(snap_compare: Compare, stage: Stage) -> None:
    async def visit(visitor: Visitor) -> None:
        await _fill(visitor)

    assert is_as_accepted(snap_compare, stage, stage.demo(), visit)


async def _work(visitor: Visitor) -> None:
    """Three turns that test, mend and tell."""
    await visitor.ask("Run the tests", allow=1)
    await visitor.ask("Fix the bug", allow=2)
    await visitor.ask("Write a changelog entry", allow=1)


async def _fill(visitor: Visitor) -> None:
    """Four turns, after which the next one would be compacted."""
    await visitor.ask("Run the tests", allow=1)
    await visitor.ask("Explain how the tide is calculated")
    await visitor.ask("Fix the bug", allow=2)
    await visitor.ask("Write a changelog entry", allow=1)


def test_attribution(snap_compare: Compare, stage: Stage) -> None:
    async def visit(visitor: Visitor) -> None:
        await _fill(visitor)
        await visitor.press("f8")
        await visitor.until_screen("AttributionScreen")

    assert is_as_accepted(snap_compare, stage, stage.demo(), visit)


def test_compaction_preview(snap_compare: Compare, stage: Stage) -> None:
    async def visit(visitor: Visitor) -> None:
        await _fill(visitor)
        await visitor.press("f4")
        await visitor.until_text("% saved")

    assert is_as_accepted(snap_compare, stage, stage.demo(), visit)


def test_compaction_writing(snap_compare: Compare, stage: Stage) -> None:
    async def visit(visitor: Visitor) -> None:
        await _fill(visitor)
        await visitor.press("f4")
        await visitor.until_screen("CompactionPreviewScreen")
        await visitor.until_text("## ")

    assert is_as_accepted(snap_compare, stage, stage.demo(halt_at="## Completed"), visit)


async def _compact(visitor: Visitor) -> None:
    await visitor.press("f4")
    await visitor.until_text("% saved")
    await visitor.press("a")
    await visitor.until_screen("ChatScreen")
    await visitor.until_idle()
    visitor.clock.let_pass(minutes=2)


def test_compaction_diff(snap_compare: Compare, stage: Stage) -> None:
    async def visit(visitor: Visitor) -> None:
        await _fill(visitor)
        await _compact(visitor)
        await visitor.say("/compactions 1")
        await visitor.until_screen("PastCompactionScreen")
        await visitor.until_text("% saved")

    assert is_as_accepted(snap_compare, stage, stage.demo(), visit)


def test_compacted_timeline(snap_compare: Compare, stage: Stage) -> None:
    async def visit(visitor: Visitor) -> None:
        await _fill(visitor)
        await _compact(visitor)
        await visitor.ask("What have we done so far?")

    assert is_as_accepted(snap_compare, stage, stage.demo(), visit)


def test_checkpoints(snap_compare: Compare, stage: Stage) -> None:
    async def visit(visitor: Visitor) -> None:
        await _work(visitor)
        await visitor.press("f3")
        await visitor.until_screen("CheckpointsScreen")

    assert is_as_accepted(snap_compare, stage, stage.demo(), visit, LOW)


def test_revert_preview(snap_compare: Compare, stage: Stage) -> None:
    async def visit(visitor: Visitor) -> None:
        await _work(visitor)
        await visitor.say("/revert 2")
        await visitor.until_screen("RevertPreviewScreen")

    assert is_as_accepted(snap_compare, stage, stage.demo(), visit)


async def _rotate(visitor: Visitor) -> None:
    """Revert, compact, clear and restore: every way in which an archive comes about."""
    await _work(visitor)
    await visitor.say("/revert 8")
    await visitor.until_screen("RevertPreviewScreen")
    await visitor.press("enter")
    await visitor.until_text("went back to")
    visitor.clock.let_pass(minutes=11)
    await visitor.ask("Show me the tide table of Grey Bar", allow=1)
    await _compact(visitor)
    await visitor.say("/undo")
    await visitor.until_text("undone")
    visitor.clock.let_pass(minutes=25)


def test_archives(snap_compare: Compare, stage: Stage) -> None:
    async def visit(visitor: Visitor) -> None:
        await _rotate(visitor)
        await visitor.press("f5")
        await visitor.until_text("3 archives")

    assert is_as_accepted(snap_compare, stage, stage.demo(), visit, LOW)


def test_browsing_an_archive(snap_compare: Compare, stage: Stage) -> None:
    async def visit(visitor: Visitor) -> None:
        await _rotate(visitor)
        await visitor.press("f5")
        await visitor.until_text("3 archives")
        await visitor.press("end", "enter")
        await visitor.until_screen("BrowseScreen")

    assert is_as_accepted(snap_compare, stage, stage.demo(), visit)


def test_help(snap_compare: Compare, stage: Stage) -> None:
    async def visit(visitor: Visitor) -> None:
        await visitor.press("f1")
        await visitor.until_screen("HelpScreen")

    assert is_as_accepted(snap_compare, stage, stage.demo(), visit)


def test_command_palette(snap_compare: Compare, stage: Stage) -> None:
    async def visit(visitor: Visitor) -> None:
        await visitor.ask("Show me around this project")
        await visitor.press("ctrl+p")
        await visitor.until_screen("CommandPalette")
        await visitor.press(*"comp")

    assert is_as_accepted(snap_compare, stage, stage.demo(), visit)


def test_slash_commands(snap_compare: Compare, stage: Stage) -> None:
    async def visit(visitor: Visitor) -> None:
        await visitor.ask("Run the tests", allow=1)
        await visitor.press("slash", "r", "e")

    assert is_as_accepted(snap_compare, stage, stage.demo(), visit, LOW)


def test_light(snap_compare: Compare, stage: Stage) -> None:
    async def visit(visitor: Visitor) -> None:
        await visitor.say("/theme agent-light")
        await visitor.ask("Fix the bug", allow=2)

    assert is_as_accepted(snap_compare, stage, stage.demo(), visit)


def test_narrow_40x12(snap_compare: Compare, stage: Stage) -> None:
    async def visit(visitor: Visitor) -> None:
        await visitor.ask("Run the tests", allow=1)

    assert is_as_accepted(snap_compare, stage, stage.demo(), visit, (40, 12))


def test_narrow_60x20(snap_compare: Compare, stage: Stage) -> None:
    async def visit(visitor: Visitor) -> None:
        await visitor.ask("Fix the bug", allow=2)

    assert is_as_accepted(snap_compare, stage, stage.demo(), visit, (60, 20))


def test_narrow_compaction(snap_compare: Compare, stage: Stage) -> None:
    async def visit(visitor: Visitor) -> None:
        await _fill(visitor)
        await visitor.press("f4")
        await visitor.until_text("% saved")

    assert is_as_accepted(snap_compare, stage, stage.demo(), visit, (60, 20))


def test_unreachable_server(snap_compare: Compare, stage: Stage) -> None:
    (stage.home / "config.toml").write_text("[agent]\nmax_attempts = 1\n")

    async def visit(visitor: Visitor) -> None:
        await visitor.ask("Review the last commit. The table should mark spring tides.")

    assert is_as_accepted(snap_compare, stage, stage.connected("http://127.0.0.1:9/v1"), visit, LOW)


def test_damaged_lines(snap_compare: Compare, stage: Stage) -> None:
    session_id = remember_sessions(stage)[-1]
    (log,) = stage.home.glob(f"projects/*/{session_id}/context.jsonl")
    lines = log.read_bytes().splitlines(keepends=True)
    lines[-2:-2] = [b'{"role":"assistant","content":"cut off in the\n', b"\x00\xff\xfe\n"]
    log.write_bytes(b"".join(lines) + b'{"role":"user","cont')

    async def visit(visitor: Visitor) -> None:
        await visitor.until_text("bibliography")

    assert is_as_accepted(snap_compare, stage, stage.demo(resume=session_id), visit, LOW)
