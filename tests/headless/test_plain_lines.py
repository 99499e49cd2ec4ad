"""Events as plain lines: who speaks, what runs, what came of it; nothing that moves."""

from __future__ import annotations

import os
from types import SimpleNamespace
from typing import Any, cast

import pytest

from agent_tui.core.errors import UsageError
from agent_tui.core.events import (
    ApprovalRequest,
    BackgroundChanged,
    CompactionFinished,
    DMailSent,
    Event,
    Failed,
    Question,
    Reverted,
    StepBegan,
    StepRetried,
    SubagentEvent,
    TextDelta,
    ThinkDelta,
    ToolFinished,
    ToolOutput,
    ToolStarted,
    TurnFinished,
)
from agent_tui.core.messages import CommandDisplay, ToolCall, ToolResult, text_of
from agent_tui.core.records import ToolMessage
from agent_tui.core.summary import CompactionReport, OperationReport
from agent_tui.core.usage import Usage
from agent_tui.core.words import CANCELLED
from agent_tui.headless.plain import commands, telling
from agent_tui.headless.plain.asking import ask_lines
from agent_tui.headless.plain.conversation import _PlainConversation
from agent_tui.headless.plain.lines import PlainLines
from agent_tui.headless.reader_gone import ReaderGone

CALL = ToolCall("c1", "read_file", '{"path": "tides.txt"}')


def lines_of(*events: Event) -> list[str]:
    lines = PlainLines()
    return [line for event in events for line in lines.hear(event)]


def test_an_answer_is_told_by_whole_lines_and_says_once_who_speaks() -> None:
    deltas = [TextDelta(text) for text in ("High wa", "ter at six.\nLow", " water at noon.")]
    end = TurnFinished(1, "done", 1)
    assert lines_of(*deltas) == ["Agent: High water at six."]
    assert lines_of(*deltas, end)[1:] == ["> Low water at noon.", "Done after 1 step."]


def test_a_background_command_that_ends_is_told_also_when_it_was_the_last() -> None:
    started = BackgroundChanged(("make watch", "sleep 9"))
    told = lines_of(started, BackgroundChanged(("make watch",), "sleep 9"))
    assert told == [
        "In the background: make watch; sleep 9",
        "Background command ended: sleep 9",
        "In the background: make watch",
    ]
    assert lines_of(BackgroundChanged((), "make")) == ["Background command ended: make"]
    assert lines_of(BackgroundChanged(())) == []


def test_the_answer_before_a_call_is_told_before_the_call() -> None:
    told = lines_of(TextDelta("I look."), ToolStarted(CALL), ToolFinished(CALL, ToolResult("6\n7")))
    assert told == [
        "Agent: I look.",
        "Running read_file tides.txt",
        "Tool read_file: ok, 2 lines",
        "> 6",
        "> 7",
    ]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ('{"path": "tides.py", "old": "    low", "new": "    high"}', "tides.py"),
        ('{"timeout": 60, "command": "make check"}', "make check"),
        ('{"action": "list", "number": 2}', "list 2"),
    ],
)
def test_a_call_is_told_by_what_it_is_about(arguments: str, told: str) -> None:
    assert lines_of(ToolStarted(ToolCall("c1", "tool", arguments))) == [f"Running tool {told}"]


def test_thinking_is_told_once_a_step() -> None:
    step: list[Event] = [
        StepBegan(1),
        ThinkDelta("hm"),
        ThinkDelta("hm"),
        TextDelta("So."),
        StepBegan(2),
    ]
    assert lines_of(*step, ThinkDelta("hm")) == [
        "The agent is thinking.",
        "Agent: So.",
        "The agent is thinking.",
    ]


def test_a_long_result_says_how_much_more_there_is() -> None:
    result = ToolResult("\n".join(map(str, range(30))))
    assert lines_of(ToolFinished(CALL, result))[-1].startswith("18 more lines")


def test_what_is_drawn_over_and_over_on_a_screen_is_silent() -> None:
    assert lines_of(*[ToolOutput("c1", f"{n} %") for n in range(100)]) == []


