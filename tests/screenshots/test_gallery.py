"""Every picture of the gallery: the real program, brought there by keys, as the README shows it."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from agent_tui.config.writing import set_value
from agent_tui.providers.demo.scenario import Reply, Scene, ScriptedCall
from agent_tui.ui.flows.prompt import view_block
from agent_tui.ui.screens.context.compaction_preview import CompactionPreviewScreen
from agent_tui.ui.screens.dialogs.picture import PictureView
from tests.mcp.stage import odd
from tests.providers.sse_server import SseServer
from tests.screenshots.agents import keep_month, keep_sessions
from tests.screenshots.buoy import draw_buoy
from tests.screenshots.past import remember_sessions
from tests.screenshots.stage import Exhibit, Stage, Visitor

Compare = Callable[..., bool]
Visit = Callable[[Visitor], Awaitable[None]]
GALLERY = Path(__file__).parents[2] / "screenshots"
SIZE = (120, 36)
LOW = (120, 24)
LOOKS = {
    "light": ("agent-light", None),
    "narrow": ("", (80, 24)),
    "wide": ("", (200, 60)),
    "light_wide": ("agent-light", (200, 60)),
    "light_narrow": ("agent-light", (80, 24)),
}
"""Ways to look at a screen besides the first: a theme, and the size of the terminal."""


def is_as_accepted(
    snap_compare: Compare,
    stage: Stage,
    app: Exhibit,
    visit: Visit,
    size: tuple[int, int] = SIZE,
    looks: Iterable[str] = LOOKS,
) -> bool:
    async def drive(pilot: Pilot[Any]) -> None:
        visitor = Visitor(pilot, stage.clock)
        await visitor.arrive()
        await visit(visitor)
        await visitor.stand_still()
        visitor.app.keep_picture()
        for look in looks:
            await visitor.look(look, *LOOKS[look])

    return snap_compare(app, terminal_size=size, run_before=drive)


def test_welcome(snap_compare: Compare, stage: Stage) -> None:
    async def visit(visitor: Visitor) -> None:
        await visitor.until_text("What have we done so far?")

    assert is_as_accepted(snap_compare, stage, stage.demo(), visit)


def test_welcome_back(snap_compare: Compare, stage: Stage) -> None:
    project = stage.make_project()
    stage.clock.set_back(hours=2)
    asked = "Review: spring tides in the table"
    stage.remember(str(project), asked, Reply(text="Two things.\n\n" * 40), at=".")
    stage.clock.set_back()

    async def visit(visitor: Visitor) -> None:
        await visitor.until_text("Continue")
        await visitor.press(*["down"] * 4)

    app = stage.connected("http://127.0.0.1:9/v1", project)
    assert is_as_accepted(snap_compare, stage, app, visit, LOW)


def test_timeline(snap_compare: Compare, stage: Stage) -> None:
    async def visit(visitor: Visitor) -> None:
        await visitor.ask("Fix the bug", allow=2)
        visitor.app.chat.timeline.scroll_rows(-17)

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


def test_question(snap_compare: Compare, stage: Stage) -> None:
    question = {
        "question": "The report can show heights above chart datum or above mean sea level.\n"
        "Which one do the harbour masters expect?",
        "choices": ["Chart datum, as the tables have it", "Mean sea level", "Both, in two columns"],
    }
    asking = Reply(calls=(ScriptedCall("ask_user", question),))
    scene = Scene("question", ("harbour masters",), (asking,))

    async def visit(visitor: Visitor) -> None:
        await visitor.ask("Show me around this project")
        await visitor.say("Print a report for the harbour masters")
        await visitor.until_screen("QuestionScreen")
        assert visitor.app.chat.status.work, "a question is asked within a turn"

    assert is_as_accepted(snap_compare, stage, stage.demo(scene), visit, LOW)


def test_plan_to_approve(snap_compare: Compare, stage: Stage) -> None:
    async def visit(visitor: Visitor) -> None:
        await visitor.say("/plan Plan the fix")
        await visitor.until_screen("ApprovalScreen")

    assert is_as_accepted(snap_compare, stage, stage.demo(), visit)


def test_plan_at_work(snap_compare: Compare, stage: Stage) -> None:
    async def visit(visitor: Visitor) -> None:
        await visitor.say("/plan Plan the fix")
        await visitor.allow("2")
        await visitor.allow()
        await visitor.until_idle()
        visitor.app.chat.status.notice = ""  # it has been there for its seconds

    assert is_as_accepted(snap_compare, stage, stage.demo(), visit)


def test_dmail(snap_compare: Compare, stage: Stage) -> None:
    async def visit(visitor: Visitor) -> None:
        await visitor.ask("Send a D-Mail")

    assert is_as_accepted(snap_compare, stage, stage.demo(agent="time-traveller"), visit)


def test_subagent(snap_compare: Compare, stage: Stage) -> None:
    async def visit(visitor: Visitor) -> None:
        await visitor.ask("Use a subagent")

    assert is_as_accepted(snap_compare, stage, stage.demo(), visit)


def test_session_list(snap_compare: Compare, stage: Stage) -> None:
    remember_sessions(stage)

    async def visit(visitor: Visitor) -> None:
        await visitor.ask("Show me around this project")
        await visitor.press("f2")
        await visitor.until_text("in 6 projects")
        await visitor.press("down", "down")

    assert is_as_accepted(snap_compare, stage, stage.demo(), visit, LOW)


def test_sessions_of_all_agents(
    snap_compare: Compare, stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "ada"))
    keep_sessions(tmp_path / "ada", datetime.now(UTC))
    remember_sessions(stage)

    async def visit(visitor: Visitor) -> None:
        await visitor.ask("Show me around this project")
        await visitor.press("f2")
        await visitor.until_text("3 agents")
        await visitor.press("down", "down")

    assert is_as_accepted(snap_compare, stage, stage.demo(), visit, LOW)


def test_imported_compaction(
    snap_compare: Compare, stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "ada"))
    keep_sessions(tmp_path / "ada", datetime.now(UTC))

    async def visit(visitor: Visitor) -> None:
        await visitor.press("f2")
        await visitor.until_text("tide tables")
        await visitor.press("slash", *"tables", "enter")
        await visitor.until_screen("BrowseScreen")
        await visitor.press("c")
        await visitor.until_screen("ChoiceScreen")
        await visitor.press("enter")
        await visitor.until_screen("PastCompactionScreen")
        await visitor.until_text("legacy.toml")

    assert is_as_accepted(snap_compare, stage, stage.demo(), visit)


def test_search(
    snap_compare: Compare, stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "ada"))
    keep_sessions(tmp_path / "ada", datetime.now(UTC))
    remember_sessions(stage)

    async def visit(visitor: Visitor) -> None:
        await visitor.press("alt+s")
        await visitor.until_screen("SearchScreen")
        await visitor.press(*"tide")
        await visitor.until_text("sessions")
        await visitor.until(lambda: "updating" not in visitor.text, "a whole index")
        await visitor.press("down")

    assert is_as_accepted(snap_compare, stage, stage.demo(), visit, LOW)


def test_why(
    snap_compare: Compare, stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "ada"))
    keep_sessions(tmp_path / "ada", datetime.now(UTC))

    async def visit(visitor: Visitor) -> None:
        await visitor.say("/why tidewatch/stations.py")
        await visitor.until_screen("WhyScreen")
        await visitor.until_text("4 calls")

    assert is_as_accepted(snap_compare, stage, stage.demo(), visit, LOW)


def test_statistics(
    snap_compare: Compare, stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "ada"))
    keep_sessions(tmp_path / "ada", datetime.now(UTC))
    keep_month(tmp_path / "ada", datetime.now(UTC))

    async def visit(visitor: Visitor) -> None:
        await visitor.press("alt+i")
        await visitor.until_screen("StatisticsScreen")
        await visitor.until_text("by model")

    assert is_as_accepted(snap_compare, stage, stage.demo(), visit, LOW)


def test_gauge_near_full(snap_compare: Compare, stage: Stage) -> None:
    async def visit(visitor: Visitor) -> None:
        await visitor.ask("Run the tests", allow=1)
        await visitor.ask("Explain how the tide is calculated")  # the next turn would be too much
        session, gauge = visitor.app.chat.session, visitor.app.chat.gauge
        assert session is not None
        shares = await session.shares.filling()  # they are counted behind the turn
        await visitor.until(lambda: gauge.gauge.shares == shares, "what fills the context")

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
        await visitor.until_text("Current focus")

    # Room enough that nothing compacts by itself before the picture.
    roomy = ((("context", "window"), 10_500),)
    demo = stage.demo(halt_at="## Completed", assigned=roomy)
    assert is_as_accepted(snap_compare, stage, demo, visit)


async def _compact(visitor: Visitor) -> None:
    await visitor.press("f4")
    await visitor.until_text("% saved")
    await visitor.press("a")
    await visitor.until_screen("ChatScreen")
    await visitor.until_text("Compacted: ")  # what was taken out stands above the log only then
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
        await visitor.press("tab", "g", "space", "G", "tab", "pageup")

    assert is_as_accepted(snap_compare, stage, stage.demo(), visit)


def test_recall(snap_compare: Compare, stage: Stage) -> None:
    async def visit(visitor: Visitor) -> None:
        await _fill(visitor)
        await _compact(visitor)
        await visitor.ask("Recall it")
        visitor.app.chat.status.notice = ""  # a turn later it is gone

    assert is_as_accepted(snap_compare, stage, stage.demo(), visit)


def test_checkpoints(snap_compare: Compare, stage: Stage) -> None:
    async def visit(visitor: Visitor) -> None:
        await _work(visitor)
        await visitor.press("f3")
        await visitor.until_screen("CheckpointsScreen")
        await visitor.until_text("FAILED (failures=2)")

    assert is_as_accepted(snap_compare, stage, stage.demo(), visit, LOW)


def test_revert_preview(snap_compare: Compare, stage: Stage) -> None:
    async def visit(visitor: Visitor) -> None:
        await _work(visitor)
        await visitor.say("/revert 2")
        await visitor.until_screen("RevertFilesScreen")
        await visitor.until_text("CHANGELOG")

    assert is_as_accepted(snap_compare, stage, stage.demo(), visit)


def test_revert_conflict(snap_compare: Compare, stage: Stage) -> None:
    async def visit(visitor: Visitor) -> None:
        await _work(visitor)
        assert visitor.app.chat.engine is not None
        report = visitor.app.chat.engine.workspace / "tidewatch" / "report.py"
        text = report.read_text()
        (line,) = [each for each in text.splitlines() if "round(metres" in each]
        report.write_text(text.replace(line, f"{line}  # checked by hand") + "\nUNITS = 'm'\n")
        await visitor.say("/revert 2")
        await visitor.until_screen("RevertFilesScreen")
        await visitor.until_text("conflict")

    assert is_as_accepted(snap_compare, stage, stage.demo(), visit)


def test_changes(snap_compare: Compare, stage: Stage) -> None:
    async def visit(visitor: Visitor) -> None:
        await _work(visitor)
        await visitor.press("alt+c")
        await visitor.until_screen("ChangesScreen")
        await visitor.until_text("edit_file")
        await visitor.press("a")
        await visitor.until_text("▾")

    assert is_as_accepted(snap_compare, stage, stage.demo(), visit)


async def _rotate(visitor: Visitor) -> None:
    """Go back, go on differently, compact, and take that back."""
    await _work(visitor)
    await visitor.say("/revert 8")
    await visitor.until_screen("RevertFilesScreen")
    await visitor.press("w", "w", "y")
    await visitor.until_text("reverted to")
    visitor.clock.let_pass(minutes=11)
    await visitor.ask("Show me the tide table of Grey Bar", allow=1)
    await _compact(visitor)
    await visitor.say("/undo")
    await visitor.until_text("undone")
    visitor.clock.let_pass(minutes=25)


async def _clear(visitor: Visitor) -> None:
    await visitor.say("/clear")
    await visitor.until_screen("ConfirmScreen")
    await visitor.press("enter")
    await visitor.until_text("The context is empty.")
    visitor.clock.let_pass(minutes=3)
    await visitor.say("/undo")
    await visitor.until_text("undone")
    visitor.clock.let_pass(minutes=8)


def test_archives(snap_compare: Compare, stage: Stage) -> None:
    async def visit(visitor: Visitor) -> None:
        await _rotate(visitor)
        await _clear(visitor)
        await visitor.press("f5")
        await visitor.until_text("5, newest first")
        await visitor.press("end")
        await visitor.until_text("18 messages, 4 of them")

    assert is_as_accepted(snap_compare, stage, stage.demo(), visit, LOW)


def test_browsing_an_archive(snap_compare: Compare, stage: Stage) -> None:
    async def visit(visitor: Visitor) -> None:
        await _rotate(visitor)
        await visitor.press("f5")
        await visitor.until_text("3, newest first")
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
        await visitor.until_screen("PaletteScreen")
        await visitor.press(*"comp")

    assert is_as_accepted(snap_compare, stage, stage.demo(), visit)


def test_slash_commands(snap_compare: Compare, stage: Stage) -> None:
    async def visit(visitor: Visitor) -> None:
        await visitor.ask("Run the tests", allow=1)
        await visitor.press("slash", "r", "e")

    assert is_as_accepted(snap_compare, stage, stage.demo(), visit, LOW)


def test_finding_in_a_session(snap_compare: Compare, stage: Stage) -> None:
    async def visit(visitor: Visitor) -> None:
        await visitor.ask("Explain how the tide is calculated")
        await visitor.press("ctrl+f")
        await visitor.until_text("Find in this session")
        await visitor.press(*"water")
        await visitor.until_text("older")
        await visitor.press("up")

    assert is_as_accepted(snap_compare, stage, stage.demo(), visit, LOW)


def test_theme_choice(snap_compare: Compare, stage: Stage) -> None:
    async def visit(visitor: Visitor) -> None:
        await visitor.ask("Fix the bug", allow=2)
        await visitor.say("/theme")
        await visitor.until_screen("ThemeScreen")
        await visitor.press("down", "down", "down", "down")
        await visitor.until(lambda: visitor.app.theme == "catppuccin-latte", "the theme")

    assert is_as_accepted(snap_compare, stage, stage.demo(), visit, looks=["narrow", "wide"])


def test_queued_prompts(snap_compare: Compare, stage: Stage) -> None:
    async def visit(visitor: Visitor) -> None:
        await visitor.say("Explain how the tide is calculated")
        await visitor.until_text("pulleys")
        await visitor.say("Say it in one sentence.")
        await visitor.say("And add it to the README")
        await visitor.until_text("↑ edit")

    app = stage.demo(halt_at="Lord Kelvin did the same sum in 1872 with brass pulleys")
    assert is_as_accepted(snap_compare, stage, app, visit, LOW)


def test_shell_command(snap_compare: Compare, stage: Stage) -> None:
    async def visit(visitor: Visitor) -> None:
        await visitor.say("!ls; python3 -B -m unittest discover -s tests 2>&1 | tail -4")
        await visitor.until_text("FAILED")
        await visitor.until_idle()

    assert is_as_accepted(snap_compare, stage, stage.demo(), visit, LOW)


def test_keys_of_a_list(snap_compare: Compare, stage: Stage) -> None:
    async def visit(visitor: Visitor) -> None:
        await _work(visitor)
        await visitor.press("f3")
        await visitor.until_screen("CheckpointsScreen")
        await visitor.until_text("newest first")
        await visitor.press("question_mark")
        await visitor.until_screen("KeysScreen")

    assert is_as_accepted(snap_compare, stage, stage.demo(), visit, LOW)


def test_wide_200x60(snap_compare: Compare, stage: Stage) -> None:
    async def visit(visitor: Visitor) -> None:
        await visitor.ask("Fix the bug", allow=2)

    assert is_as_accepted(snap_compare, stage, stage.demo(), visit, (200, 60), ["light"])


def test_narrow_40x12(snap_compare: Compare, stage: Stage) -> None:
    async def visit(visitor: Visitor) -> None:
        await visitor.ask("Run the tests", allow=1)

    assert is_as_accepted(snap_compare, stage, stage.demo(), visit, (40, 12), ["light"])


def test_narrow_60x20(snap_compare: Compare, stage: Stage) -> None:
    async def visit(visitor: Visitor) -> None:
        await visitor.ask("Fix the bug", allow=2)

    assert is_as_accepted(snap_compare, stage, stage.demo(), visit, (60, 20), ["light"])


def test_narrow_compaction(snap_compare: Compare, stage: Stage) -> None:
    async def visit(visitor: Visitor) -> None:
        await _fill(visitor)
        await visitor.press("f4")
        await visitor.until_text("% saved")
        pane = visitor.app.screen
        assert isinstance(pane, CompactionPreviewScreen)
        if pane.sides.side == "before":  # a summary that takes its time is shown as it comes
            await visitor.press("right")

    assert is_as_accepted(snap_compare, stage, stage.demo(), visit, (60, 20), ["light"])


def test_unreachable_server(snap_compare: Compare, stage: Stage) -> None:
    (stage.home / "config.toml").write_text("[agent]\nmax_attempts = 1\n")

    async def visit(visitor: Visitor) -> None:
        await visitor.ask("Review the last commit. The table should mark spring tides.")

    assert is_as_accepted(snap_compare, stage, stage.connected("http://127.0.0.1:9/v1"), visit, LOW)


def test_tree(snap_compare: Compare, stage: Stage) -> None:
    async def visit(visitor: Visitor) -> None:
        await _rotate(visitor)
        await visitor.press("ctrl+t")
        await visitor.until_screen("TreeScreen")
        await visitor.until_text("2 branches")
        await visitor.press("up", "up", "l")
        await visitor.until_screen("AskLineScreen")
        await visitor.press(*"Friday", "enter")
        await visitor.until_text("Friday")

    assert is_as_accepted(snap_compare, stage, stage.demo(), visit, LOW)


def test_scrubber(snap_compare: Compare, stage: Stage) -> None:
    async def visit(visitor: Visitor) -> None:
        await _work(visitor)
        await visitor.say("/scrub")
        await visitor.until_screen("ScrubberScreen")
        await visitor.press("home", "right_square_bracket", "right", "right", "right")

    assert is_as_accepted(snap_compare, stage, stage.demo(), visit)


def test_comparing_branches(snap_compare: Compare, stage: Stage) -> None:
    async def visit(visitor: Visitor) -> None:
        await _rotate(visitor)
        await visitor.press("f5")
        await visitor.until_text("3, newest first")
        await visitor.press("end", "c")
        await visitor.until_screen("CompareScreen")

    assert is_as_accepted(snap_compare, stage, stage.demo(), visit, LOW)


def test_damaged_lines(snap_compare: Compare, stage: Stage) -> None:
    stage.clock.set_back(minutes=55)
    answer = Reply(
        text="It compiles again. Two entries had the same key, `kelvin1872`; the second one is now "
        "`kelvin1881`.\n\n- `thesis.bib`: one key renamed\n"
        "- `chapter2.tex`, `chapter3.tex`: three citations follow it\n"
    )
    session_id = stage.remember("/home/ada/thesis", "Make the bibliography compile again", answer)
    stage.clock.set_back()
    (log,) = stage.home.glob(f"demo/projects/*/{session_id}/context.jsonl")
    lines = log.read_bytes().splitlines(keepends=True)
    answered = next(place for place, line in enumerate(lines) if b"kelvin1881" in line)
    lines[answered:answered] = [
        b'{"role":"assistant","content":"cut off in the\n',
        b"\x00\xff\xfe\n",
    ]
    log.write_bytes(b"".join(lines) + b'{"role":"user","cont')

    async def visit(visitor: Visitor) -> None:
        await visitor.until_text("damaged")

    assert is_as_accepted(snap_compare, stage, stage.demo(resume=session_id), visit, LOW)


def test_the_readme_shows_the_gallery() -> None:
    shown = re.findall(r"screenshots/(\w+)\.svg", (GALLERY.parent / "README.md").read_text())
    assert len(set(shown)) >= 10
    assert set(shown) <= {path.stem for path in GALLERY.iterdir()}


def test_a_picture_fetches_nothing() -> None:
    for picture in GALLERY.glob("*.svg"):
        svg = picture.read_text(encoding="utf-8").replace('xmlns="http://www.w3.org/2000/svg"', "")
        assert not re.search(r"url\((?!#)|href=|@import|@font-face|<script|<image", svg), picture


def test_connect(snap_compare: Compare, stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test")

    async def visit(visitor: Visitor) -> None:
        await visitor.say("/connect")
        await visitor.until_text("Find servers on this computer")

    app = stage.connected("http://127.0.0.1:9/v1", stage.make_project())
    assert is_as_accepted(snap_compare, stage, app, visit, LOW)


def test_model(snap_compare: Compare, stage: Stage) -> None:
    with SseServer() as server:
        server.models = ["gpt-4.1", "gpt-4.1-mini", "gpt-5", "gpt-5-mini", "o3", "qwen3:8b"]

        async def visit(visitor: Visitor) -> None:
            await visitor.say("/model")
            await visitor.until_screen("PickerScreen")
            await visitor.press(*"gpt")

        app = stage.connected(server.url, stage.make_project())
        assert is_as_accepted(snap_compare, stage, app, visit, LOW)


def test_mcp(snap_compare: Compare, stage: Stage) -> None:
    servers = {"notes": odd("fine"), "tickets": odd("many"), "mail": odd("dies at once")}
    for name, server in servers.items():
        fields = {"command": server.command, "args": list(server.args)}
        set_value(stage.home / "config.toml", ["mcp", "servers", name], fields)
    browser = {"command": "npx", "enabled": False}
    set_value(stage.home / "config.toml", ["mcp", "servers", "browser"], browser)

    async def visit(visitor: Visitor) -> None:
        engine = visitor.app.chat.engine
        assert engine is not None
        await engine.settle_tools()
        await visitor.until_text("MCP server mail")
        await visitor.until_text("2.2k / 400k tokens")
        await visitor.say("/mcp")
        await visitor.until_text("200 tools")

    app = stage.connected("http://127.0.0.1:9/v1", stage.make_project())
    assert is_as_accepted(snap_compare, stage, app, visit, LOW)


def test_block_menu(snap_compare: Compare, stage: Stage) -> None:
    async def visit(visitor: Visitor) -> None:
        await visitor.ask("Fix the bug", allow=2)
        await visitor.press("tab", "up", "up", "up", "enter")
        await visitor.until_screen("ChoiceScreen")

    assert is_as_accepted(snap_compare, stage, stage.demo(), visit)


def test_reading_a_block(snap_compare: Compare, stage: Stage) -> None:
    async def visit(visitor: Visitor) -> None:
        await visitor.ask("Explain how the tide is calculated")
        await visitor.press("tab", "up", "v")
        await visitor.until_screen("ReaderScreen")
        await visitor.press("slash", *"water", "enter")
        await visitor.until_text("2 of")

    assert is_as_accepted(snap_compare, stage, stage.demo(), visit, LOW)


def test_confirm(snap_compare: Compare, stage: Stage) -> None:
    async def visit(visitor: Visitor) -> None:
        await visitor.ask("Run the tests", allow=1)
        await visitor.say("/clear")
        await visitor.until_screen("ConfirmScreen")

    assert is_as_accepted(snap_compare, stage, stage.demo(), visit, LOW)


def test_trust(snap_compare: Compare, stage: Stage) -> None:
    project = stage.make_project()
    (project / "AGENTS.md").write_text("Heights are metres above chart datum.\n")
    (project / ".mcp.json").write_text("{}\n")

    async def visit(visitor: Visitor) -> None:
        await visitor.until_screen("TrustScreen")

    app = stage.connected("http://127.0.0.1:9/v1", project)
    assert is_as_accepted(snap_compare, stage, app, visit, LOW)


def test_wide_folder(snap_compare: Compare, stage: Stage) -> None:
    reply = Reply(text="`/var` is.")
    session_id = stage.remember("/", "Which of the disks is nearly full?", reply, at=".")

    async def visit(visitor: Visitor) -> None:
        await visitor.until_screen("WideFolderScreen")

    app = stage.connected("http://127.0.0.1:9/v1", stage.make_project(), resume=session_id)
    assert is_as_accepted(snap_compare, stage, app, visit, LOW)


def test_aside(snap_compare: Compare, stage: Stage) -> None:
    async def visit(visitor: Visitor) -> None:
        await visitor.ask("Run the tests", allow=1)
        await visitor.say("/btw Explain how the tide is calculated")
        await visitor.until_screen("AsideScreen")
        await visitor.until_text("two modules")

    assert is_as_accepted(snap_compare, stage, stage.demo(), visit, LOW)


def test_label(snap_compare: Compare, stage: Stage) -> None:
    async def visit(visitor: Visitor) -> None:
        await visitor.ask("Run the tests", allow=1)
        await visitor.press("ctrl+t")
        await visitor.until_screen("TreeScreen")
        await visitor.until_text("Run the tests")
        await visitor.press("l")
        await visitor.until_screen("AskLineScreen")
        await visitor.press(*"before the fix")

    assert is_as_accepted(snap_compare, stage, stage.demo(), visit, LOW)


def test_picture(snap_compare: Compare, stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLORTERM", "truecolor")

    async def visit(visitor: Visitor) -> None:
        visitor.app.run_worker(view_block(visitor.app.chat, "", (draw_buoy(),)))
        view = (await visitor.until_screen("PictureScreen")).query_one(PictureView)
        await visitor.until(lambda: bool(view._strips), "the picture")

    assert is_as_accepted(snap_compare, stage, stage.demo(), visit, LOW)
