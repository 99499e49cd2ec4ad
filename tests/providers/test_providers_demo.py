"""The demo's story really happens: its calls work on the sample workspace, with python3 alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_tui.agent.toolset import PLAN_ONLY
from agent_tui.core.records import ToolMessage, UserMessage
from agent_tui.core.words import NOT_RUN
from agent_tui.providers.base import ToolSchema
from agent_tui.providers.demo.scenario import Scene, load_scenario
from agent_tui.providers.demo.scripted import Scripted
from tests.providers.replies import TOOLS, ask, calls, play, text
from tests.providers.stage import Stage

OF_SESSIONS = {"task", "recall", "present_plan", "send_dmail"}
"""Tools that only a session has; the scenes with them are played in one."""

SCENES = [
    scene
    for scene in load_scenario().scenes
    if not scene.replies[0].faults
    and scene.name != "after-dmail"
    and not OF_SESSIONS & {call.name for reply in scene.replies for call in reply.calls}
]


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(Scripted(chunks_per_second=0), tmp_path)


async def test_the_story_runs_from_the_tour_to_the_fixed_bug(stage: Stage) -> None:
    assert "tide table" in await stage.say("Show me around this project")
    assert [call.name for call in stage.calls] == ["find_files", "read_file", "read_file"]
    assert "FAILED (failures=2)" in await stage.say("Run the tests")
    assert "All tests pass" in await stage.say("Fix the bug")
    assert 'f"{rounded:+.1f} m"' in stage.read("tidewatch/report.py")
    assert "All tests pass: **OK**" in await stage.say("Run the tests again")
    assert "nothing left to fix" in await stage.say("fix the bug")


async def test_every_suggestion_is_answered_and_together_they_fill_the_window(
    stage: Stage,
) -> None:
    scenario = load_scenario()
    for suggestion in scenario.suggestions:
        said = await stage.say(suggestion)
        assert "scripted stand-in" not in said
        assert "did not work" not in said
        assert "\\" not in said
    assert stage.usage.total_tokens > scenario.window * 3 / 4


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
async def test_every_scene_plays_to_its_end_with_the_real_tools(stage: Stage, scene: Scene) -> None:
    said = await stage.say(scene.on[0])
    assert "did not work" not in said
    assert len(stage.calls) >= 1


async def test_the_wrong_sign_shows_in_the_table_until_it_is_fixed(stage: Stage) -> None:
    assert "sign is wrong" in await stage.say("Show the tide at Grey Bar")
    await stage.say("fix the bug")
    assert "**-0.4 m**" in await stage.say("Show the tide at Grey Bar")


async def test_a_rejected_command_is_not_told_as_a_success() -> None:
    provider = Scripted(chunks_per_second=0)
    first = await play(provider, ask("run the tests"))
    rejected = ToolMessage(calls(first)[0].id, "The user rejected this action", is_error=True)
    after = text(await play(provider, ask("run the tests", rejected)))
    assert "did not work" in after
    assert "rejected" in after
    assert "pass" not in after


async def test_a_command_that_was_not_run_is_not_told_as_one_that_may_have_done_something() -> None:
    provider = Scripted(chunks_per_second=0)
    first = await play(provider, ask("run `ls`"))
    stopped = ToolMessage(calls(first)[0].id, NOT_RUN, is_error=True, interrupted=True)
    after = text(await play(provider, ask("run `ls`", stopped)))
    assert "was not run" in after
    assert "unknown" not in after


async def test_in_plan_mode_a_fix_begins_with_a_plan_and_nothing_fails() -> None:
    provider = Scripted(chunks_per_second=0)
    planning = (*TOOLS, ToolSchema("present_plan", "Presents a plan.", {"type": "object"}))
    first = await play(provider, ask("Fix the bug", tools=planning))
    assert [call.name for call in calls(first)] == ["read_file", "read_file"]
    read = [ToolMessage(call.id, "whole = int(metres)") for call in calls(first)]
    second = await play(provider, ask("Fix the bug", *read, tools=planning))
    assert [call.name for call in calls(second)] == ["present_plan"]
    run = calls(await play(provider, ask("run `ls`", tools=planning)))
    refused = ToolMessage(run[0].id, PLAN_ONLY, is_error=True)
    after = text(await play(provider, ask("run `ls`", refused, tools=planning)))
    assert "did not work" not in after
    assert "`/mode`" in after


async def test_what_the_program_wrote_before_a_question_is_not_quoted() -> None:
    asked = "<system>Answer it briefly.</system>\n\nWhy is the Moon round?"
    said = text(await play(Scripted(chunks_per_second=0), ask(asked)))
    assert "<system>" not in said
    assert "Why is the Moon round?" in said


@pytest.mark.parametrize(
    ("prompt", "tool", "said"),
    [
        ("list the files", "find_files", "tidewatch/report.py"),
        ("What files are here?", "find_files", "docs/logbook.md"),
        ("show me all *.md files", "find_files", "docs/how-tides-work.md"),
        ("ls", "find_files", "README.md"),
        ("read README.md", "read_file", "# tidewatch"),
        ("please show me the file tidewatch/report.py", "read_file", "Tables for people"),
        ("what's in docs/logbook.md?", "read_file", "skippers"),
        ("open docs/", "find_files", "docs/logbook.md"),
        ("read the logbook", "find_files", "Patience"),
        ('search for "chart datum"', "search_files", "AGENTS.md"),
        ("grep for format_height in tests/", "search_files", "tests/test_report.py"),
        ("where is find_station?", "search_files", "tidewatch/stations.py"),
        ("find datum", "search_files", "datum"),
        ("search for height_at(", "search_files", "def height_at(self"),
        ("run `echo tide is out`", "run_command", "tide is out"),
        ("run python3 -c 'print(6 * 7)'", "run_command", "42"),
        ("!echo low water", "run_command", "low water"),
        ("read nothing-there.md", "read_file", "did not work"),
    ],
)
async def test_plain_wishes_become_real_calls(
    stage: Stage, prompt: str, tool: str, said: str
) -> None:
    answered = await stage.say(prompt)
    assert stage.calls[0].name == tool
    assert said in answered


@pytest.mark.parametrize(
    "prompt",
    [
        'replace "brass" with "bronze" in tidewatch/harmonics.py',
        "Please change 'brass' to 'bronze' in the file tidewatch/harmonics.py.",
        "in tidewatch/harmonics.py, replace `brass` with `bronze`",
    ],
)
async def test_an_edit_is_read_first_and_then_made(stage: Stage, prompt: str) -> None:
    await stage.say(prompt)
    assert [call.name for call in stage.calls] == ["read_file", "edit_file"]
    assert "bronze pulleys" in stage.read("tidewatch/harmonics.py")


async def test_a_file_is_written_when_asked(stage: Stage) -> None:
    await stage.say('create notes/today.md with "High water at noon."')
    assert stage.read("notes/today.md") == "High water at noon.\n"


@pytest.mark.parametrize("prompt", ["Hello!", "tell me a joke", "", "潮汐是什么", "x" * 5000, "}{"])
async def test_anything_else_is_answered_by_what_it_is_and_how_to_connect(
    stage: Stage, prompt: str
) -> None:
    said = await stage.say(prompt)
    assert "scripted stand-in" in said
    assert all(word in said for word in ("OPENAI_API_KEY", "--model", "OPENAI_BASE_URL"))


async def test_asked_for_a_real_model_it_says_how(stage: Stage) -> None:
    assert "OPENAI_API_KEY" in await stage.say("How do I connect a real model?")


async def test_asked_what_was_done_it_tells_what_its_context_holds(stage: Stage) -> None:
    await stage.say("fix the bug")
    said = await stage.say("What have we done so far?")
    assert "“fix the bug”" in said
    assert "`tidewatch/report.py`" in said
    summary = UserMessage("## Completed work\n- Asked: Dance\n\n## Open issues\n", "compaction")
    parts = await play(Scripted(chunks_per_second=0), ask(summary, "recap, please"))
    assert "- Asked: Dance" in text(parts)


async def test_without_tools_it_says_so() -> None:
    parts = await play(Scripted(chunks_per_second=0), ask("read README.md", tools=()))
    assert "no such tool" in text(parts)
    assert not calls(parts)


async def test_results_of_another_models_calls_are_told_too() -> None:
    history = ("x", ToolMessage("toolu_01", "forty-two"))
    parts = await play(Scripted(chunks_per_second=0), ask(*history))
    assert "forty-two" in text(parts)


async def test_a_quoted_file_cannot_close_its_own_fence(stage: Stage) -> None:
    said = await stage.say("read README.md")
    assert "````text" in said
    assert said.rstrip().endswith("````")


def test_the_demo_shows_every_kind_of_thing() -> None:
    scenario = load_scenario()
    assert 20 <= scenario.chunks_per_second <= 500
    replies = [reply for scene in scenario.scenes for reply in scene.replies]
    assert any(reply.think for reply in replies)
    assert any(len(reply.calls) > 1 for reply in replies)
    assert any("```python" in reply.text and "| " in reply.text for reply in replies)
    names = {call.name for reply in replies for call in reply.calls}
    assert names == {tool.name for tool in TOOLS} | OF_SESSIONS | {"todo"}
