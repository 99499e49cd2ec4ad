"""One prompt without a screen: what is printed, how it ends, and what is in the log."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from agent_tui.tools.ask_user import NO_ANSWER
from tests.headless.command_line import CommandLine, run_program
from tests.providers.sse_server import (
    Pause,
    SseServer,
    call_chunk,
    failure,
    finish_chunk,
    stream,
    text_chunk,
    usage_chunk,
)
from tests.terminal import environment
from tests.waiting import PATIENCE_SECONDS

pytestmark = pytest.mark.slow

KEY = "sk-canary-0123456789abcdef"


@pytest.fixture
def server(run: CommandLine) -> Iterator[SseServer]:
    with SseServer() as server:
        run.set("OPENAI_BASE_URL", server.url)
        run.set("OPENAI_API_KEY", KEY)
        yield server


def command_call(command: str, call_id: str = "c1") -> tuple[dict[str, Any], ...]:
    arguments = json.dumps({"command": command})
    return (
        call_chunk(call_id=call_id, name="run_command", arguments=arguments),
        finish_chunk("tool_calls"),
        usage_chunk(100, 10),
    )


def test_text_is_the_answer_and_nothing_else(run: CommandLine, server: SseServer) -> None:
    ran = run("-p", "Hi")
    assert (ran.code, ran.out, ran.err) == (0, "Hello from **loopback**.\n", "")
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"


def test_a_question_that_nobody_can_answer_is_told_and_the_turn_goes_on(
    run: CommandLine, server: SseServer
) -> None:
    arguments = json.dumps({"question": "Which store?", "choices": ["SQLite", "Files"]})
    asked = call_chunk(call_id="c1", name="ask_user", arguments=arguments)
    server.answers.append(stream(asked, finish_chunk("tool_calls"), usage_chunk(100, 10)))
    ran = run("-p", "Store it")
    assert (ran.code, ran.out) == (0, "Hello from **loopback**.\n")
    assert "not answered: Which store?: nobody is here to answer it" in ran.err
    told = server.requests[1].body["messages"][-1]
    assert told["role"] == "tool"
    assert NO_ANSWER in told["content"]


@pytest.mark.every_python
def test_json_is_one_object_with_the_whole_turn(run: CommandLine, server: SseServer) -> None:
    server.answers.append(stream(text_chunk("I run it."), *command_call("echo hello")))
    ran = run("-p", "Run it", "--output-format", "json", "--yolo")
    assert ran.code == 0
    found = ran.json
    assert found["end"] == "done"
    assert found["text"] == "I run it.\n\nHello from **loopback**."
    assert found["usage"]["input_tokens"] == 200
    assert (found["tokens"], found["error"], found["denied"]) == (108, None, [])
    assert run.logs()[0].parent.name == found["session_id"]
    assert run.records("tool")[0]["content"].startswith("hello")


def test_stream_json_is_every_event_as_it_comes(run: CommandLine, server: SseServer) -> None:
    ran = run("-p", "Hi", "--output-format", "stream-json")
    opened, *events = ran.lines
    assert opened == {"type": "session_opened", "session_id": run.logs()[0].parent.name}
    kinds = [event["type"] for event in events]
    assert kinds[:4] == ["checkpoint_made", "turn_began", "checkpoint_made", "step_began"]
    assert kinds[-1] == "turn_finished"
    assert "".join(line["text"] for line in ran.lines if line["type"] == "text_delta") == (
        "Hello from **loopback**."
    )


def test_an_action_that_nobody_approves_is_denied(run: CommandLine, server: SseServer) -> None:
    server.answers.append(stream(*command_call("touch x")))
    ran = run("-p", "Run it", "--output-format", "json")
    assert ran.code == 5
    assert ran.json["denied"] == ["touch x"]
    assert "rejected: touch x: nobody is here to approve it; allow it with --allow" in ran.sentence
    assert not (run.workspace / "x").exists()


def test_too_many_steps_end_with_3(run: CommandLine, server: SseServer) -> None:
    run.home.mkdir()
    (run.home / "config.toml").write_text("[agent]\nmax_steps = 1\n")
    server.answers.append(stream(*command_call("true")))
    ran = run("-p", "Go", "--yolo")
    assert ran.code == 3
    assert ran.sentence == "Step limit reached (1). Send “continue” to go on."


def test_a_wrong_key_is_told_in_words_and_never_shown(run: CommandLine, server: SseServer) -> None:
    body = {"error": {"message": f"Incorrect API key provided: {KEY}."}}
    server.answers.append(failure(401, body))
    ran = run("-p", "Hi")
    assert ran.code == 1
    assert "401" in ran.sentence
    assert KEY not in ran.err
    assert KEY not in run.logs()[0].read_text()


def test_an_unreachable_server_is_told_after_its_retries(run: CommandLine) -> None:
    run.set("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    run.set("OPENAI_API_KEY", KEY)
    ran = run("-p", "Hi", "--output-format", "json")
    assert ran.code == 1
    *retries, last = ran.err.splitlines()
    assert len(retries) == 4
    assert all(line.startswith("agent-tui: retrying in") for line in retries)
    assert "127.0.0.1:9" in last
    assert ran.json["error"] in last


def test_without_a_key_the_sentence_says_what_to_do(run: CommandLine) -> None:
    ran = run("-p", "Hi")
    assert ran.code == 1
    assert "OPENAI_API_KEY" in ran.sentence
    assert "agent-tui --demo" in ran.sentence
    assert run("sessions", "list", "--json").json == []
    assert run.logs() == []


def test_control_characters_of_a_model_never_reach_the_terminal(
    run: CommandLine, server: SseServer
) -> None:
    nasty = "a\x1b[31mb\x9bc\u202ed\ud800e\u2028f\x00g"
    for form in ("text", "json", "stream-json"):
        server.answers.append(stream(text_chunk(nasty), finish_chunk()))
        ran = run("-p", "Hi", "--output-format", form)
        assert ran.code == 0
        printed = ran.out.replace("\n", "")
        assert not [c for c in printed if ord(c) < 32 or c in "\x7f\x9b\u202e\u2028\ud800"]
    assert json.loads(ran.out.splitlines()[-1])["type"] == "turn_finished"


def test_the_session_goes_on_with_continue_and_with_resume(
    run: CommandLine, server: SseServer
) -> None:
    run("-p", "one")
    run("-c", "-p", "two")
    session_id = run.logs()[0].parent.name
    run("-p", "three", "-r", session_id[:-2])
    assert [m["content"] for m in run.records("user")] == ["one", "two", "three"]
    assert [m["turn"] for m in run.records("user")] == [1, 2, 3]
    assert len(server.requests[-1].body["messages"]) == 6


def test_continue_looks_in_its_own_folder_only(
    run: CommandLine, server: SseServer, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    run("-p", "one")
    run("-c", "-p", "two", "--cwd", other)
    assert len(run.logs()) == 2


def test_the_model_is_the_flag_then_the_environment_then_the_file(
    run: CommandLine, server: SseServer
) -> None:
    run.home.mkdir()
    (run.home / "config.toml").write_text('model = "from-file"\n')
    run("-p", "x")
    run.set("AGENT_TUI_MODEL", "from-environment")
    run("-p", "x")
    run("-p", "x", "--model", "from-flag")
    asked = [seen.body["model"] for seen in server.requests]
    assert asked == ["from-file", "from-environment", "from-flag"]


def test_a_prompt_may_come_from_standard_input(tmp_path: Path) -> None:
    ran = run_program(tmp_path / "home", "--demo", "-p", given="What files are here?\n")
    assert ran.code == 0
    assert "README.md" in ran.out


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("-p", " "), "expects a PROMPT"),
        (("-p", "x", "-r"), "needs an ID"),
        (("--output-format", "json", "x"), "needs --print"),
        (("-p", "x", "--cwd", "/nowhere"), "/nowhere is not one"),
        (("sessions", "fly"), "expects list, show, rename, delete, undelete"),
        (("x",), "needs a terminal"),
        (("-p", "x", "--ephemeral", "-c"), "--ephemeral starts a new session"),
    ],
)
def test_a_request_that_makes_no_sense_ends_with_2(
    run: CommandLine, arguments: tuple[str, ...], why: str
) -> None:
    ran = run(*arguments)
    assert ran.code == 2
    assert why in ran.sentence


def test_an_ephemeral_session_leaves_no_file(run: CommandLine, server: SseServer) -> None:
    server.answers.append(stream(text_chunk("I run it."), *command_call("echo hello")))
    ran = run("-p", "Run it", "--yolo", "--ephemeral")
    assert ran.code == 0
    assert "kept in memory only" in ran.err
    assert list(run.home.rglob("*")) == []


def test_an_unknown_id_is_one_sentence(run: CommandLine) -> None:
    ran = run("-p", "x", "-r", "nothing")
    assert ran.code == 1
    assert "'nothing' is not a session's id" in ran.sentence


def test_a_folder_that_is_gone_is_told_and_the_session_goes_on(
    run: CommandLine, server: SseServer, tmp_path: Path
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    run("-p", "one", "--cwd", gone)
    gone.rmdir()
    ran = run("-p", "two", "-r", run.logs()[0].parent.name)
    assert ran.code == 0
    assert "no longer exists" in ran.sentence


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_settles_the_log(run: CommandLine, server: SseServer, number: int) -> None:
    server.answers.append(stream(text_chunk("Half an answer"), Pause(600), finish_chunk()))
    process = run.spawn("-p", "Hi", OPENAI_BASE_URL=server.url, OPENAI_API_KEY=KEY)
    assert process.stdout is not None
    assert process.stdout.read(4) == "Half"
    process.send_signal(number)
    _, err = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 130
    assert err == "agent-tui: interrupted; the session is safe.\n"
    assert run.records("assistant")[0]["content"] == "Half an answer"
    assert run("-c", "-p", "Go on").code == 0


def test_a_signal_while_a_command_runs_leaves_no_call_open(
    run: CommandLine, server: SseServer
) -> None:
    command = "echo $$ > pid; sleep 600.0731"
    server.answers.append(stream(text_chunk("Now."), *command_call(command)))
    process = run.spawn("-p", "Hi", "--yolo", OPENAI_BASE_URL=server.url, OPENAI_API_KEY=KEY)
    pid = run.workspace / "pid"
    until = time.monotonic() + PATIENCE_SECONDS
    while not (pid.exists() and pid.read_text().strip()) and time.monotonic() < until:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 130
    assert run.records("tool")[0]["interrupted"] is True
    # In a sandbox the command has a number of its own: it is looked for by what it runs.
    while (left := _running("sleep\x00600.0731")) and time.monotonic() < until:
        time.sleep(0.02)
    assert not left


def _running(command: str) -> list[str]:
    """The processes of this machine that run exactly this; only Linux tells."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if path.read_text(errors="replace").rstrip("\0") == command:
                found.append(path.parent.name)
    return found


