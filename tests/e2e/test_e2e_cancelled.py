"""How soon a cancelled turn is on the screen, phase by phase, beside the same key when idle."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import pytest

from tests.e2e.stage import Stage, pause_guard, quit_by_command, say
from tests.providers.sse_server import (
    Answer,
    Pause,
    SseServer,
    call_chunk,
    delta_chunk,
    failure,
    finish_chunk,
    stream,
    text_chunk,
)
from tests.terminal import Terminal
from tests.waiting import PATIENCE_SECONDS

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

TRIES = 3
MOST_OF_IDLE = 3.0
"""An idle screen needs for the same key a third of this; 20 ms are the key's own delay."""
NEVER = Pause(600)
CONFIG = '[approvals]\nallow = ["run_command(sleep *)"]\n'


def calls(name: str, **fields: object) -> Answer:
    """The model makes one call."""
    begun = call_chunk(0, call_id=f"c-{name}", name=name, arguments=json.dumps(fields))
    return stream(begun, finish_chunk("tool_calls"))


@dataclass(frozen=True)
class Phase:
    """What the server answers, and what is on the screen when the phase is reached."""

    name: str
    answers: Callable[[], Iterable[Answer]]
    sign: str
    is_dialog: bool = False


PHASES = [
    Phase("waiting for the first byte", lambda: [stream(NEVER)], "Esc"),
    Phase("streaming", lambda: [stream(text_chunk("Many words"), NEVER)], "Many words"),
    Phase(
        "thinking",
        lambda: [stream(delta_chunk({"reasoning_content": "Let me see"}), NEVER)],
        "thinking",
    ),
    Phase(
        "arguments",
        lambda: [stream(call_chunk(0, call_id="w", name="write_file", arguments='{"pa'), NEVER)],
        "write_file",
    ),
    Phase(
        "approval",
        lambda: [calls("run_command", command="rm -r x")],
        "Run this command?",
        is_dialog=True,
    ),
    Phase("tool", lambda: [calls("run_command", command="sleep 601")], "running"),
    Phase("retry wait", lambda: [failure(429, "Slow down", retry_after="30")], "Retry 1 in"),
    Phase(
        "subagent",
        lambda: [
            calls("task", agent="explorer", prompt="Look"),
            stream(text_chunk("I am in"), NEVER),
        ],
        "I am in",
    ),
]
DMAIL = Phase(
    "D-Mail",
    lambda: [
        calls("list_folder", path="."),
        calls("send_dmail", checkpoint=1, message="Not here"),
        stream(NEVER),
    ],
    "D-Mail",
)


def press_escape(terminal: Terminal, is_seen: Callable[[str], bool]) -> float:
    """Milliseconds from the key until the program has written what it did."""
    began = time.monotonic()
    os.write(terminal.process.child_fd, b"\x1b")  # send() would wait for 50 ms first
    while time.monotonic() < began + PATIENCE_SECONDS:
        terminal.pump(0.004)
        if is_seen(terminal.text):
            return (terminal.heard_at - began) * 1000
    raise AssertionError(f"nothing came of Esc\n{terminal.text}")


def is_ready(text: str) -> bool:
    return "● ready" in text and "Run this command?" not in text


def time_idle(terminal: Terminal) -> float:
    """How long Esc takes to close the help."""
    times = []
    for _ in range(5):
        terminal.press("f1")
        terminal.wait_for("While writing")
        times.append(press_escape(terminal, lambda text: "Ask anything" in text))
    return median(times)


def reach(terminal: Terminal, server: SseServer, phase: Phase) -> None:
    """Bring the turn to the phase, and let the screen come to rest."""
    server.answers.extend(phase.answers())
    terminal.wait_for(is_ready)
    before = len(server.requests)
    say(terminal, "Go")
    terminal.wait_for(lambda text: phase.sign in text and not is_ready(text))
    terminal.wait_for(lambda _: len(server.requests) > before)
    if phase.is_dialog:
        pause_guard(terminal)
    terminal.pump(0.3)


def time_phase(terminal: Terminal, server: SseServer, phase: Phase, idle: float) -> float:
    """The best of some tries, if the first is slow: other programs use this machine too."""
    times: list[float] = []
    while not times or (min(times) > MOST_OF_IDLE * idle and len(times) < TRIES):
        reach(terminal, server, phase)
        times.append(press_escape(terminal, is_ready))
        server.answers.clear()
        terminal.press("ctrl+u")
        say(terminal, "/clear")
        terminal.wait_for("Clear the context?")
        terminal.press("enter")
        terminal.wait_for(lambda text: "Clear the context?" not in text)
        terminal.pump(0.3)
    return min(times)


