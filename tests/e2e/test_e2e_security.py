"""What must never happen: a foreign sequence on the terminal, the key anywhere but on the wire."""

from __future__ import annotations

import base64
import json
import os
import urllib.parse
from pathlib import Path

import pytest

from tests.e2e.stage import KEY, Stage, pause_guard, plain, quit_by_command, say
from tests.providers.sse_server import (
    Answer,
    SseServer,
    call_chunk,
    failure,
    finish_chunk,
    stream,
    text_chunk,
)

pytestmark = pytest.mark.timeout(600)

EVIL = "\x1b]0;pwned\x07\x1b[5;33;41mBLINK\x1b[0m\x9b31mC1\x1bP1$rDCS\x1b\\\u202ebidi\u2066\x7f"
FORBIDDEN = (
    b"\x1b]0;pwned",
    b"\x1b[5;33;41m",
    b"\xc2\x9b",
    b"\x9b31m",
    b"\x1bP1$r",
    b"\xe2\x80\xae",
    b"\xe2\x81\xa6",
    b"\x7f",
)


def call(name: str, **arguments: str) -> Answer:
    """The model calls a tool."""
    started = call_chunk(0, call_id=f"{name}-1", name=name, arguments=json.dumps(arguments))
    return stream(started, finish_chunk("tool_calls"))


def pieces(text: str) -> Answer:
    """A text with every character in a chunk of its own, so that sequences are split anywhere."""
    return stream(*(text_chunk(letter) for letter in text), finish_chunk())


def test_no_foreign_sequence_reaches_the_terminal(tmp_path: Path) -> None:
    with SseServer() as server:
        stage = Stage(tmp_path, server)
        name = f"file-{EVIL}.txt".replace("/", "")
        (stage.workspace / name).write_text(f"content {EVIL}")
        with stage.open() as terminal:
            terminal.wait_for("Ask anything")

            server.answers.append(pieces(f"Answer {EVIL} end.\n\n```sh\ncode {EVIL}\n```\n"))
            say(terminal, "talk")
            terminal.wait_for(lambda text: "code" in text and "● ready" in text)

            found = call("find_files", pattern="file-*")
            server.answers.extend([found, call("read_file", path=name), pieces("Read.")])
            say(terminal, "look")
            terminal.wait_for(lambda text: "content" in text and "● ready" in text)

            asks = call("run_command", command=f"echo {EVIL}")
            server.answers.extend([asks, failure(400, {"error": {"message": f"No {EVIL}"}})])
            say(terminal, "act")
            terminal.wait_for("Run this command?")
            terminal.wait_for("BLINK")
            pause_guard(terminal)
            terminal.press("1")
            terminal.wait_for(lambda text: "refused the request" in plain(text))
            terminal.wait_for("● ready")

            # A title and a session list full of it; the terminal's own title is not touched.
            titled = json.dumps({"role": "_title", "title": f"Title {EVIL}"}) + "\n"
            quit_by_command(terminal)
            with stage.disk.log.open("a") as log:
                log.write(titled)
        with stage.open("-c") as again:
            again.wait_for("Title")
            again.press("f2")
            again.wait_for(lambda text: "Sessions" in text and "Title" in text)
            for key, shown in (("f3", "preview revert"), ("f4", "% saved"), ("f8", "tokens")):
                again.press("escape")
                again.wait_for("● ready")
                again.press(key)
                again.wait_for(lambda text, shown=shown: shown in text and "● ready" not in text)  # type: ignore[misc]
            again.press("escape")
            again.wait_for("● ready")
            quit_by_command(again)
        listed = stage.run("sessions", "list")
        printed = stage.run("-p", "talk")
        for sequence in FORBIDDEN:
            assert sequence not in terminal.raw, sequence
            assert sequence not in again.raw, sequence
            assert sequence.decode("latin-1") not in listed.stdout, sequence
            assert sequence.decode("latin-1") not in printed.stdout, sequence


def encodings_of(secret: str) -> list[bytes]:
    """The forms in which a key may slip out."""
    data = secret.encode()
    return [
        data,
        data.hex().encode(),
        base64.b64encode(data).rstrip(b"=")[:-1],
        base64.urlsafe_b64encode(data).rstrip(b"=")[:-1],
        urllib.parse.quote(secret, safe="").encode(),
        secret[::-1].encode(),
        json.dumps(secret).strip('"').encode(),
    ]


def test_the_key_is_on_the_wire_and_nowhere_else(tmp_path: Path) -> None:
    with SseServer() as server:
        stage = Stage(tmp_path, server, "[agent]\nmax_attempts = 1\n")
        spies = "env; cat /proc/$PPID/cmdline"
        if os.geteuid():  # nothing in /proc is closed to root
            spies += "; cat /proc/$PPID/environ"
        spies += "; echo spied"
        with stage.open("--yolo") as terminal:
            terminal.wait_for("Ask anything")
            server.answers.extend([call("run_command", command=spies), pieces("Done.")])
            say(terminal, "spy")
            terminal.wait_for(lambda text: "Done." in text and "● ready" in text)
            for encoded in encodings_of(KEY)[:2]:
                echo = f"Incorrect API key provided: {encoded.decode()}"
                server.answers.append(failure(401, {"error": {"message": echo}}))
                say(terminal, "refused?")
                terminal.wait_for(lambda text: "Check that key" in plain(text))
                terminal.wait_for("● ready")
            say(terminal, "/export markdown")
            terminal.wait_for("Exported to")
            quit_by_command(terminal)
        assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
        (result,) = [record for record in stage.disk.records() if record["role"] == "tool"]
        assert "PATH=" in result["content"]
        assert "spied" in result["content"]
        assert "OPENAI_API_KEY" not in result["content"]
        ended = stage.run("-p", "refused?")
        written = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
        assert len(written) > 3
        places = [*written, bytes(terminal.raw), ended.stdout.encode(), ended.stderr.encode()]
        for encoded in encodings_of(KEY):
            assert not any(encoded in place for place in places)
        bodies = json.dumps([seen.body for seen in server.requests])
        assert KEY not in bodies
