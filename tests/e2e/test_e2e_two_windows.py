"""Two windows on one session: the second only reads, follows live, and writes when it may."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.e2e.stage import Stage, assert_valid, plain, quit_by_command, say
from tests.providers.sse_server import SseServer, finish_chunk, stream, text_chunk
from tests.terminal import Terminal

pytestmark = pytest.mark.timeout(600)

TAKEN = "open in another window"


def answer(server: SseServer, *windows: Terminal, text: str) -> None:
    """The model's next answer; every window shows it in the end."""
    server.answers.append(stream(text_chunk(text), finish_chunk()))
    first, *others = windows
    say(first, f"say {text}")
    first.wait_for(lambda shown: shown.count(text) >= 2 and "● ready" in shown)
    for other in others:
        other.wait_for(lambda shown: shown.count(text) >= 2)


def test_a_second_window_only_reads_and_follows_until_the_first_is_closed(tmp_path: Path) -> None:
    with SseServer() as server:
        stage = Stage(tmp_path, server)
        with stage.open() as first:
            first.wait_for("Ask anything")
            answer(server, first, text="Alpha")
            with stage.open("-r", stage.disk.session_id) as second:
                second.wait_for(lambda text: TAKEN in plain(text))
                second.wait_for("Alpha")

                # It follows what is written, and writes nothing itself.
                answer(server, first, second, text="Bravo")
                before = stage.disk.log.read_bytes()
                second.write("may I?")
                second.press("enter")
                second.press("f4")
                second.wait_for(lambda text: "read-only" in plain(text))
                second.press("escape")
                assert len(server.requests) == 2
                assert stage.disk.log.read_bytes() == before

                # A rotation is followed too, and what comes after it.
                say(first, "/revert 0")
                first.wait_for("checkpoint 0")
                first.press("enter")
                first.wait_for(lambda _: stage.disk.archives() == [1])
                second.wait_for(lambda text: "Bravo" not in text)
                first.press("ctrl+u")
                answer(server, first, second, text="Charlie")

                # A fork of what it reads can be written at once, and is a session of its own.
                original = stage.disk.of(stage.disk.session_id)
                second.press("f")
                second.wait_for(lambda text: TAKEN not in plain(text) and "Ask anything" in text)
                assert len(stage.disk.sessions()) == 2
                quit_by_command(second)

            # When the first is closed, a window that only read may write.
            with stage.open("-r", original.session_id) as third:
                third.wait_for(lambda text: TAKEN in plain(text))
                quit_by_command(first)
                third.wait_for(lambda text: TAKEN not in plain(text) and "Ask anything" in text)
                answer(server, third, text="Delta")
                quit_by_command(third)
        for request in server.requests:
            assert_valid(request.body["messages"])
        said = [r["content"] for r in original.records() if r["role"] == "assistant"]
        assert said == ["Charlie", "Delta"]


def test_a_command_without_a_screen_leaves_an_open_session_alone(tmp_path: Path) -> None:
    with SseServer() as server:
        stage = Stage(tmp_path, server)
        with stage.open() as window:
            window.wait_for("Ask anything")
            answer(server, window, text="Alpha")
            before = stage.disk.log.read_bytes()
            for act in (
                ("-r", stage.disk.session_id, "-p", "me too"),
                ("revert", stage.disk.session_id, "0"),
                ("sessions", "rename", stage.disk.session_id, "mine"),
                ("sessions", "delete", stage.disk.session_id),
            ):
                ended = stage.run(*act)
                assert ended.returncode == 1, act
                assert TAKEN in ended.stderr
                assert "Traceback" not in ended.stderr
            shown = stage.run("sessions", "show", stage.disk.session_id, "--json")
            assert (shown.returncode, json.loads(shown.stdout)["messages"]) == (0, 2)
            assert stage.disk.log.read_bytes() == before
            quit_by_command(window)
        assert len(server.requests) == 1