def check(kind: str, idle: float, found: dict[str, float]) -> None:
    """Each phase is as quick as Esc is on an idle screen, give or take the load."""
    told = ", ".join(f"{name} {ms:.0f}" for name, ms in found.items())
    print(f"cancelling ({kind}), ms until the screen says so: idle key {idle:.0f}; {told}")
    slow = {name: ms for name, ms in found.items() if ms > MOST_OF_IDLE * idle}
    assert not slow, f"idle: {idle:.0f} ms"


def children_of(terminal: Terminal) -> list[str]:
    """The commands of living processes that sleep for our sake."""
    found = []
    for folder in Path("/proc").iterdir():
        try:
            if folder.name.isdecimal() and b"sleep\x00601\x00" in (folder / "cmdline").read_bytes():
                found.append(folder.name)
        except OSError:
            continue
    return found


def test_cancelling_is_on_the_screen_at_once_in_every_phase(tmp_path: Path) -> None:
    with SseServer() as server:
        place = Stage(tmp_path, server, CONFIG)
        with place.open("--model", "m") as terminal:
            terminal.wait_for("Ask anything")
            idle = time_idle(terminal)
            found = {phase.name: time_phase(terminal, server, phase, idle) for phase in PHASES}
            until = time.monotonic() + PATIENCE_SECONDS
            while (left := children_of(terminal)) and time.monotonic() < until:
                terminal.pump(0.05)
            assert not left
            quit_by_command(terminal)
        check("turns", idle, found)


def test_what_a_command_printed_until_it_was_cancelled_stays_on_the_screen(tmp_path: Path) -> None:
    with SseServer() as server:
        place = Stage(tmp_path, server)
        with place.open("--model", "m", "--yolo") as terminal:
            terminal.wait_for("Ask anything")
            idle = time_idle(terminal)
            command = "echo $((40 + 2)) so far; sleep 601"
            phase = Phase("output", lambda: [calls("run_command", command=command)], "42 so far")
            reach(terminal, server, phase)
            took = press_escape(terminal, is_ready)
            assert "42 so far" in terminal.text
            assert re.search(r"run_command .* interrupted", terminal.text)
            assert "Check its effects" not in terminal.text  # that is for the model
            server.answers.append(stream(text_chunk("I see"), finish_chunk()))
            say(terminal, "Go on")
            terminal.wait_for("I see")
            (sent,) = [m for m in server.requests[-1].body["messages"] if m["role"] == "tool"]
            assert sent["content"].startswith("42 so far\nInterrupted")
            quit_by_command(terminal)
        with place.open("--model", "m", "--continue") as terminal:
            terminal.wait_for("42 so far")
            quit_by_command(terminal)
        check("output", idle, {phase.name: took})


def test_cancelling_a_turn_that_went_back_is_on_the_screen_at_once(tmp_path: Path) -> None:
    with SseServer() as server:
        place = Stage(tmp_path, server, CONFIG)
        with place.open("--model", "m", "--agent", "time-traveller") as terminal:
            terminal.wait_for("Ask anything")
            idle = time_idle(terminal)
            found = {DMAIL.name: time_phase(terminal, server, DMAIL, idle)}
            quit_by_command(terminal)
        check("D-Mail", idle, found)


def test_cancelling_a_compaction_is_on_the_screen_at_once(tmp_path: Path) -> None:
    with SseServer() as server:
        place = Stage(tmp_path, server, CONFIG)
        with place.open("--model", "m") as terminal:
            terminal.wait_for("Ask anything")
            idle = time_idle(terminal)
            for number in range(4):
                said = f"Answer {number}. " + "word " * 300
                server.answers.append(stream(text_chunk(said), finish_chunk()))
                say(terminal, f"Question {number}")
                terminal.wait_for(lambda text: is_ready(text) and "word" in text)
                terminal.pump(0.3)
            server.answers.append(stream(NEVER))
            say(terminal, "/compact")
            terminal.wait_for(lambda _: len(server.requests) > 4)
            terminal.pump(0.5)
            found = {"compaction": press_escape(terminal, lambda text: "Ask anything" in text)}
            assert "Compaction preview" not in terminal.text
            quit_by_command(terminal)
        check("compaction", idle, found)
