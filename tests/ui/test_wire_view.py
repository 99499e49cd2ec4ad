"""What is shown while it happens is what is shown when the log is read again."""

from __future__ import annotations

import pytest

from agent_tui.core.events import (
    ApprovalAnswer,
    ApprovalAnswered,
    ApprovalRequest,
    ApprovalRequested,
    ApprovalsQueued,
    CheckpointMade,
    CompactionBegan,
    CompactionDelta,
    CompactionFinished,
    DMailSent,
    Event,
    Failed,
    FilesChanged,
    PromptJoined,
    Question,
    QuestionAnswered,
    QuestionAsked,
    Reverted,
    StatusChanged,
    StepBegan,
    StepInterrupted,
    StepRetried,
    SubagentEvent,
    TextDelta,
    ThinkDelta,
    ToolCallBegan,
    ToolCallDelta,
    ToolFinished,
    ToolOutput,
    ToolStarted,
    TurnBegan,
    TurnEnd,
    TurnFinished,
)
from agent_tui.core.file_changes import FileChange, FileState
from agent_tui.core.messages import (
    CommandDisplay,
    DiffDisplay,
    TextPart,
    ThinkPart,
    ToolCall,
    ToolResult,
)
from agent_tui.core.modes import ApprovalMode
from agent_tui.core.records import (
    AssistantMessage,
    Checkpoint,
    Record,
    Stamp,
    ToolMessage,
    TurnEndRecord,
    UsageRecord,
    UserMessage,
    WorkspaceRecord,
)
from agent_tui.core.summary import CompactionReport, OperationReport
from agent_tui.core.todo import TodoItem
from agent_tui.core.usage import Gauge, Usage
from agent_tui.ui.blocks import (
    AssistantBlock,
    CheckpointBlock,
    CompactionBlock,
    NoticeBlock,
    ToolBlock,
)
from agent_tui.ui.conversation.wire_view import WireView
from agent_tui.ui.renderers.long_text import GLANCE_CHARS
from agent_tui.ui.widgets.bars.status_line import WAITING
from tests.ui.timeline_stage import DIFF, TimelineStage
from tests.waiting import rest, until

READ = ToolCall("a", "read_file", '{"path": "x.py"}')
EDIT = ToolCall("b", "edit_file", '{"path": "x.py", "old": "1", "new": "2"}')
TEST = ToolCall("c", "run_command", '{"command": "make test"}')
DROP = ToolCall("d", "run_command", '{"command": "rm x"}')
DONE = ToolResult("done")
ANSWER = (
    "# Done\n\nIt **works**:\n\n- one\n- two\n\n```python\nx = 1\n```\n\n"
    "| a | b |\n|---|---|\n| 1 | 2 |"
)


