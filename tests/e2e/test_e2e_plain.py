"""A conversation in plain lines, as a screen reader hears it: the program's output is its lines."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.plain_stage import READABLE_SECONDS, Plain
from tests.e2e.stage import Disk, Stage
from tests.providers.sse_server import (
    Pause,
    SseServer,
    call_chunk,
    finish_chunk,
    stream,
    text_chunk,
)

pytestmark = [pytest.mark.timeout(600), pytest.mark.slow]

WRITE = json.dumps({"path": "tides.txt", "content": "high at six\n"})


@pytest.fixture
def server() -> Iterator[SseServer]:
    with SseServer() as server:
        yield server


def ask_to_write(server: SseServer) -> None:
    call = call_chunk(0, call_id="w1", name="write_file", arguments=WRITE)
    server.answers.append(stream(text_chunk("I write it."), call, finish_chunk("tool_calls")))


def test_a_whole_conversation_is_a_stream_of_lines(tmp_path: Path, server: SseServer) -> None:
    stage = Stage(tmp_path, server)
    ask_to_write(server)
    with Plain(stage) as plain:
        plain.hear("Type a message, or /help.")
        plain.say("Write the tides down")
        plain.hear("Text after no is sent to the agent.")
        assert "> +high at six" in plain.lines
        time.sleep(READABLE_SECONDS)
        plain.say("yes")
        plain.hear("Done after 2 steps.")
        assert (stage.workspace / "tides.txt").read_text() == "high at six\n"

        plain.forget()
        plain.say("/checkpoints")
        number = re.match(r"Checkpoint (\d+)", plain.hear("Write the tides down"))
        assert number is not None
        plain.say(f"/revert {number[1]}")
        plain.hear("Reverted: ")
        plain.say("/undo")
        plain.hear("Undid the revert.")
        plain.say("/status")
        assert plain.close() == 0
        plain.hear("of context used")
        assert not [line for line in plain.lines if "\x1b" in line or "\r" in line]
        assert Disk(stage.home).roles()[-1] != "user"


def test_a_line_typed_before_the_question_is_no_answer_to_it(
    tmp_path: Path, server: SseServer
) -> None:
    stage = Stage(tmp_path, server)
    ask_to_write(server)
    with Plain(stage) as plain:
        plain.say("Write the tides down")
        plain.hear("Approve?")
        plain.say("yes")
        plain.hear("Text after no is sent to the agent.")
        time.sleep(READABLE_SECONDS)
        assert not (stage.workspace / "tides.txt").exists()
        plain.say("no, ask the harbour master")
        plain.hear("Done after 2 steps.")
        assert plain.close() == 0
        assert not (stage.workspace / "tides.txt").exists()
        assert "ask the harbour master" in json.dumps(server.requests[-1].body["messages"])


def test_a_message_during_a_command_is_sent_when_that_has_ended(
    tmp_path: Path, server: SseServer
) -> None:
    stage = Stage(tmp_path, server)
    with Plain(stage) as plain:
        plain.hear("Type a message, or /help.")
        plain.say("!until [ -e go ]; do sleep 0.05; done")
        plain.hear("Running until")
        plain.say("And the tides?")
        plain.hear("Your message is sent when the running command has ended.")
        plain.say("/status")
        plain.hear("Not run: wait for the running command to end, or press Ctrl+C.")
        assert not server.requests
        (stage.workspace / "go").touch()
        plain.hear("Done after 1 step.")
        (request,) = server.requests
        assert request.body["messages"][-1]["content"] == "And the tides?"
        assert plain.close() == 0


def test_an_interrupt_ends_the_turn_and_not_the_program(tmp_path: Path, server: SseServer) -> None:
    stage = Stage(tmp_path, server)
    server.answers.append(stream(text_chunk("Slowly\n"), Pause(600), finish_chunk()))
    with Plain(stage) as plain:
        plain.say("Tell me")
        plain.hear("Agent: Slowly")
        plain.interrupt()
        plain.hear("Interrupted")
        plain.say("And now?")
        plain.hear("loopback")
        assert plain.close() == 0


@pytest.mark.parametrize("running", ["turn", "command"])
def test_an_interrupt_sends_no_message_that_waits(
    tmp_path: Path, server: SseServer, running: str
) -> None:
    stage = Stage(tmp_path, server)
    with Plain(stage) as plain:
        plain.hear("Type a message, or /help.")
        if running == "turn":
            server.answers.append(stream(text_chunk("Slowly\n"), Pause(600), finish_chunk()))
            plain.say("Tell me")
            plain.hear("Agent: Slowly")
        else:
            plain.say("!until [ -e go ]; do sleep 0.05; done")
            plain.hear("Running until")
        plain.say("And the tides?")
        plain.say("/status")
        plain.hear(f"Not run: wait for the running {running} to end")
        plain.interrupt()
        plain.hear("Not sent: And the tides?")
        plain.hear("nterrupted")
        plain.say("And now?")
        plain.hear("Done after 1 step.")
        assert plain.close() == 0
    sent = [message for each in server.requests for message in each.body["messages"]]
    assert "And now?" in [message["content"] for message in sent]
    assert "And the tides?" not in [message["content"] for message in sent]


def test_an_approval_that_nobody_is_left_to_give_is_rejected(
    tmp_path: Path, server: SseServer
) -> None:
    stage = Stage(tmp_path, server)
    ask_to_write(server)
    with Plain(stage) as plain:
        plain.say("Write the tides down")
        plain.hear("Approve?")
        assert plain.close() == 0
        assert not (stage.workspace / "tides.txt").exists()
