from __future__ import annotations

import base64

from agent_tui.context.compaction.briefing import shorten, write_brief
from agent_tui.context.compaction.summary_message import write_summary_message
from agent_tui.core.messages import MediaPart, TextPart, ThinkPart, ToolCall
from agent_tui.core.records import AssistantMessage, Message, ToolMessage, UserMessage
from agent_tui.core.summary_format import HEADINGS

GIF = "data:image/gif;base64," + base64.b64encode(b"GIF89a\x40\x01\xc8\x00" + b"\0" * 3000).decode()
MESSAGES: list[Message] = [
    UserMessage((TextPart("Why does it look like this? "), MediaPart("image_url", GIF)), "human"),
    AssistantMessage(
        (ThinkPart("SECRET THOUGHT"), TextPart("I run the tests.")),
        (ToolCall("c", "run_command", '{"command": "pytest -x"}'),),
    ),
    ToolMessage("c", "FAILED test_a\n" + "noise\n" * 2000 + "1 failed", is_error=True),
]


def test_a_brief_holds_calls_with_arguments_and_shortened_results() -> None:
    brief = write_brief(MESSAGES, range(3)).text
    assert 'call run_command {"command": "pytest -x"}' in brief
    assert "FAILED test_a" in brief
    assert "1 failed" in brief
    assert "characters left out" in brief
    assert len(brief) < 4_000


def test_thinking_is_never_in_a_brief_and_pictures_are_named_with_their_size() -> None:
    brief = write_brief(MESSAGES, range(3)).text
    assert "SECRET" not in brief
    assert "[image 320x200, image/gif, 3 kB]" in brief
    assert "base64," not in brief


def test_a_previous_summary_is_updated_and_not_nested() -> None:
    messages = [write_summary_message("The parser is half done."), *MESSAGES]
    brief = write_brief(messages, range(4))
    assert brief.text.startswith("# Summary so far\n\nThe parser is half done.")
    assert "compacted into this summary" not in brief.text
    assert "summary as it was" in brief.system
    assert "summary as it was" not in write_brief(MESSAGES, range(3)).system


def test_a_summary_that_was_pinned_once_is_taken_up_with_the_newer_one() -> None:
    messages = [write_summary_message("Newer."), write_summary_message("Pinned."), *MESSAGES]
    brief = write_brief(messages, range(5))
    assert brief.text.startswith("# Summary so far\n\nNewer.\n\nPinned.\n\n# Transcript")


def test_both_prompts_ask_for_the_same_sections() -> None:
    updating = write_brief([write_summary_message("x"), *MESSAGES], range(4)).system
    for system in (updating, write_brief(MESSAGES, range(3)).system):
        found = [line[3:] for line in system.splitlines() if line.startswith("## ")]
        assert found == list(HEADINGS)


def test_the_focus_is_said_last() -> None:
    assert write_brief(MESSAGES, range(3), focus="the parser").text.endswith(
        "keep what matters for this: the parser"
    )


def test_a_brief_keeps_to_its_budget_and_requests_leave_last() -> None:
    messages: list[Message] = []
    for n in range(200):
        messages += [UserMessage(f"request {n}", "human"), AssistantMessage(f"{n} answer " * 400)]
    brief = write_brief(messages, range(400), budget=20_000)
    assert len(brief.text) / 3 <= 21_000
    assert brief.left_out
    assert all(index % 2 for index in brief.left_out)
    assert f"(Left out for lack of room: {len(brief.left_out)} older messages.)" in brief.text


def test_requests_that_stay_are_named_where_they_were_made() -> None:
    messages: list[Message] = [
        UserMessage("Run the tests", "human"),
        AssistantMessage("Two fail."),
        UserMessage("Fix the bug. " + "It is old. " * 200, "human"),
        AssistantMessage("The sign was lost."),
        UserMessage("Thanks, now the changelog", "human"),
        AssistantMessage("Not in the brief."),
    ]
    brief = write_brief(messages, [0, 1, 3], staying=[2, 4, 5])
    places = [
        brief.text.index(said) for said in ("Run the", "Two", "Fix the", "The sign", "Thanks")
    ]
    assert places == sorted(places)
    assert brief.text.count("stays in the context, word for word") == 2
    assert "Not in the brief." not in brief.text
    assert len(brief.text) < 1_200
    assert brief.left_out == frozenset()


def test_shortening_keeps_head_and_tail() -> None:
    short = shorten("a" * 500 + "b" * 500, 90)
    assert short.startswith("a" * 60)
    assert short.endswith("b" * 30)
    assert "910 characters left out" in short