def test_a_pipe_that_closes_leaves_a_sound_log_and_no_traceback(
    run: CommandLine, server: SseServer
) -> None:
    words = [text_chunk("word " * 200) for _ in range(50)]
    server.answers.append(stream(*words, Pause(0.5), text_chunk("more"), finish_chunk()))
    process = run.spawn("-p", "Hi", OPENAI_BASE_URL=server.url, OPENAI_API_KEY=KEY)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.read(4)
    process.stdout.close()
    assert process.wait(PATIENCE_SECONDS) == 1
    assert process.stderr.read() == ""
    process.stderr.close()
    assert run("-c", "-p", "Go on").code == 0


def test_the_key_is_in_no_file_and_no_child(run: CommandLine, server: SseServer) -> None:
    server.answers.append(stream(*command_call("env; cat /proc/$PPID/environ | tr '\\0' '\\n'")))
    process = run.spawn(
        "-p", "Hi", "--yolo", OPENAI_BASE_URL=server.url, OPENAI_API_KEY=KEY, CANARY="visible"
    )
    out, err = process.communicate(timeout=PATIENCE_SECONDS)
    assert KEY not in out + err
    (result,) = run.records("tool")
    assert "PATH=" in result["content"]
    if os.geteuid() != 0:  # root reads every process
        assert KEY not in result["content"]
        for path in run.home.rglob("*"):
            assert not path.is_file() or KEY not in path.read_text(errors="replace")


