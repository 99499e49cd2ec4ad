"""What has megabytes is read and written off the event loop, which draws the screen."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import FrameType

import pytest

from agent_tui.agent.policies import Repetition
from agent_tui.core.messages import ToolCall
from agent_tui.providers.demo.scenario import Reply, ScriptedCall
from tests.agent.stage import Stage

MEGABYTES = 400_000
READERS = ("core/jsonl.py", "core/arguments.py", "core/long_texts.py")


class Watch:
    """Notes which readers and writers of JSON are given something big on this thread."""

    def __init__(self) -> None:
        self.seen: set[str] = set()

    def _look(self, frame: FrameType, event: str, _argument: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.endswith(READERS):
            held = frame.f_locals.values()
            if any(isinstance(each, str | bytes) and len(each) >= MEGABYTES for each in held):
                self.seen.add(code.co_name)

    def __enter__(self) -> Watch:
        sys.settrace(self._look)
        return self

    def __exit__(self, *_: object) -> None:
        sys.settrace(None)


@pytest.mark.parametrize("tool", ["no_such_tool", ""])
async def test_the_loop_neither_reads_nor_writes_megabytes(tmp_path: Path, tool: str) -> None:
    big = "long-long-words " * (MEGABYTES // 16)
    calls = (ScriptedCall(tool, {"text": big}),) if tool else ()
    replies = Reply(text="short" if tool else big, calls=calls), Reply(text="Done.")
    async with Stage(tmp_path, *replies[: 1 + bool(tool)]) as stage:
        with Watch() as watch:
            await stage.say("Say very much.")
        assert watch.seen == set()


def test_calls_of_megabytes_that_repeat_are_noticed_too() -> None:
    policy = Repetition()
    arguments = json.dumps({"text": "x" * MEGABYTES})
    call = ToolCall("id", "write_file", arguments)
    assert [bool(policy.watch((call,))) for _ in range(3)] == [False, False, True]
