"""The compaction pane over a real session: what it shows is what is written, in that order."""

from __future__ import annotations

from pathlib import Path
from time import monotonic

import pytest
from textual.pilot import Pilot

from agent_tui.config import ContextSettings
from agent_tui.core.messages import text_of
from agent_tui.core.records import AssistantMessage, ToolMessage, UserMessage
from agent_tui.core.text import first_line
from agent_tui.core.words import describe_strategy
from agent_tui.providers.demo.scenario import Reply, Scenario
from agent_tui.providers.demo.scripted import Scripted
from agent_tui.runtime.live_session import LiveSession
from agent_tui.ui.screens.context.compaction import PastCompactionScreen
from agent_tui.ui.screens.context.compaction_preview import CompactionPreviewScreen
from agent_tui.ui.widgets.panes.sides import Sides
from tests.agent.stage import Stage as Engine
from tests.agent.stage import call
from tests.ui.stage import Stage
from tests.waiting import PATIENCE_SECONDS, until

pytestmark = pytest.mark.slow

SIZE = (160, 120)
LONG = "Nothing was decided about it. " * 60
TURNS = (
    Reply(text=f"First answer. {LONG} It took 340 ms."),
    Reply(text="I look.", calls=(call("find_files", pattern="*.py"),)),
    Reply(text=f"You must never drop the billing tables. {LONG}"),
    Reply(text=f"Third answer. {LONG}"),
    Reply(text=f"Fourth answer. {LONG}"),
)


async def talk(engine: Engine) -> LiveSession:
    for prompt in ("Look at the colours", "Find the modules", "Go on with the parser", "Test it"):
        assert await engine.say(prompt) == "done"
    return engine.session


def conversation() -> Scripted:
    return Scripted(Scenario(script=TURNS))


async def wait(app: Stage, pilot: Pilot[None], *texts: str) -> None:
    """Wait until the screen holds these texts; fails with the screen."""
    deadline = monotonic() + PATIENCE_SECONDS
    while not all(text in app.text for text in texts):
        await pilot.pause(0.01)
        assert monotonic() < deadline, f"waited in vain for {texts}\n{app.text}"


def shown(app: Stage) -> list[str]:
    """What the right side says in each row, the part that a log holds too, without gaps."""
    pane = app.screen.query_one(Sides)
    assert pane.count <= pane.size.height
    rights = [pane.render_line(y).text.partition("│")[2].strip() for y in range(pane.count)]
    return [right for right in rights if right]


def written(session: LiveSession) -> list[str]:
    """How each message of the log begins."""
    kinds = UserMessage | AssistantMessage | ToolMessage
    messages = [record for record in session.view.records if isinstance(record, kinds)]
    return [first_line(text_of(message.content), 20).rstrip("…") for message in messages]


async def test_preview_and_look_back_show_the_order_that_is_written(tmp_path: Path) -> None:
    async with Engine(tmp_path, provider=conversation(), yolo=True) as engine:
        session = await talk(engine)
        screen = CompactionPreviewScreen(session.compacting)
        async with (app := Stage(screen=screen)).run_test(size=SIZE) as pilot:
            await wait(app, pilot, "% saved")
            promised = shown(app)
            await pilot.press("a")
            await until(pilot, lambda: app.results)
        in_log = written(session)
        past = PastCompactionScreen(1, lambda: session.view.view_compaction(1))
        async with (app := Stage(screen=past)).run_test(size=SIZE) as pilot:
            await wait(app, pilot, "% saved")
            looked_back = shown(app)
    assert in_log[0].startswith("<system>Earlier")
    assert len(in_log) > 4
    for rows in (promised, looked_back):
        assert rows[0].startswith("system prompt and tools")
        assert rows[1].startswith("◐ summary")
        kept = [row for row in rows if row.startswith("●")]
        assert rows[len(rows) - len(kept) :] == kept
        assert len(kept) == len(in_log) - 1
        assert all(said in row for row, said in zip(kept, in_log[1:], strict=True))


async def test_pins_edits_and_losses_kept_by_hand_come_through_every_strategy(
    tmp_path: Path,
) -> None:
    settings = ContextSettings(auto_compact=False)
    async with Engine(
        tmp_path, provider=conversation(), yolo=True, window=5_000, context=settings
    ) as engine:
        session = await talk(engine)
        screen = CompactionPreviewScreen(session.compacting)
        async with (app := Stage(screen=screen)).run_test(size=SIZE) as pilot:
            await wait(app, pilot, "% saved")
            await pilot.press("down", "down", "p", "tab", "k", "tab")
            await pilot.press("e", *"By me.", "enter", "ctrl+s")
            await wait(app, pilot, "◉  3 user", "• 340 ms", "By me.")
            await pilot.press("f", *"billing", "enter")
            await wait(app, pilot, "focus: billing", "◉  3 user", "• 340 ms", "By me.")
            for place, each in enumerate(session.compacting.strategies):
                if each.name == "mask":  # there is no old output in this conversation
                    continue
                await pilot.press("s", "home", *("down",) * place, "enter")
                named = describe_strategy(each.name)
                await wait(app, pilot, f"{named}  ●", "◉  3 user", "• 340 ms", "By me.")
            await pilot.press("a")
            await until(pilot, lambda: app.results)
        assert "find the modules" in " ".join(written(session)).lower()
        assert "# Kept by hand\\nBy me.\\n- 340 ms" in engine.log.read_text()


async def test_a_line_that_was_edited_in_place_comes_through_a_change_of_strategy(
    tmp_path: Path,
) -> None:
    settings = ContextSettings(auto_compact=False)
    async with Engine(
        tmp_path, provider=conversation(), yolo=True, window=5_000, context=settings
    ) as engine:
        session = await talk(engine)
        screen = CompactionPreviewScreen(session.compacting)
        async with (app := Stage(screen=screen)).run_test(size=SIZE) as pilot:
            await wait(app, pilot, "% saved")
            await pilot.press("e", "down", "end", *" (checked)", "ctrl+s", "s", "down", "enter")
            await wait(app, pilot, "(checked)", "last share  ●", "Kept by hand")
