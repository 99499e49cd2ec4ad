"""Hostile answers of a model through the whole program: it ends well, and the session goes on."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.stage import Stage, assert_valid
from tests.providers.sse_server import (
    Answer,
    SseServer,
    call_chunk,
    finish_chunk,
    stream,
    text_chunk,
)

pytestmark = [pytest.mark.timeout(600)]

MEGABYTES = 5_000_000


def calls(*pieces: dict[str, object]) -> Answer:
    return stream(*pieces, finish_chunk("tool_calls"))


def one_call(name: str, arguments: str, call_id: str = "c1") -> Answer:
    return calls(call_chunk(0, call_id=call_id, name=name, arguments=arguments))


ANSWERS: dict[str, Callable[[], list[Answer]]] = {
    "a thousand calls": lambda: [
        calls(*(call_chunk(n, call_id=f"c{n}", name="read_file", arguments='{"path":"a"}')
                for n in range(1_000)))
    ],
    "names with escapes": lambda: [
        calls(
            call_chunk(0, call_id="x\x1b[2J", name="read\x1b]0;t\x07file", arguments="{}"),
            call_chunk(1, call_id="x\x1b[2J", name="\u202eelif_etirw", arguments="{}"),
            call_chunk(2, call_id="y\n", name="\nApprove? ls\n", arguments='{"\x1b[3":1}'),
        )
    ],
    "5 MB of arguments": lambda: [
        one_call("write_file", json.dumps({"path": "x", "content": "A" * MEGABYTES}))
    ],
    "5 MB of broken arguments": lambda: [one_call("write_file", '{"path":' + "[" * MEGABYTES)],
    "5 MB of nested arguments": lambda: [
        one_call("read_file", '{"path":' * (MEGABYTES // 8) + "1" + "}" * (MEGABYTES // 8))
    ],
    "tasks in tasks": lambda: [
        one_call("task", json.dumps({"agent": "explorer", "prompt": "call task"}), f"t{n}")
        for n in range(4)
    ],
    "equal ids": lambda: [
        calls(*(call_chunk(n, call_id="same", name="list_folder", arguments="{}")
                for n in range(5)))
    ],
    "a plan of 5 MB": lambda: [
        one_call("present_plan", json.dumps({"plan": "word " * (MEGABYTES // 5)}))
    ],
    "odd indexes": lambda: [
        calls(
            call_chunk(-5, call_id="p", name="list_folder", arguments="{}"),
            call_chunk(10**9, call_id="q", name="list_folder", arguments="{}"),
            call_chunk(None, call_id="r", name="list_folder", arguments="{}"),
        )
    ],
    "no ids and no names": lambda: [
        calls(call_chunk(0, arguments="{}"), call_chunk(1, name="list_folder", arguments=""))
    ],
    "5 MB in one line": lambda: [stream(text_chunk("x" * MEGABYTES), finish_chunk())],
    "text of controls": lambda: [
        stream(text_chunk("\x1b[2J\x1b]52;c;AAAA\x07\x9b31m\u202e\x00"), finish_chunk())
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", list(ANSWERS))
def test_the_program_ends_well_and_the_session_goes_on(tmp_path: Path, name: str) -> None:
    with SseServer(ANSWERS[name]()) as server:
        stage = Stage(tmp_path, server)
        (stage.workspace / "a").write_text("a")
        told = ""
        for words in (("-p", "hi"), ("-c", "-p", "and now?")):
            ended = stage.run(*words, "--model", "m", seconds=100)
            told += ended.stdout + ended.stderr
            assert "Traceback" not in ended.stderr, ended.stderr[-2_000:]
        assert ended.returncode == 0, ended.stderr[-500:]
        assert not [sign for sign in set(told) if sign != "\n" and sign < " " and sign != "\t"]
        assert "\x9b" not in told
        assert "\u202e" not in told
        assert (stage.workspace / "a").read_text() == "a"
        assert [path.name for path in stage.workspace.iterdir()] == ["a"]
        for seen in server.requests:
            assert_valid(seen.body["messages"])
        assert len(server.requests) < 20
        print(f"{name}: {len(server.requests)} requests, each a valid history, then it went on")
