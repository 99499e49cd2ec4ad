"""Bad files, settings, servers, tools and disks: one clear sentence each, and the app lives on."""

from __future__ import annotations

import json
import resource
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.stage import (
    KEY,
    Stage,
    echoes,
    plain,
    quit_by_command,
    say,
)
from tests.providers.sse_server import (
    Answer,
    Cut,
    Pause,
    SseServer,
    call_chunk,
    failure,
    finish_chunk,
    stream,
    text_chunk,
)

pytestmark = pytest.mark.timeout(600)

USER = b'{"role":"user","content":"before"}\n'
LAST = b'{"role":"user","content":"after"}\n'
TORN = b'{"role":"assistant","content":"half an ans'

UNREADABLE = {
    "empty": (b"", "is empty"),
    "binary": (bytes(range(256)) * 64, "is not a session log"),
    "garbage": (b"Dear diary,\ntoday it rained.\n", "is not a session log"),
}
DAMAGED = {
    "corrupt": USER + b'{"role": "user", "content"\n' + LAST,
    "zeroes": USER + b"\0" * 4096 + b"\n" + LAST,
    "torn": USER + LAST + TORN,
    "not utf-8": USER + b'{"role":"user","content":"\xff\xfe"}\n' + LAST,
}


@pytest.fixture
def server() -> Iterator[SseServer]:
    with SseServer() as server:
        yield server


def one_sentence(stderr: str) -> str:
    """What was said on stderr: a line of its own, no traceback."""
    (line,) = stderr.splitlines()
    assert line.startswith("agent-tui: ")
    assert "Traceback" not in line
    return line


def run_tool(command: str, call_id: str) -> Answer:
    """The model calls a command."""
    arguments = json.dumps({"command": command})
    call = call_chunk(0, call_id=call_id, name="run_command", arguments=arguments)
    return stream(call, finish_chunk("tool_calls"))


# Logs.