def test_the_environment_of_tests_knows_no_key(tmp_path: Path) -> None:
    assert not [name for name in environment(tmp_path) if "KEY" in name]


def test_what_is_piped_is_added_to_the_prompt(run: CommandLine, server: SseServer) -> None:
    ran = run_program(
        run.home,
        "-p",
        "Sum up:",
        given="a,b\n1,2\n",
        OPENAI_BASE_URL=server.url,
        OPENAI_API_KEY=KEY,
    )
    assert ran.code == 0
    assert server.requests[0].body["messages"][-1]["content"] == "Sum up:\n\na,b\n1,2"


def test_command_is_a_prompt_that_is_run_once(run: CommandLine, server: SseServer) -> None:
    ran = run("--command", "Hi")
    assert (ran.code, ran.out) == (0, "Hello from **loopback**.\n")
    assert run("-C", "Hi", "more").code == 2


def test_a_setting_can_be_changed_for_one_run(run: CommandLine, server: SseServer) -> None:
    server.answers.extend(stream(*command_call("true", f"c{n}")) for n in range(3))
    assert run("-y", "-p", "Go", "--max-steps", "1").code == 3
    assert run("-p", "Hi", "--set", "agent.max_stps=1").code == 2
    assert run("-p", "Hi", "--set", "x").sentence.startswith("--set expects KEY=VALUE")


def test_the_demos_sessions_are_kept_apart_from_real_ones(run: CommandLine) -> None:
    assert run("--demo", "-p", "What files are here?").code == 0
    assert run("sessions", "list", "--json").json == []
    (row,) = run("sessions", "list", "--demo", "--json").json
    assert run("--demo", "-r", row["session_id"], "-p", "Read README.md").code == 0
