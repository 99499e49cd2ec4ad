"""What scripts rely on: stable event lines, answers that fit a schema, and a daemon."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent_tui.headless.event_lines import event_table
from tests.headless.command_line import CommandLine
from tests.providers.sse_server import (
    Pause,
    Seen,
    SseServer,
    call_chunk,
    finish_chunk,
    stream,
    text_chunk,
)
from tests.terminal import environment
from tests.waiting import PATIENCE_SECONDS

pytestmark = pytest.mark.slow

KEY = "sk-canary-0123456789abcdef"
PROMISED = {
    "session_opened": {"session_id"},
    "turn_began": {"turn", "prompt"},
    "step_began": {"step"},
    "step_retried": {"attempt", "wait_seconds", "reason"},
    "step_interrupted": {"reason"},
    "text_delta": {"text"},
    "think_delta": {"text", "encrypted"},
    "tool_call_began": {"index", "call_id", "name"},
    "tool_call_delta": {"index", "arguments"},
    "tool_started": {"call"},
    "tool_finished": {"call", "result", "interrupted"},
    "approval_requested": {"request"},
    "approval_answered": {"request", "answer"},
    "prompt_joined": {"text"},
    "checkpoint_made": {"id", "turn", "step"},
    "compaction_began": {"trigger", "tokens"},
    "compaction_finished": {"report", "reason"},
    "reverted": {"report"},
    "dmail_sent": {"checkpoint", "text"},
    "status_changed": {"gauge", "usage", "model"},
    "turn_finished": {"turn", "end", "steps", "reason"},
    "failed": {"message"},
}
"""Lines and fields that scripts may read: more may come, none of these may go."""


@pytest.fixture
def server(run: CommandLine) -> Iterator[SseServer]:
    with SseServer() as server:
        run.set("OPENAI_BASE_URL", server.url)
        run.set("OPENAI_API_KEY", KEY)
        yield server


def test_the_promised_lines_keep_their_names_and_fields(run: CommandLine) -> None:
    table = {name: set(fields) for name, fields, _ in event_table()}
    assert {name: fields - table.get(name, set()) for name, fields in PROMISED.items()} == {
        name: set() for name in PROMISED
    }
    assert '"type": "prompt"' in run("help", "daemon").out
    told = run("help", "stream-json").out
    assert all(f"\n{name}  " in told for name in table)


# Answers that fit a schema


@pytest.fixture
def schema(tmp_path: Path) -> Path:
    path = tmp_path / "schema.json"
    shape = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    path.write_text(json.dumps(shape))
    return path


def say(text: str) -> Any:
    return stream(text_chunk(text), finish_chunk())


def test_an_answer_that_fits_is_printed_alone(
    run: CommandLine, server: SseServer, schema: Path
) -> None:
    server.answers.append(say('Here it is:\n```json\n{"n": 6}\n```\n'))
    ran = run("-p", "Count", "--output-schema", schema)
    assert (ran.code, ran.out) == (0, '{"n": 6}\n')
    assert '"required": ["n"]' in server.requests[0].body["messages"][-1]["content"]


def test_an_answer_that_does_not_fit_is_asked_for_again(
    run: CommandLine, server: SseServer, schema: Path
) -> None:
    server.answers += [say("six"), say('{"n": "six"}'), say('{"n": 6}')]
    ran = run("-p", "Count", "--output-schema", schema, "--output-format", "json")
    assert ran.json["value"] == {"n": 6}
    asked = [seen.body["messages"][-1]["content"] for seen in server.requests]
    assert "not one JSON value" in asked[1]
    assert "n: 'six' is not of type 'integer'" in asked[2]


def test_a_model_that_never_fits_is_an_error(
    run: CommandLine, server: SseServer, schema: Path
) -> None:
    server.reply = lambda _: say("no")
    ran = run("-p", "Count", "--output-schema", schema)
    assert (ran.code, ran.out) == (1, "")
    assert "After 3 answers: The answer is not one JSON value" in ran.sentence


def test_a_file_that_is_no_schema_is_refused(run: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "bad").write_text('{"type": 7}')
    assert run("-p", "x", "--output-schema", tmp_path / "bad").code == 2
    assert run("-p", "x", "--output-schema", tmp_path / "none").code == 2


# The daemon


class Daemon:
    """``agent-tui --daemon`` as a script drives it."""

    def __init__(self, run: CommandLine, server: SseServer, *options: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "agent_tui", "--daemon", *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=run.workspace,
            env=environment(run.home, OPENAI_BASE_URL=server.url, OPENAI_API_KEY=KEY),
        )
        self.lines: list[dict[str, Any]] = []

    def send(self, **request: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()

    def wait(self, kind: str, **fields: Any) -> dict[str, Any]:
        """The next line of this type with these fields."""
        assert self.process.stdout is not None
        for text in self.process.stdout:
            line: dict[str, Any] = json.loads(text)
            self.lines.append(line)
            if line["type"] == kind and fields.items() <= line.items():
                return line
        raise AssertionError(f"no {kind} {fields} came:\n{self.lines[-5:]}")

    def end(self) -> int:
        out, err = self.process.communicate(timeout=PATIENCE_SECONDS)
        self.lines += [json.loads(line) for line in out.splitlines()]
        assert err == ""
        return self.process.returncode


def test_many_sessions_are_served_at_once_until_the_input_closes(
    run: CommandLine, server: SseServer
) -> None:
    def slow_or_fast(seen: Seen) -> Any:
        prompt = str(seen.body["messages"][-1]["content"])
        pause = (Pause(1.5),) if prompt == "slow" else ()
        return stream(*pause, text_chunk(f"Answer to {prompt}."), finish_chunk())

    server.reply = slow_or_fast
    daemon = Daemon(run, server)
    daemon.send(type="prompt", text="slow", id="a")
    slow = daemon.wait("session_opened", id="a")["session_id"]
    daemon.send(type="prompt", text="fast", id="b")
    fast = daemon.wait("session_opened", id="b")["session_id"]
    assert daemon.wait("turn_finished")["session_id"] == fast
    daemon.send(type="prompt", text="again", session_id=fast)
    assert daemon.end() == 0
    ended = [line["session_id"] for line in daemon.lines if line["type"] == "turn_finished"]
    assert sorted(ended) == sorted([fast, fast, slow])
    said = [line["text"] for line in daemon.lines if line["type"] == "text_delta"]
    assert sorted(said) == ["Answer to again.", "Answer to fast.", "Answer to slow."]
    assert len(run.logs()) == 2


def test_an_approval_is_answered_through_the_daemon(run: CommandLine, server: SseServer) -> None:
    arguments = json.dumps({"path": "new.txt", "content": "x"})
    server.answers += [
        stream(
            call_chunk(call_id="c1", name="write_file", arguments=arguments),
            finish_chunk("tool_calls"),
        )
    ]
    daemon = Daemon(run, server)
    daemon.send(type="prompt", text="Write")
    asked = daemon.wait("approval_requested")
    assert not (run.workspace / "new.txt").exists()
    name, request = asked["session_id"], asked["request"]["id"]
    daemon.send(type="answer", session_id=name, request=request, decision="perhaps", id="x")
    daemon.wait("error", id="x")
    daemon.send(type="answer", session_id=name, request=request, decision="once")
    daemon.wait("turn_finished")
    assert (run.workspace / "new.txt").read_text() == "x"
    assert daemon.end() == 0


def test_mistakes_are_told_and_the_next_request_is_read(
    run: CommandLine, server: SseServer
) -> None:
    daemon = Daemon(run, server)
    assert daemon.process.stdin is not None
    daemon.process.stdin.write("{no json\n[1]\n")
    daemon.send(type="fly", id=1)
    daemon.send(type="prompt", id=2)
    daemon.send(type="interrupt", session_id="nobody", id=3)
    daemon.send(type="prompt", session_id="no-such-session", text="x", id=4)
    daemon.send(type="prompt", text="Hi", id=5)
    daemon.wait("turn_finished")
    assert daemon.end() == 0
    errors = [line for line in daemon.lines if line["type"] == "error"]
    assert [line["id"] for line in errors] == [None, None, 1, 2, 3, 4]


def test_a_turn_is_interrupted_and_its_session_goes_on(run: CommandLine, server: SseServer) -> None:
    server.answers.append(stream(text_chunk("Slo"), Pause(600), text_chunk("w."), finish_chunk()))
    daemon = Daemon(run, server)
    daemon.send(type="prompt", text="slow")
    name = daemon.wait("text_delta")["session_id"]
    daemon.send(type="interrupt", session_id=name)
    assert daemon.wait("turn_finished")["end"] == "cancelled"
    daemon.send(type="prompt", text="again", session_id=name)
    assert daemon.wait("turn_finished")["end"] == "done"
    daemon.send(type="close", session_id=name)
    assert daemon.end() == 0
