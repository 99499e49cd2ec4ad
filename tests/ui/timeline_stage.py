"""A bare app around one timeline, and records to show in it."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.message import Message

from agent_tui.core.messages import DiffDisplay, TextPart, ThinkPart, ToolCall
from agent_tui.core.records import (
    AssistantMessage,
    Checkpoint,
    CompactionRecord,
    Record,
    RevertRecord,
    SessionHeader,
    SystemPrompt,
    ToolMessage,
    UnknownRecord,
    UsageRecord,
    UserMessage,
)
from agent_tui.resources import stylesheet
from agent_tui.ui.themes.theme import DARK
from agent_tui.ui.themes.themed import ThemedApp
from agent_tui.ui.widgets.timeline.timeline import Timeline

DIFF = "--- a/x.py\n+++ b/x.py\n@@ -1,2 +1,2 @@\n-old\n+new\n same\n"


def conversation() -> list[Record]:
    """One turn with thinking, two calls, a diff, and every kind of marker."""
    return [
        SessionHeader("s", "/tmp/p", "2026-01-01T00:00:00Z", "0.1"),
        SystemPrompt("You help."),
        Checkpoint(0, 1, 0),
        UserMessage("Please fix it.", "human", 1),
        Checkpoint(1, 1, 1),
        AssistantMessage(
            (ThinkPart("I should look.\nThen change."), TextPart("Looking.")),
            (ToolCall("a", "read_file", '{"path": "x.py"}'), ToolCall("b", "edit_file", "{}")),
        ),
        ToolMessage("b", "Edited", display=DiffDisplay("x.py", DIFF)),
        ToolMessage("a", "\n".join(f"line {number}" for number in range(20))),
        UsageRecord(12_400),
        Checkpoint(2, 1, 2),
        AssistantMessage("It is **done**."),
        RevertRecord(1, "user", 0),
        CompactionRecord("auto", "last-messages", 52_100, 9_800, 2),
        UnknownRecord("_future", {"role": "_future", "x": 1}),
    ]


def numbered(count: int) -> list[Record]:
    """Prompts of different lengths, one record each."""
    return [
        UserMessage(f"message {number} " + "word " * (number * 7 % 60)) for number in range(count)
    ]


class TimelineStage(ThemedApp[None]):
    """Shows records; keeps the messages that the timeline posts."""

    CSS_PATH = [stylesheet("base.tcss"), stylesheet("widgets/timeline.tcss")]

    def __init__(self, records: Sequence[Record] = (), *, theme: str = DARK.name) -> None:
        super().__init__()
        self.theme = theme
        self._records = records
        self.pressed: list[Message] = []

    def compose(self) -> ComposeResult:
        yield Timeline()

    def on_mount(self) -> None:
        self.timeline.load(self._records)
        self.timeline.focus()

    @property
    def timeline(self) -> Timeline:
        return self.query_one(Timeline)

    @property
    def lines(self) -> list[str]:
        """What is on the screen, without the scroll bar."""
        strips = self.screen._compositor.render_strips()
        return [strip.text[: self.size.width - 1].rstrip() for strip in strips]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def on_timeline_checkpoint_pressed(self, message: Timeline.CheckpointPressed) -> None:
        self.pressed.append(message)

    def on_timeline_compaction_pressed(self, message: Timeline.CompactionPressed) -> None:
        self.pressed.append(message)

    def on_timeline_entry_pressed(self, message: Timeline.EntryPressed) -> None:
        self.pressed.append(message)

    def on_timeline_archive_pressed(self, message: Timeline.ArchivePressed) -> None:
        self.pressed.append(message)
