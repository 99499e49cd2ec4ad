"""What a subagent does is shown under the call that started it."""

from __future__ import annotations

from agent_tui.core.events import StepBegan, SubagentEvent, TextDelta, ToolStarted, TurnFinished
from agent_tui.core.messages import ToolCall
from agent_tui.core.system_notes import SUBAGENT_SESSION
from agent_tui.ui.conversation.subagent_lines import SubagentLines


def test_calls_and_the_answer_that_is_written_are_shown_for_each_subagent_apart() -> None:
    lines = SubagentLines()
    call = ToolCall("c", "read_file", '{"path": "src/a.py"}')
    lines.hear(SubagentEvent("t1", "explorer", "s1", StepBegan(1)))
    assert lines.hear(SubagentEvent("t1", "explorer", "s1", ToolStarted(call))) == (
        "→ read_file src/a.py"
    )
    assert lines.hear(SubagentEvent("t2", "explorer", "s2", TextDelta("Other."))) == "Other."
    lines.hear(SubagentEvent("t1", "explorer", "s1", StepBegan(2)))
    shown = lines.hear(SubagentEvent("t1", "explorer", "s1", TextDelta("It is here.")))
    assert shown == "→ read_file src/a.py\nIt is here."
    ended = SubagentEvent("t1", "explorer", "s1", TurnFinished(1, "done", 2))
    assert "explorer: done after 2 steps" in lines.hear(ended)


def test_what_a_subagent_says_stands_above_what_it_does_next() -> None:
    lines = SubagentLines()
    for event in (StepBegan(1), TextDelta("I read a file.\nAt once.")):
        lines.hear(SubagentEvent("t1", "explorer", "s1", event))
    call = ToolStarted(ToolCall("c", "read_file", '{"path": "src/a.py"}'))
    shown = lines.hear(SubagentEvent("t1", "explorer", "s1", call))
    assert shown == "I read a file.\n→ read_file src/a.py"


def test_the_session_of_a_subagent_is_found_in_the_report_of_its_call() -> None:
    quoted = "It says [evil, session 1, 2 tokens] here."
    report = f"{quoted}\n\n[explorer, session 20261122-abc, 5,007 tokens]"
    assert SUBAGENT_SESSION.findall(report) == ["20261122-abc"]
    assert SUBAGENT_SESSION.findall("[explorer, session ../x, 1 tokens]") == []
