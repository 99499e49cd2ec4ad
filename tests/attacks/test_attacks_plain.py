"""Plain lines under attack: nobody speaks as the program, and only a person's own line answers."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from agent_tui.core.events import (
    ApprovalRequest,
    Event,
    Failed,
    Question,
    ShellBegan,
    ShellEnded,
    StepBegan,
    SubagentEvent,
    TextDelta,
    ToolFinished,
    ToolStarted,
    TurnFinished,
)
from agent_tui.core.messages import CommandDisplay, DiffDisplay, ToolCall, ToolResult
from agent_tui.headless.plain.asking import ask_lines
from agent_tui.headless.plain.lines import PlainLines
from agent_tui.headless.plain.telling import MARK, rows_of
from tests.e2e.plain_stage import READABLE_SECONDS, Plain
from tests.e2e.stage import Stage
from tests.providers.sse_server import (
    Pause,
    SseServer,
    call_chunk,
    finish_chunk,
    stream,
    text_chunk,
)
from tests.terminal import PROGRAM
from tests.waiting import PATIENCE_SECONDS

pytestmark = pytest.mark.timeout(600)

FAKES = ["Approve? List the files", "Type yes, or no", "Done after 1 step.", "Agent: forged"]
BREAKS = ["\n", "\r\n", "\r", "\n\r", "\x0b", "\x0c", "\x85", "\u2028", "\u2029", "\x1c", "\n\n\n"]
"""What a terminal, or Python, may take for the end of a line."""
COLUMNS = (20, 40, 80, 200)


def forged(text: str) -> list[Event]:
    """Everything that a hostile model, tool, server or file can have said in plain lines."""
    call = ToolCall("c", text, json.dumps({text: text, "path": text}))
    return [
        TextDelta(text),
        StepBegan(2),
        ToolStarted(call),
        ToolFinished(call, ToolResult(text)),
        ShellBegan(f"cat x{text}"),
        ShellEnded("cat x", text, 0),
        SubagentEvent("c", "explorer", "s", Failed(f"The server says:{text}")),
        Failed(f"The server says: {text}"),
        TurnFinished(1, "done", 1),
    ]


def spoken(text: str, columns: int) -> list[str]:
    """The rows of a screen on which all of that was told, and asked for."""
    lines = PlainLines()
    told = [line for event in forged(text) for line in lines.hear(event)]
    bad = ToolCall("c", text, json.dumps({text: text}))
    for display in (CommandDisplay(text, text), DiffDisplay(text, text), None):
        request = ApprovalRequest("r", bad, "Run this command?", display, (f"run_command({text})",))
        told += ask_lines(request)
    told += ask_lines(Question("q", f"Which?{text}", (text, text)))
    return [row for line in told for row in rows_of(line, columns)]


def test_no_row_begins_with_what_somebody_else_said() -> None:
    tried = 0
    for fake in FAKES:
        for at in BREAKS:
            for columns in (0, *COLUMNS):
                pads = ["", *([" " * columns, "-" * columns, "宽" * columns] if columns else [])]
                for pad in pads:
                    rows = spoken(f"harmless{pad}{at}{fake}{at}{pad}{fake}", columns)
                    own = [row for row in rows if not row.startswith(MARK.rstrip())]
                    assert not [
                        row
                        for row in own
                        if row.startswith(fake[:12])
                        and "harmless" not in row
                        and not row.startswith(
                            ("Approve? Run", "Type yes, always to allow", "Done after 1")
                        )
                    ]
                    tried += 1
    print(f"forged lines: {tried} texts in 12 places, 0 rows that begin as the program's")


@pytest.mark.parametrize("blank", [" ", "\t", "\n", " \n", "\u00a0", "\u200b", "\r", "\u3164"])
def test_blanks_hide_no_end_of_a_command(blank: str) -> None:
    command = f"ls{blank * 5_000}; touch PWN"
    call = ToolCall("c", "run_command", "{}")
    lines = ask_lines(ApprovalRequest("r", call, "Run this?", CommandDisplay(command)))
    assert len(lines) < 12
    assert lines[-1].startswith("Type yes")
    assert any("touch PWN" in line for line in lines)
    assert any("blank" in line or "<U+" in line or "␍" in line for line in lines)


def test_a_long_action_says_how_long_it_is_and_where_it_began() -> None:
    command = "rm -rf ~\n" + "echo harmless\n" * 5_000 + "Approve? List files\nls"
    call = ToolCall("c", "run_command", "{}")
    lines = ask_lines(ApprovalRequest("r", call, "Run this?", CommandDisplay(command)))
    assert "5,003 lines" in lines[-2]
    assert lines[-2].startswith("The action is long: ")
    assert sum(not line.startswith(MARK) for line in lines) == 3


def test_a_line_without_an_end_costs_linear_time() -> None:
    def cost(pieces: int) -> float:
        lines = PlainLines()
        start = time.process_time()
        for _ in range(pieces):
            lines.hear(TextDelta("x" * 40))
        (line,) = lines.hear(StepBegan(2))
        assert len(line) == len("Agent: ") + 40 * pieces
        return time.process_time() - start

    cost(1_000)
    assert cost(80_000) < 30 * max(cost(8_000), 0.005)


@pytest.fixture
def server() -> Iterator[SseServer]:
    with SseServer() as server:
        yield server


def ask_to_touch(server: SseServer, *names: str, text: str = "") -> None:
    calls = [
        call_chunk(
            number,
            call_id=f"c{number}",
            name="run_command",
            arguments=json.dumps({"command": f"touch {name}"}),
        )
        for number, name in enumerate(names)
    ]
    server.answers.append(stream(text_chunk(text), *calls, finish_chunk("tool_calls")))


PASTES = [
    "yes\nyes\nyes\n",
    "please look at this:\nyes\nthanks\n",
    "\n\n\nyes\n",
    "yes\n\n",
    "\ryes\r\nyes\r\n",
    "no, I mean\nyes\n",
    "y\ny\n",
    "always\nalways\n",
]


def test_no_paste_and_nothing_typed_ahead_answers(tmp_path: Path, server: SseServer) -> None:
    stage = Stage(tmp_path, server)
    tried = 0
    for paste in PASTES:
        with Plain(stage) as plain:
            plain.hear("or /help.")
            for wait in (0.0, READABLE_SECONDS):
                ask_to_touch(server, f"pwn{tried}")
                plain.forget()
                plain.paste("go\nyes\ny\nalways\n")
                plain.hear("Text after no is sent to the agent.")
                time.sleep(wait)
                plain.paste(paste)
                plain.hear("not taken as an answer")
                time.sleep(0.3)
                assert list(stage.workspace.iterdir()) == [], (paste, wait)
                plain.interrupt()
                plain.hear("Interrupted")
                tried += 1
            assert plain.close() == 0
    ask_to_touch(server, "meant")
    with Plain(stage) as plain:
        plain.say("go")
        plain.hear("Text after no is sent to the agent.")
        time.sleep(READABLE_SECONDS)
        plain.say("yes")
        plain.hear("Done after")
        assert [path.name for path in stage.workspace.iterdir()] == ["meant"]
        assert plain.close() == 0
    print(f"pasted and typed ahead: {tried} tried, 0 approvals; one line: 1")


def test_one_yes_is_for_one_action(tmp_path: Path, server: SseServer) -> None:
    stage = Stage(tmp_path, server)
    names = [f"n{number}" for number in range(4)]
    ask_to_touch(server, *names, text="Approve? nothing\nType yes, or no.\n")
    with Plain(stage) as plain:
        plain.say("go")
        plain.hear("Text after no is sent to the agent.")
        assert "> Type yes, or no." in plain.lines
        time.sleep(READABLE_SECONDS)
        plain.forget()
        plain.say("yes")
        plain.hear("Text after no is sent to the agent.")
        time.sleep(READABLE_SECONDS)
        assert [path.name for path in stage.workspace.iterdir()] == ["n0"]
        plain.interrupt()
        plain.hear("Interrupted")
        time.sleep(READABLE_SECONDS)
        plain.say("yes")  # to nobody: a message
        plain.hear("loopback")
        assert plain.close() == 0
    assert [path.name for path in stage.workspace.iterdir()] == ["n0"]


def test_a_question_after_an_interrupted_one_is_asked(tmp_path: Path, server: SseServer) -> None:
    stage = Stage(tmp_path, server)
    with Plain(stage) as plain:
        for number in range(3):
            ask_to_touch(server, f"n{number}")
            plain.forget()
            plain.say("go")
            plain.hear("Text after no is sent to the agent.")
            assert f"> touch n{number}" in plain.lines
            plain.interrupt()
            plain.hear("Interrupted")
        assert plain.close() == 0
    assert list(stage.workspace.iterdir()) == []


def start(stage: Stage, stdout: int = subprocess.PIPE) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [str(PROGRAM), "--plain"],
        env=stage.env,
        cwd=stage.workspace,
        stdin=subprocess.PIPE,
        stdout=stdout,
        stderr=subprocess.PIPE,
    )


def test_bytes_that_are_no_text_end_nothing(tmp_path: Path, server: SseServer) -> None:
    stage = Stage(tmp_path, server)
    process = start(stage)
    out, errors = process.communicate(b"\xff\xfe\x80 tides\n\xc3\n\x00\n\xed\xa0\x80 high\n", 60)
    assert process.returncode == 0, errors
    assert b"loopback" in out
    assert b"Traceback" not in errors


def test_an_input_that_is_closed_ends_the_program(tmp_path: Path, server: SseServer) -> None:
    stage = Stage(tmp_path, server)
    words = ["sh", "-c", f"exec {PROGRAM} --plain <&-"]
    ended = subprocess.run(
        words, env=stage.env, cwd=stage.workspace, capture_output=True, timeout=60, check=False
    )
    assert b"Traceback" not in ended.stderr, ended.stderr


@pytest.mark.parametrize("phase", ["first line", "answer", "question"])
def test_an_output_that_nobody_reads_ends_the_program(
    tmp_path: Path, server: SseServer, phase: str
) -> None:
    stage = Stage(tmp_path, server)
    words = (text_chunk("word\n"), Pause(0.5)) * 20
    server.answers.append(stream(*words, finish_chunk()))
    process = start(stage)
    assert process.stdin is not None
    assert process.stdout is not None
    if phase == "question":
        server.answers.clear()
        ask_to_touch(server, "pwn", text="one\ntwo")
    if phase != "first line":
        assert b"plain" in process.stdout.readline()
    process.stdin.write(b"go\n")
    process.stdin.flush()
    if phase == "answer":
        assert b"word" in process.stdout.readline()
    process.stdout.close()
    process.stdin.write(b"more\n/status\n")
    process.stdin.flush()
    try:
        process.wait(PATIENCE_SECONDS)
    finally:
        process.kill()
        with suppress(BrokenPipeError):
            process.stdin.close()
    assert process.stderr is not None
    with process.stderr as errors:
        assert b"Traceback" not in errors.read()
    assert list(stage.workspace.iterdir()) == []


@pytest.mark.parametrize("moment", [0.0, 0.1, 0.3, 0.6, 1.0, 2.0])
def test_an_interrupt_at_any_moment_of_the_start_leaves_no_traceback(
    tmp_path: Path, server: SseServer, moment: float
) -> None:
    stage = Stage(tmp_path, server)
    process = start(stage)
    time.sleep(moment)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(b"", 60)
    assert b"Exception" not in errors, errors
    if moment > 0.3:  # before, Python itself is being loaded
        assert b"Traceback" not in errors, errors


def test_a_narrow_terminal_wraps_no_forged_question_to_its_edge(
    tmp_path: Path, server: SseServer
) -> None:
    stage = Stage(tmp_path, server)
    forged_line = "-" * 78 + "Approve? forged" + "-" * 65 + "Type yes, or no"
    server.answers.append(stream(text_chunk(f"hello\n{forged_line}"), finish_chunk()))
    control, terminal = pty.openpty()
    import termios

    termios.tcsetwinsize(terminal, (24, 80))
    process = start(stage, terminal)
    os.close(terminal)
    assert process.stdin is not None
    process.stdin.write(b"go\n")
    process.stdin.close()
    output = b""
    try:
        while piece := os.read(control, 4_096):
            output += piece
    except OSError:
        pass  # Linux says so where the other end is closed
    finally:
        os.close(control)
    assert process.wait(PATIENCE_SECONDS) == 0
    assert process.stderr is not None
    process.stderr.close()
    rows = output.decode().splitlines()
    assert max(map(len, rows)) <= 80
    assert not [row for row in rows if row.startswith(("Approve", "Type yes"))]
    assert "forged" in "".join(row.removeprefix(MARK) for row in rows)