@pytest.mark.parametrize(
    ("event", "line"),
    [
        (Failed("The server is down."), "The server is down."),
        (StepRetried(1, 2.0, "busy"), "Retrying in 2 seconds: busy"),
        (StepRetried(1, 0.5, "busy"), "Retrying in 1 second: busy"),
        (DMailSent(3, "Look in b.txt."), "The agent reverted to its earlier checkpoint 3 and left "
         "itself a message (D-Mail): Look in b.txt."),
        (TurnFinished(1, "limit", 3, "The limit of tokens was reached."), "The limit of tokens was "
         "reached."),
        (Reverted(OperationReport("user", 1, 3, messages_left=2)), "Reverted: 2 messages removed. "
         "Undo with /undo."),
        (CompactionFinished(None, "nothing to summarise"), "Not compacted: nothing to summarise"),
        (CompactionFinished(None, CANCELLED), "The compaction was cancelled."),
        (SubagentEvent("c1", "explorer", "s", ToolStarted(CALL)), "Subagent explorer: running "
         "read_file tides.txt"),
    ],
)  # fmt: skip
def test_what_happens_is_one_sentence(event: Event, line: str) -> None:
    assert lines_of(event) == [line]


def test_a_compaction_says_what_became_of_the_messages() -> None:
    report = CompactionReport("manual", "last-messages", 8_000, 2_000, 4, 20, 0, 1)
    (line,) = lines_of(CompactionFinished(report))
    assert "Messages: 4 kept, 20 summarised, 0 dropped." in line
    assert "took" not in line


def test_a_compaction_says_what_its_summary_took() -> None:
    report = CompactionReport(
        "manual", "last-messages", 8_000, 2_000, 4, 20, 0, 1, usage=Usage(6_000, 400)
    )
    (line,) = lines_of(CompactionFinished(report))
    assert "The summary took 6.4k tokens." in line


def test_a_request_hides_nothing() -> None:
    command = "echo tide\u202e; rm -rf x"
    call = ToolCall("c1", "run_command", "{}")
    lines = ask_lines(ApprovalRequest("1", call, "Run this?", CommandDisplay(command)))
    assert lines[1] == "> echo tide<U+202E>; rm -rf x"
    assert "always" not in lines[-1]


def test_a_question_numbers_its_choices() -> None:
    lines = ask_lines(Question("1", "Which harbour?", ("North", "South")))
    assert lines[1:] == ["1. North", "2. South", "Type a number, or an answer."]


def test_a_terminal_without_a_width_is_taken_for_a_usual_one(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setattr("sys.stdout.fileno", lambda: 1)
    monkeypatch.setattr(os, "get_terminal_size", lambda _: os.terminal_size((0, 0)))
    telling.tell("A sentence that is a little longer than twenty cells.")
    assert capsys.readouterr().out.count("\n") == 1


async def test_a_bug_of_ours_is_told_and_the_conversation_goes_on(
    capsys: pytest.CaptureFixture[str],
) -> None:
    class Session:
        def subscribe(self, *_: object) -> None:
            pass

        def take_steers(self) -> list[str]:
            return []

    async def fail() -> None:
        raise KeyError("x")

    conversation = _PlainConversation(cast("Any", Session()), ReaderGone())
    conversation._begin(fail())
    assert conversation._work is not None
    await conversation._work
    assert capsys.readouterr().out == "Internal error: KeyError: 'x'.\n"


def test_rows_break_between_words_and_lose_nothing() -> None:
    text = "Agent: high water comes at six and low water at noon, " + "x" * 60 + " is a name"
    rows = list(telling.rows_of(text, 40))
    assert all(len(row) < 40 for row in rows)
    assert rows[0] == "Agent: high water comes at six and low "
    assert all(row.startswith("> ") for row in rows[1:])
    assert "".join([rows[0], *(row[2:] for row in rows[1:])]) == text


async def test_the_whole_output_of_a_tool_is_shown_by_a_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    results = [ToolMessage("c1", "\n".join(f"row {n}" for n in range(30))), ToolMessage("c2", "7")]
    session = cast("Any", SimpleNamespace(view=SimpleNamespace(records=results)))
    told: list[str] = []
    monkeypatch.setattr(commands, "tell", told.append)
    (*_, note) = lines_of(ToolFinished(CALL, ToolResult(text_of(results[0].content))))
    assert note == "18 more lines. See /output for all of them."
    await commands.run_plain_command(session, "/output")
    assert told == ["> 7"]
    await commands.run_plain_command(session, "/output 2")
    assert told[-1] == "> row 29"
    with pytest.raises(UsageError, match="There is no result "):
        await commands.run_plain_command(session, "/output 3")


def test_a_request_says_what_each_answer_does() -> None:
    call = ToolCall("c", "run_command", "{}")
    rule = "run_command(git diff *)"
    *_, how = ask_lines(ApprovalRequest("r", call, "Run this?", CommandDisplay("ls"), (rule,)))
    assert how == (
        f"Type yes to allow it once, always to allow {rule} for this session, or no to reject it. "
        "Text after no is sent to the agent."
    )
