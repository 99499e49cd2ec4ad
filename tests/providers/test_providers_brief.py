"""A summary made without a model says what the brief says, and no more."""

from __future__ import annotations

import json

from agent_tui.core.messages import ToolCall
from agent_tui.core.records import AssistantMessage, Message, ToolMessage, UserMessage
from agent_tui.core.summary_format import HEADINGS
from agent_tui.providers.base import ModelRequest
from agent_tui.providers.demo.scenario import Reply, Scenario
from agent_tui.providers.demo.scripted import Scripted
from agent_tui.providers.demo.summarise import is_brief, summarise_brief
from agent_tui.resources import prompt
from tests.providers.replies import TOOLS, ask, play, text

COMMAND = 'python3 -m unittest discover -s "my tests"'


def brief(*lines: str) -> ModelRequest:
    message = UserMessage("\n".join(lines), origin="compaction")
    return ModelRequest("scripted", prompt("compact"), (message,))


RUN_FAILED = (
    "# Transcript",
    "## message 1 · user",
    "Run the tests",
    "## message 2 · assistant",
    "I'd like to.",
    f"call run_command {json.dumps({'command': COMMAND})}",
    "## message 3 · tool, failed",
    "AssertionError: '+0.4 m' != '-0.4 m'",
    "[exit code 1]",
)
FIXED = (
    "## message 4 · user",
    "Fix the bug",
    "## message 5 · assistant",
    'call edit_file {"path": "tidewatch/report.py", "old_text": "def format_height(m):"}',
    "## message 6 · tool",
    "Edited tidewatch/report.py in 1 place",
    "## message 7 · assistant",
    f"call run_command {json.dumps({'command': COMMAND})}",
    "## message 8 · tool",
    "OK",
    "[exit code 0]",
)
END = ("# End of the transcript", "", "Write the summary now.")


def section(summary: str, heading: str) -> str:
    _, _, rest = summary.partition(f"## {heading}\n")
    return rest.partition("\n\n## ")[0]


def test_all_sections_are_there_in_order() -> None:
    summary = summarise_brief(brief(*RUN_FAILED, *FIXED, *END))
    found = [line[3:] for line in summary.splitlines() if line.startswith("## ")]
    assert found == list(HEADINGS)


def test_requests_commands_and_changes_are_kept() -> None:
    summary = summarise_brief(brief(*RUN_FAILED, *FIXED, *END))
    assert section(summary, "Current focus") == "- Asked last: Fix the bug"
    assert "Asked: Run the tests" in section(summary, "Completed work")
    assert "exit code 1" in section(summary, "Completed work")
    assert "`tidewatch/report.py` was changed (`format_height`)" in summary


def test_a_rejected_edit_is_not_told_as_a_change() -> None:
    edit = 'call edit_file {"path": "tidewatch/report.py", "old_text": "def format_height(m):"}'
    said = "This action was rejected. Stop and wait for what the user says next."
    rejected = ("## message 5 · assistant", edit, "## message 6 · tool, failed", said)
    summary = summarise_brief(brief(*RUN_FAILED, *rejected, *END))
    assert "Changed" not in summary
    assert section(summary, "Code state") == "None."
    assert "was not allowed" in section(summary, "Completed work")
    allowed = summarise_brief(brief(*RUN_FAILED, *FIXED, *rejected, *END))
    assert "Changed `tidewatch/report.py`" in allowed


def test_a_request_that_stays_is_the_focus_and_is_not_told_again() -> None:
    stays = ("## message 9 · user (stays in the context, word for word)", "Now write the docs")
    summary = summarise_brief(brief(*RUN_FAILED, *stays, *END))
    assert section(summary, "Current focus") == "- Asked last: Now write the docs"
    assert "Now write the docs" not in section(summary, "Completed work")


def test_trouble_stays_open_until_its_command_succeeds() -> None:
    trouble = "AssertionError: '+0.4 m' != '-0.4 m'"
    assert trouble in section(
        summarise_brief(brief(*RUN_FAILED, *END)), "Errors and how each was solved"
    )
    fixed = section(
        summarise_brief(brief(*RUN_FAILED, *FIXED, *END)), "Errors and how each was solved"
    )
    assert fixed == "None."


def test_an_earlier_summary_is_carried_on() -> None:
    first = summarise_brief(brief(*RUN_FAILED, *FIXED, *END))
    again = brief(
        "# Summary so far",
        "",
        first,
        "",
        "# Transcript",
        "## message 2 · user",
        "Thanks",
        *END,
        "Above all, keep what matters for this: the sign",
    )
    second = summarise_brief(again)
    assert "Asked: Run the tests" in section(second, "Completed work")
    assert "To be kept above all: the sign" in section(second, "Current focus")
    assert second.count("scripted stand-in") == 1


def test_a_brief_full_of_nonsense_still_gives_a_summary() -> None:
    summary = summarise_brief(brief("\x00\ud800", "## message x", "call edit_file {", '"path": "'))
    assert all(f"## {heading}" in summary for heading in HEADINGS)


def test_only_a_brief_is_taken_for_one() -> None:
    assert is_brief(brief(*END))
    assert is_brief(ModelRequest("m", prompt("compact"), (UserMessage("anything"),)))
    kept: tuple[Message, ...] = (
        UserMessage("a summary", origin="compaction"),
        AssistantMessage("", (ToolCall("c", "read_file", "{}"),)),
        ToolMessage("c", "x"),
    )
    assert not is_brief(ModelRequest("m", "", kept))
    assert not is_brief(ask(UserMessage("a summary", origin="compaction"), tools=TOOLS))
    assert not is_brief(ask("Hello", tools=()))
    assert not is_brief(ModelRequest("m", "", ()))


async def test_a_scenario_may_answer_briefs_itself_and_then_summaries_are_made() -> None:
    script = (Reply(text="an answer"),)
    provider = Scripted(Scenario(script=script, compactions=(Reply(text="A summary."),)))
    assert text(await play(provider, brief(*END))) == "A summary."
    assert text(await play(provider, ask("x"))) == "an answer"
    assert "## Current focus" in text(await play(provider, brief(*END)))