def test_a_log_that_cannot_be_opened_is_one_sentence(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    for name, (data, words) in UNREADABLE.items():
        (tmp_path / name).write_bytes(data)
        ended = stage.run("open", str(tmp_path / name), "--json")
        assert ended.returncode == 1, name
        assert words in one_sentence(ended.stderr)
        assert ended.stdout == ""
    ended = stage.run("open", str(tmp_path / "nowhere.jsonl"), "--json")
    assert "nowhere.jsonl" in one_sentence(ended.stderr)
    assert ended.returncode == 1


def test_a_damaged_log_opens_with_what_is_good(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    for name, data in DAMAGED.items():
        path = tmp_path / name
        path.write_bytes(data)
        ended = stage.run("open", str(path), "--json")
        assert (ended.returncode, ended.stderr) == (0, ""), name
        found = json.loads(ended.stdout)
        assert (found["messages"], found["damaged"]) == (2, 1), name
        assert path.read_bytes() == data


@pytest.mark.every_python
def test_a_damaged_log_opens_on_the_screen(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    path = tmp_path / "context.jsonl"
    path.write_bytes(DAMAGED["corrupt"])
    with stage.open("open", str(path)) as terminal:
        terminal.wait_for("1 damaged line")
        assert "before" in terminal.text
        assert "after" in terminal.text
        terminal.press("escape")
        assert terminal.wait_until_closed() == 0
    assert path.read_bytes() == DAMAGED["corrupt"]


def test_a_file_that_is_no_log_ends_the_screen_with_one_sentence(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    (tmp_path / "photo.jpg").write_bytes(UNREADABLE["binary"][0])
    with stage.open("open", str(tmp_path / "photo.jpg")) as terminal:
        assert terminal.wait_until_closed() == 1
    left = terminal.raw.rpartition(b"\x1b[?1049l")[2].decode()
    assert "photo.jpg is not a session log" in left
    assert "Traceback" not in left


def test_a_corrupt_session_goes_on_with_its_old_bytes_in_place(
    tmp_path: Path, server: SseServer
) -> None:
    stage = Stage(tmp_path, server)
    assert stage.run("-p", "remember the tide").returncode == 0
    log = stage.disk.log
    lines = log.read_bytes().splitlines(keepends=True)
    damaged = b"".join([*lines[:-1], b"\0\0 not JSON \xff\n", lines[-1], TORN])
    log.write_bytes(damaged)
    with stage.open("-r", stage.disk.session_id) as terminal:
        terminal.wait_for("damaged line")
        assert "remember the tide" in terminal.text
        say(terminal, "go on")
        terminal.wait_for(lambda _: len(server.requests) == 2)
        terminal.wait_for(lambda text: text.count("loopback") == 2 and "● ready" in text)
        quit_by_command(terminal)
    assert log.read_bytes().startswith(damaged)
    told = [message["content"] for message in server.requests[1].body["messages"]]
    assert told[1:] == ["remember the tide", "Hello from **loopback**.", "go on"]


def test_an_unknown_session_is_one_sentence(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    with stage.open("-r", "no-such-id") as terminal:
        terminal.wait_for(lambda text: "'no-such-id' is not a session's id" in plain(text))
        echoes(terminal)
        terminal.press("f2")
        terminal.wait_for(lambda text: "Sessions" in text and "no session" not in text)
        terminal.press("escape")
        terminal.wait_for("no session")
        quit_by_command(terminal)


# Settings.


def test_a_bad_setting_is_named_by_file_line_and_field(tmp_path: Path) -> None:
    stage = Stage(tmp_path, config='model = "m"\n\n[context]\nwindow = "big"\n')
    ended = stage.run("-p", "hello")
    assert ended.returncode == 2
    sentence = one_sentence(ended.stderr)
    for part in ("config.toml, line 4", "context.window", "'big'"):
        assert part in sentence
    with stage.open() as terminal:
        terminal.wait_for(lambda text: "line 4, field context.window" in plain(text))
        say(terminal, "hello?")
        terminal.wait_for(lambda text: "Starting" not in text)
        echoes(terminal)
        quit_by_command(terminal)


def test_a_config_that_is_not_toml_names_the_line(tmp_path: Path) -> None:
    stage = Stage(tmp_path, config="[context\nwindow = 1\n")
    ended = stage.run("models")
    assert ended.returncode == 2
    assert "line 1" in one_sentence(ended.stderr)
    assert stage.run("sessions", "list").returncode == 0, "it needs no settings"


# Servers.


def test_a_misbehaving_server_is_told_in_words_and_the_conversation_goes_on(
    tmp_path: Path, server: SseServer
) -> None:
    stage = Stage(tmp_path, server, "[agent]\nmax_attempts = 2\n")
    with stage.open(rows=60) as terminal:
        terminal.wait_for("Ask anything")

        def ask(prompt: str, words: str, *answers: Answer) -> None:
            server.answers.extend(answers)
            say(terminal, prompt)
            terminal.wait_for(lambda text: words in plain(text) and "● ready" in text)
            echoes(terminal)

        echoed = f"Incorrect API key provided: {KEY}"
        ask("one", "Check that key", failure(401, {"error": {"message": echoed}}))
        terminal.wait_for("OPENAI_API_KEY")
        ask("two", "ended in the middle", stream(text_chunk("This is as f"), Cut()))
        terminal.wait_for("This is as f")
        garbage = Answer((b"<<<< no stream >>>>\n\n",), headers={"Content-Type": "text/html"})
        ask("three", "no stream", garbage, garbage)
        ask("four", "loopback")
        quit_by_command(terminal)
    assert KEY.encode() not in terminal.raw
    said = [record["content"] for record in stage.disk.records() if record["role"] == "user"]
    assert said == ["one", "two", "three", "four"]


def test_a_busy_server_is_asked_again_when_it_said(tmp_path: Path, server: SseServer) -> None:
    stage = Stage(tmp_path, server)
    server.answers.append(failure(429, {"error": {"message": "slow down"}}, Retry_After="2"))
    with stage.open() as terminal:
        terminal.wait_for("Ask anything")
        say(terminal, "hello")
        terminal.wait_for("Retry 1 in")
        terminal.wait_for(lambda text: "loopback" in text and "● ready" in text)
        quit_by_command(terminal)
    assert len(server.requests) == 2
    assert stage.disk.roles().count("user") == 1


def test_a_slow_server_is_interrupted_at_once(tmp_path: Path, server: SseServer) -> None:
    stage = Stage(tmp_path, server)
    server.answers.append(stream(text_chunk("Let me th"), Pause(600)))
    server.answers.append(stream(Pause(600)))
    with stage.open() as terminal:
        terminal.wait_for("Ask anything")
        for prompt, shown in (("first", "answering"), ("second", "thinking")):
            say(terminal, prompt)
            terminal.wait_for(shown)
            terminal.press("escape")
            terminal.wait_for("● ready")
            terminal.wait_for("Interrupted")
        say(terminal, "third")
        terminal.wait_for(lambda text: "loopback" in text and "● ready" in text)
        quit_by_command(terminal)
    said = [r["content"] for r in stage.disk.records() if r["role"] in ("user", "assistant")]
    assert said == ["first", "Let me th", "second", "third", "Hello from **loopback**."]


def test_an_unreachable_server_is_told_in_words(tmp_path: Path) -> None:
    with SseServer() as gone:
        stage = Stage(tmp_path, gone, "[agent]\nmax_attempts = 2\n")
    ended = stage.run("-p", "hello")
    assert ended.returncode == 1
    assert "refused the connection: is the server running?" in ended.stderr.splitlines()[-1]
    assert "Traceback" not in ended.stderr
    with stage.open("-c", columns=40, rows=12) as terminal:
        terminal.wait_for("Ask anything")
        say(terminal, "and now?")
        terminal.wait_for(lambda text: "refused the connection" in plain(text))
        terminal.wait_for("● ready")
        echoes(terminal)
        quit_by_command(terminal)


# Tools.


def test_a_tool_that_hangs_prints_too_much_or_plays_tricks(
    tmp_path: Path, server: SseServer
) -> None:
    stage = Stage(tmp_path, server)
    python = sys.executable
    tricks = r"printf '\033]0;pwned\007 \033[5;33;41mBLINK \302\233;31m \342\200\256evil\n'"
    flood = f"{python} -c \"print(('x' * 999 + chr(10)) * 100_000)\""
    with stage.open("--yolo") as terminal:
        terminal.wait_for("Ask anything")

        server.answers.append(run_tool("echo started; sleep 600", "hangs"))
        say(terminal, "hang")
        terminal.wait_for("sleep 600")
        terminal.wait_for("running")
        terminal.press("escape")
        terminal.wait_for("● ready")
        result, end = stage.disk.records()[-2:]
        assert result["interrupted"]
        assert end["reason"] == "Interrupted."

        server.answers.append(run_tool(flood, "floods"))
        say(terminal, "flood")
        terminal.wait_for(lambda text: "loopback" in text and "● ready" in text)
        assert peak_megabytes(terminal.process.pid) < 300
        assert stage.disk.log.stat().st_size < 1_000_000

        server.answers.append(run_tool(tricks, "tricks"))
        say(terminal, "trick")
        terminal.wait_for("BLINK")
        terminal.wait_for("● ready")
        quit_by_command(terminal)
    for sequence in (b"\x1b]0;pwned", b"\x1b[5;33;41m", b"\xc2\x9b", b"\xe2\x80\xae"):
        assert sequence not in terminal.raw
    for request in server.requests:
        calls = [m["tool_calls"][0]["id"] for m in request.body["messages"] if "tool_calls" in m]
        results = [m["tool_call_id"] for m in request.body["messages"] if m["role"] == "tool"]
        assert calls == results


def peak_megabytes(pid: int) -> float:
    """The most memory that a process ever held; 0 where the system does not say."""
    status = Path(f"/proc/{pid}/status")
    if not status.exists():
        return 0.0
    (line,) = [line for line in status.read_text().splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1]) / 1024


# Folders and disks.


def test_a_session_whose_folder_was_deleted_can_be_read_and_continued(
    tmp_path: Path, server: SseServer
) -> None:
    stage = Stage(tmp_path, server)
    assert stage.run("-p", "hello").returncode == 0
    shutil.rmtree(stage.workspace)
    stage.workspace = tmp_path
    server.answers.append(run_tool("ls", "lists"))
    with stage.open("--yolo", "-r", stage.disk.session_id) as terminal:
        terminal.wait_for(lambda text: "no longer exists" in plain(text))
        say(terminal, "list the files")
        terminal.wait_for(lambda text: "no longer exists" in plain(text))
        terminal.wait_for(lambda text: text.count("loopback") == 2 and "● ready" in text)
        quit_by_command(terminal)
    assert not (tmp_path / "workspace").exists()


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="needs prlimit to fill the disk")
def test_a_full_disk_is_one_sentence_and_with_room_again_the_session_goes_on(
    tmp_path: Path, server: SseServer
) -> None:
    stage = Stage(tmp_path, server)
    stage.env["PYTHONDONTWRITEBYTECODE"] = "1"  # the limit would cut caches short
    with stage.open() as terminal:
        terminal.wait_for("Ask anything")
        say(terminal, "one")
        terminal.wait_for(lambda text: "loopback" in text and "● ready" in text)
        before = stage.disk.log.read_bytes()

        pid, unlimited = terminal.process.pid, resource.RLIM_INFINITY
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (len(before) + 20, unlimited))
        say(terminal, "two")
        terminal.wait_for(lambda text: "disk is full" in plain(text) and "● ready" in text)
        assert stage.disk.log.read_bytes() == before
        terminal.wait_for("\u276f two")  # it can be sent again
        echoes(terminal)
        say(terminal, "/rename three")
        terminal.wait_for(lambda text: plain(text).count("disk is full") == 2)

        resource.prlimit(pid, resource.RLIMIT_FSIZE, (unlimited, unlimited))
        say(terminal, "four")
        terminal.wait_for(lambda _: len(server.requests) == 2)
        terminal.wait_for("● ready")
        quit_by_command(terminal)
    assert stage.disk.log.read_bytes().startswith(before)
    said = [record["content"] for record in stage.disk.records() if record["role"] == "user"]
    assert said == ["one", "four"]


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="needs prlimit to fill the disk")
def test_an_answer_that_finds_no_room_ends_the_turn_and_loses_nothing(
    tmp_path: Path, server: SseServer
) -> None:
    stage = Stage(tmp_path, server)
    answer = stream(text_chunk("On my "), Pause(3), text_chunk("way."), finish_chunk())
    server.answers.append(answer)
    stage.env["PYTHONDONTWRITEBYTECODE"] = "1"  # the limit would cut caches short
    with stage.open() as terminal:
        terminal.wait_for("Ask anything")
        say(terminal, "one")
        terminal.wait_for("On my")
        size = stage.disk.log.stat().st_size
        resource.prlimit(terminal.process.pid, resource.RLIMIT_FSIZE, (size, -1))
        terminal.wait_for(lambda text: "disk is full" in plain(text) and "● ready" in text)
        echoes(terminal)
        resource.prlimit(terminal.process.pid, resource.RLIMIT_FSIZE, (-1, -1))
        say(terminal, "two")
        terminal.wait_for(lambda text: "loopback" in text and "● ready" in text)
        quit_by_command(terminal)
    said = [record["content"] for record in stage.disk.records() if record["role"] == "user"]
    assert said == ["one", "two"]