class Listener:
    """Writes down what it hears."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self.works: list[str] = []

    def turn_began(self, turn: int) -> None:
        self.heard.append(f"turn {turn}")

    def prompt_joined(self, text: str) -> None:
        self.heard.append(f"joined {text}")

    def step_began(self, step: int) -> None:
        self.heard.append(f"step {step}")

    def step_retried(self, event: StepRetried) -> None:
        self.heard.append(f"retry {event.attempt}")

    def turn_finished(self, end: TurnEnd, steps: int) -> None:
        self.heard.append(f"end {end}")

    def status_changed(self, gauge: Gauge, usage: Usage | None, model: str) -> None:
        self.heard.append(f"tokens {gauge.tokens}")

    def working(self, work: str) -> None:
        if self.works[-1:] != [work]:
            self.works.append(work)

    def approval_requested(self, request: ApprovalRequest, *, is_own: bool) -> None:
        self.heard.append(f"asks {request.title}")

    def approvals_queued(self, waiting: int) -> None:
        self.heard.append(f"{waiting} more wait")

    def question_asked(self, question: Question) -> None:
        self.heard.append(f"question {question.text}")

    def todo_changed(self, items: tuple[TodoItem, ...]) -> None:
        self.heard.append(f"todo {len(items)}")

    def background_changed(self, commands: tuple[str, ...], ended: str) -> None:
        self.heard.append(f"background {len(commands)}")

    def mode_changed(self, mode: ApprovalMode) -> None:
        self.heard.append(f"mode {mode}")

    def compaction_began(self, trigger: str, tokens: int) -> None:
        self.heard.append(f"compacts {tokens}")

    def compaction_streamed(self, text: str) -> None:
        self.heard.append(text)

    def compaction_finished(self, report: CompactionReport | None, reason: str) -> None:
        self.heard.append(f"compacted {report is not None}")

    def reverted(self, report: OperationReport) -> None:
        self.heard.append(f"reverted {report.reason}")


def chopped(text: str, size: int = 5) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]


def written(index: int, call: ToolCall) -> list[Event]:
    deltas = [ToolCallDelta(index, piece) for piece in chopped(call.arguments)]
    return [ToolCallBegan(index, call.id, call.name), *deltas]


LIVE: list[Event] = [
    CheckpointMade(0, 1, 0),
    TurnBegan(1, "Please fix it."),
    CheckpointMade(1, 1, 1),
    StepBegan(1),
    *[ThinkDelta(piece) for piece in chopped("I should look first.\nThen act.")],
    *[TextDelta(piece) for piece in chopped("Looking at both.")],
    *written(0, READ),
    *written(1, EDIT),
    StatusChanged(Gauge(1_000, 10_000, 8_000, estimated=False), Usage(900, 100)),
    ToolStarted(READ),
    ApprovalRequested(ApprovalRequest("r", EDIT, "Edit x.py", DiffDisplay("x.py", DIFF))),
    ApprovalAnswered(
        ApprovalRequest("r", EDIT, "Edit x.py", DiffDisplay("x.py", DIFF)), ApprovalAnswer("once")
    ),
    ToolStarted(EDIT),
    ToolFinished(EDIT, ToolResult("Edited", display=DiffDisplay("x.py", DIFF))),
    ToolFinished(READ, ToolResult("\n".join(f"line {number}" for number in range(20)))),
    CheckpointMade(2, 1, 2),
    StepBegan(2),
    *written(0, TEST),
    *written(1, DROP),
    ToolStarted(TEST),
    ToolFinished(
        TEST, ToolResult("boom", is_error=True, display=CommandDisplay("make test", "", 2))
    ),
    ToolStarted(DROP),
    ApprovalRequested(ApprovalRequest("s", DROP, "rm x", CommandDisplay("rm x"))),
    ApprovalAnswered(
        ApprovalRequest("s", DROP, "rm x", CommandDisplay("rm x")), ApprovalAnswer("reject", "No.")
    ),
    ToolFinished(DROP, ToolResult("It was rejected: No.", is_error=True, rejected=True)),
    PromptJoined("And be quick."),
    CheckpointMade(3, 1, 3),
    StepBegan(3),
    *[TextDelta(piece) for piece in chopped(ANSWER)],
    TurnFinished(1, "done", 3),
]


def recorded(at: str) -> list[Record]:
    stamp = Stamp("u", None, at)
    looking = (ThinkPart("I should look first.\nThen act."), TextPart("Looking at both."))
    return [
        Checkpoint(0, 1, 0, stamp),
        UserMessage("Please fix it.", "human", 1),
        Checkpoint(1, 1, 1, stamp),
        AssistantMessage(looking, (READ, EDIT)),
        UsageRecord(1_000),
        ToolMessage("b", "Edited", display=DiffDisplay("x.py", DIFF)),
        ToolMessage("a", "\n".join(f"line {number}" for number in range(20))),
        Checkpoint(2, 1, 2, stamp),
        AssistantMessage("", (TEST, DROP)),
        ToolMessage("c", "boom", is_error=True, display=CommandDisplay("make test", "", 2)),
        ToolMessage("d", "It was rejected: No.", is_error=True, rejected=True),
        UserMessage("And be quick.", "steer", 1),
        Checkpoint(3, 1, 3, stamp),
        AssistantMessage(ANSWER),
    ]


@pytest.mark.parametrize("size", [(100, 70), (44, 120)])
async def test_live_and_reloaded_look_the_same(size: tuple[int, int]) -> None:
    app = TimelineStage()
    async with app.run_test(size=size) as pilot:
        view = WireView(app.timeline, Listener())
        for number, event in enumerate(LIVE):
            view.handle(event)
            if number % 9 == 0:
                await pilot.pause(0.04)
        await rest(pilot, 0.3)
        live = app.lines
        assert sum("rejected" in line for line in live) == 2
        assert not any("failed" in line for line in live)
        first = app.timeline.block(0)
        assert isinstance(first, CheckpointBlock)
        app.timeline.load(recorded(first.at))
        await rest(pilot, 0.3)
        assert app.lines == live


async def test_the_first_checkpoint_tells_no_tokens_as_none_were_counted() -> None:
    """The log has none for it either: the figure would be gone when the turn settles."""
    app = TimelineStage()
    async with app.run_test(size=(90, 20)):
        view = WireView(app.timeline, Listener())
        view.handle(StatusChanged(Gauge(1_000, 10_000, 8_000, estimated=True), None))
        for number in (0, 1):
            view.handle(CheckpointMade(number, 1, 0))
        blocks = [app.timeline.block(index) for index in (0, 1)]
        assert [isinstance(x, CheckpointBlock) and x.tokens for x in blocks] == [None, 1_000]


async def test_settling_changes_nothing_on_the_screen() -> None:
    records: list[Record] = []
    app = TimelineStage(records)
    async with app.run_test(size=(90, 20)) as pilot:
        view = WireView(app.timeline, Listener())
        for event in LIVE:
            view.handle(event)
        await rest(pilot, 0.3)
        first = app.timeline.block(0)
        assert isinstance(first, CheckpointBlock)
        at_end = app.lines
        records += recorded(first.at)
        app.timeline.settle()
        await rest(pilot, 0.1)
        assert app.lines == at_end
        assert app.timeline.at_end
        app.timeline.append(NoticeBlock("later"))
        await pilot.pause()
        assert "later" in app.text


async def test_what_a_call_changed_is_told_when_it_is_known_after_the_turn() -> None:
    """A capture takes its time: the turn may be over, and its records shown, before it is done."""
    change = FileChange("x", None, FileState("file", 0o644, "a" * 64, 2), added=5)
    records: list[Record] = []
    app = TimelineStage(records)
    async with app.run_test(size=(90, 20)) as pilot:
        view = WireView(app.timeline, Listener())
        for event in (TurnBegan(1, "tidy"), ToolStarted(DROP), ToolFinished(DROP, DONE)):
            view.handle(event)
        records += [UserMessage("tidy"), AssistantMessage("", (DROP,)), ToolMessage("d", "done")]
        app.timeline.settle()
        view.forget()
        await pilot.pause()
        assert "in 1 file" not in app.text
        records.append(WorkspaceRecord("tool_call", (change,), call="d"))
        view.handle(FilesChanged("d", "tool_call", 1, 5))
        await pilot.pause()
        assert "+5 -0 in 1 file" in app.text


async def test_the_listener_is_told_what_the_agent_does() -> None:
    async with (app := TimelineStage()).run_test(size=(60, 20)):
        listener = Listener()
        view = WireView(app.timeline, listener)
        for event in LIVE:
            view.handle(event)
        assert listener.works == [
            "thinking", "answering", "preparing read_file", "preparing edit_file",
            "running read_file", "waiting for you", "running edit_file", "running read_file",
            "thinking", "preparing run_command", "running run_command", "thinking",
            "running run_command", "waiting for you", "thinking", "answering",
        ]  # fmt: skip


async def test_what_is_not_conversation_goes_to_the_listener() -> None:
    app = TimelineStage()
    async with app.run_test(size=(60, 20)):
        listener = Listener()
        view = WireView(app.timeline, listener)
        report = CompactionReport("auto", "last-messages", 9_000, 2_000, 2, 7, 1, 4)
        events: list[Event] = [
            StepRetried(2, 0.5, "timeout"),
            CompactionBegan("auto", 9_000),
            CompactionDelta("sum"),
            CompactionFinished(report),
            Reverted(OperationReport("user", 1)),
        ]
        for event in [*LIVE[:4], *events]:
            view.handle(event)
        assert listener.heard == [
            "turn 1", "step 1", "retry 2", "compacts 9000", "sum", "compacted True",
            "reverted user",
        ]  # fmt: skip


async def test_a_compaction_is_announced_then_told() -> None:
    app = TimelineStage()
    async with app.run_test(size=(60, 20)):
        view = WireView(app.timeline, Listener())
        view.handle(CompactionBegan("manual", 9_000))
        assert app.timeline.block(0) == CompactionBlock("manual", 0, 9_000, 0)
        view.handle(CompactionFinished(None, "It would not be smaller."))
        assert app.timeline.block(0) == NoticeBlock("It would not be smaller.")


async def test_a_dmail_says_what_it_is() -> None:
    app = TimelineStage()
    async with app.run_test(size=(60, 20)):
        WireView(app.timeline, Listener()).handle(DMailSent(3, "Look in b.txt."))
        told = "D-Mail: the agent reverted to checkpoint 3 and left itself a message"
        assert app.timeline.block(0) == NoticeBlock(told)


async def test_a_call_that_asks_waits_for_an_answer_until_it_is_given() -> None:
    ask = ToolCall("q", "ask_user", '{"question": "Which store?"}')
    question = Question("question-1", "Which store?", ("SQLite", "Files"), ask.id)
    app = TimelineStage()
    async with app.run_test(size=(80, 20)) as pilot:
        view = WireView(app.timeline, Listener())
        for event in (*written(0, ask), ToolStarted(ask), QuestionAsked(question)):
            view.handle(event)
        await pilot.pause()
        assert "? ask_user Which store?" in app.text
        assert "waits for your answer" in app.text
        view.handle(QuestionAnswered(question, "SQLite"))
        await pilot.pause()
        assert "waits" not in app.text


async def test_a_subagents_request_is_waited_for_as_the_agents_own_is() -> None:
    app = TimelineStage()
    async with app.run_test(size=(60, 20)):
        told: list[str] = []

        class Watcher(Listener):
            def working(self, work: str) -> None:
                told.append(work)

        request = ApprovalRequest("r", EDIT, "Edit x.py", DiffDisplay("x.py", DIFF))
        WireView(app.timeline, Watcher()).handle(ApprovalRequested(request))
        assert told == [WAITING]


async def test_one_subagents_end_leaves_the_request_of_another_waiting() -> None:
    app = TimelineStage()
    async with app.run_test(size=(60, 20)):
        listener = Listener()
        view = WireView(app.timeline, listener)
        tasks = [ToolCall(f"t{number}", "task", "{}") for number in (1, 2)]
        for task in tasks:
            view.handle(ToolStarted(task))
        request = ApprovalRequest("r", EDIT, "Edit x.py", DiffDisplay("x.py", DIFF))
        view.handle(ApprovalRequested(request))
        view.handle(ToolFinished(tasks[0], ToolResult("done")))
        assert listener.works[-1] == WAITING
        view.handle(ApprovalAnswered(request, ApprovalAnswer("once")))
        assert listener.works[-1] == "running task"


async def test_the_row_of_a_subagent_says_that_it_waits_for_an_approval() -> None:
    app = TimelineStage()
    async with app.run_test(size=(60, 20)) as pilot:
        view = WireView(app.timeline, Listener())
        for number in (1, 2):
            view.handle(ToolStarted(ToolCall(f"t{number}", "task", "{}")))
        # Servers that number the calls of each answer give a subagent's call the id of another's.
        edit = ToolCall("t1", EDIT.name, EDIT.arguments)
        request = ApprovalRequest("r", edit, "a: Edit x.py", DiffDisplay("x.py", DIFF), source="t2")

        async def rows() -> list[str]:
            await pilot.pause()
            return [" ".join(line.split()[2:]) for line in app.lines if " task " in line]

        view.handle(ApprovalRequested(request))
        assert await rows() == ["running", "waits for your approval"]
        view.handle(SubagentEvent("t2", "a", "s", ToolStarted(TEST)))
        await until(pilot, lambda: "make test" in app.text, lambda: app.text)
        assert await rows() == ["running", "waits for your approval"]
        view.handle(ApprovalsQueued(1, ("t1",)))
        assert await rows() == ["waits for your approval"] * 2
        view.handle(ApprovalAnswered(request, ApprovalAnswer("reject")))
        assert await rows() == ["waits for your approval", "running"]
        view.handle(ApprovalsQueued(0))
        assert await rows() == ["running", "running"]


@pytest.mark.parametrize(
    "ended",
    [StepInterrupted("stopped"), TurnFinished(1, "cancelled", 1, "")],
    ids=["step", "turn"],
)
async def test_nobody_is_waited_for_once_the_work_was_interrupted(
    ended: StepInterrupted | TurnFinished,
) -> None:
    app = TimelineStage()
    async with app.run_test(size=(60, 20)):
        listener = Listener()
        view = WireView(app.timeline, listener)
        request = ApprovalRequest("r", EDIT, "Edit x.py", DiffDisplay("x.py", DIFF))
        view.handle(ToolStarted(EDIT))
        view.handle(ApprovalRequested(request))
        view.handle(ended)
        view.handle(ToolFinished(EDIT, ToolResult("done")))
        assert listener.works[-1] == "thinking"


async def test_a_compaction_that_was_due_and_not_made_is_told_as_in_the_log_and_once() -> None:
    app = TimelineStage()
    async with app.run_test(size=(60, 20)):
        view = WireView(app.timeline, Listener())
        for reason in ("Too short.", ""):
            view.handle(CompactionBegan("auto", 9_000))
            view.handle(CompactionFinished(None, reason))
        told = "The context is full and was not compacted. Too short."
        assert app.timeline.block(0) == NoticeBlock(told)
        assert len(app.timeline._blocks) == 1


async def test_calls_that_are_written_whole_wait_for_their_turn() -> None:
    app = TimelineStage()
    async with app.run_test(size=(80, 20)) as pilot:
        view = WireView(app.timeline, Listener())
        for event in [*written(0, READ), *written(1, EDIT)]:
            view.handle(event)
        await rest(pilot, 0.1)
        assert "writes" in app.text
        view.handle(ToolStarted(READ))
        await rest(pilot, 0.1)
        assert "writes" not in app.text
        (row,) = [each for each in app.text.splitlines() if "waits its turn" in each]
        assert "edit_file" in row
        view.handle(ToolFinished(EDIT, ToolResult("", is_error=True), interrupted=True))
        await rest(pilot, 0.1)
        assert "waits its turn" not in app.text


async def test_an_interrupted_step_drops_calls_that_never_were() -> None:
    app = TimelineStage()
    async with app.run_test(size=(60, 20)) as pilot:
        view = WireView(app.timeline, Listener())
        for event in [TextDelta("Let me"), *written(0, READ)[:2], StepInterrupted("cancelled")]:
            view.handle(event)
        view.handle(TurnFinished(1, "cancelled", 1, "Interrupted."))
        await rest(pilot, 0.1)
        assert "Let me" in app.text
        assert "Interrupted" in app.text
        assert "read_file" not in app.text


async def test_a_failed_step_is_left_to_the_act_that_failed_to_tell() -> None:
    app = TimelineStage()
    async with app.run_test(size=(60, 20)) as pilot:
        view = WireView(app.timeline, Listener())
        view.handle(StepInterrupted("The server refused the connection."))
        await rest(pilot, 0.1)
        assert "refused" not in app.text


async def test_a_call_shows_its_arguments_as_they_are_written() -> None:
    app = TimelineStage()
    async with app.run_test(size=(60, 20)) as pilot:
        view = WireView(app.timeline, Listener())
        for event in written(0, READ)[:-1]:
            view.handle(event)
        await rest(pilot, 0.1)
        assert "x.p" in app.text
        view.handle(ToolStarted(READ))
        block = app.timeline.block(0)
        assert isinstance(block, ToolBlock)
        assert (block.state, block.arguments) == ("running", READ.arguments)
        await rest(pilot, 0.1)
        assert "running" in app.text


async def test_a_running_call_shows_the_last_that_it_printed() -> None:
    app = TimelineStage()
    async with app.run_test(size=(60, 20)) as pilot:
        view = WireView(app.timeline, Listener())
        for event in (*written(0, READ)[:-1], ToolStarted(READ)):
            view.handle(event)
        view.handle(ToolOutput(READ.id, "test 1 of 9"))
        await rest(pilot, 0.1)
        assert "test 1 of 9" in app.text
        view.handle(ToolOutput(READ.id, "test 8 of 9"))
        await rest(pilot, 0.1)
        assert "test 8 of 9" in app.text
        assert "test 1 of 9" not in app.text


async def test_a_notice_does_not_cut_the_answer_that_goes_on() -> None:
    app = TimelineStage()
    async with app.run_test(size=(60, 20)) as pilot:
        app.timeline.stream_text("```python\nx = 1\n")
        app.timeline.append(NoticeBlock("The theme is light now."))
        app.timeline.stream_text("y = 2\n```")
        app.timeline.close_answer()
        await rest(pilot, 0.1)
        assert app.timeline.block(1) == AssistantBlock("```python\nx = 1\ny = 2\n```")
        assert app.text.index("theme") < app.text.index("x = 1")


async def test_what_the_program_said_last_stays_when_the_turn_settles() -> None:
    records: list[Record] = []
    app = TimelineStage(records)
    async with app.run_test(size=(60, 20)) as pilot:
        view = WireView(app.timeline, Listener())
        view.handle(TurnBegan(1, "go"))
        view.handle(Failed("No server."))
        records.append(UserMessage("go", "human", 1))
        app.timeline.settle()
        await pilot.pause()
        assert app.timeline.block(1) == NoticeBlock("No server.", "error")
        view.handle(TurnBegan(2, "again"))
        records.append(UserMessage("again", "human", 2))
        app.timeline.settle()
        await pilot.pause()
        assert "No server." not in app.text


@pytest.mark.parametrize(
    ("end", "reason"), [("cancelled", "Interrupted."), ("failed", "The connection broke.")]
)
async def test_why_an_answer_was_cut_off_stays_where_it_was_told(end: TurnEnd, reason: str) -> None:
    records: list[Record] = []
    app = TimelineStage(records)
    async with app.run_test(size=(60, 20)) as pilot:
        view = WireView(app.timeline, Listener())
        failures: list[Event] = [Failed(reason)] if end == "failed" else []
        stopped: list[Event] = [StepInterrupted(end), *failures, TurnFinished(1, end, 1, reason)]
        for event in [TurnBegan(1, "go"), TextDelta("Half of"), *stopped]:
            view.handle(event)
        await rest(pilot, 0.1)
        live = app.lines
        assert sum(reason in line for line in live) == 1
        said: list[Record] = [UserMessage("go", "human", 1), AssistantMessage("Half of", turn=1)]
        records += [*said, TurnEndRecord(end, reason, 1)]
        app.timeline.settle()
        await rest(pilot, 0.1)
        assert app.lines == live
        view.handle(TurnBegan(2, "again"))
        records.append(UserMessage("again", "human", 2))
        app.timeline.settle()
        await rest(pilot, 0.1)
        later = app.lines
        assert sum(reason in line for line in later) == 1
        app.timeline.load(list(records))
        await rest(pilot, 0.1)
        assert app.lines == later


async def test_a_failure_is_shown_in_words() -> None:
    app = TimelineStage()
    async with app.run_test(size=(60, 20)) as pilot:
        WireView(app.timeline, Listener()).handle(Failed("The server at x refused."))
        await pilot.pause()
        assert "✗ The server at x refused." in app.text


async def test_of_a_call_that_is_written_only_the_drawn_part_is_kept() -> None:
    """Joining all of it at every frame held up the keys beside megabytes of arguments."""
    app = TimelineStage()
    async with app.run_test(size=(80, 20)) as pilot:
        view = WireView(app.timeline, Listener())
        view.handle(ToolCallBegan(0, READ.id, READ.name))
        pieces = ['{"path": "x.py", "text": "', *["word " * 2_000] * 200]
        for piece in pieces:
            view.handle(ToolCallDelta(0, piece))
        await rest(pilot, 0.1)
        block = app.timeline.block(0)
        assert isinstance(block, ToolBlock)
        assert len(block.arguments) <= GLANCE_CHARS
        assert block.arguments.startswith(pieces[0])
        assert block.written == sum(map(len, pieces))
        assert "x.py" in app.text
        assert "2,000,026 characters" in app.text
