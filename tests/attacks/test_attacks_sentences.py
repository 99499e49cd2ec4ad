"""S4, S22: a person types on, before, while and after a question comes up, and allows nothing.

Each moment, each sentence and each speed once; all nine of them, each speed at each moment:

    python -m tests.attacks.test_attacks_sentences
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

import pytest

from agent_tui.ui.screens.dialogs.answer_guard import TYPING_GUARD_SECONDS
from agent_tui.ui.screens.dialogs.typed_answers import WIDE_HOLD_SECONDS
from tests.e2e.stage import Stage, pause_guard, refuse, say
from tests.providers.sse_server import Answer, SseServer, call_chunk, finish_chunk, stream
from tests.terminal import Terminal

pytestmark = pytest.mark.timeout(600)

SENTENCES = ("always yes 1 2 ok", "yes a plan 2", "1 a y everything")
SPEEDS = (5, 10, 20)
MOMENTS = ("before", "at", "after")
QUESTION = "Run this command?"


def touch(name: str) -> Answer:
    arguments = json.dumps({"command": f"touch {name}"})
    call = call_chunk(0, call_id=name, name="run_command", arguments=arguments)
    return stream(call, finish_chunk("tool_calls"))


def type_at(terminal: Terminal, sentence: str, speed: float) -> None:
    """Type as a person does: a key at a time, and Enter at the end."""
    for letter in (*sentence, "\r"):
        began = time.monotonic()
        terminal.process.send(letter)
        while (left := began + 1 / speed - time.monotonic()) > 0:
            terminal.pump(left)


def type_around(tmp_path: Path, tries: Iterable[tuple[str, int, str]]) -> None:
    """Type each sentence at its speed and moment; nothing but one meant key allows anything."""
    tried = keys = 0
    with SseServer() as server:
        place = Stage(tmp_path, server)
        with place.open(columns=100, rows=30) as terminal:
            terminal.wait_for("Ask anything")
            for start, speed, sentence in tries:
                server.answers.append(touch(f"{start}-{speed}"))
                say(terminal, "go")
                if start != "before":
                    terminal.wait_for(QUESTION)
                if start == "after":
                    terminal.pump(1.0)
                type_at(terminal, sentence, speed)
                shown = terminal.wait_for(QUESTION)
                terminal.pump(TYPING_GUARD_SECONDS + WIDE_HOLD_SECONDS)
                assert list(place.workspace.iterdir()) == [], (start, speed)
                assert QUESTION in terminal.text, shown
                refuse(terminal, QUESTION)
                shown = terminal.text
                assert start == "before" or sentence in shown, shown
                terminal.press("ctrl+u")
                terminal.wait_for("● ready")
                tried, keys = tried + 1, keys + len(sentence) + 1
            server.answers.append(touch("meant"))
            say(terminal, "go")
            terminal.wait_for(QUESTION)
            pause_guard(terminal)
            terminal.press("y")
            terminal.wait_for(lambda _: (place.workspace / "meant").exists())
    print(
        f"S4 S22 sentences typed at a terminal: {tried} of 9 ({keys} keys), 0 approvals; one key: 1"
    )


def test_no_sentence_typed_around_a_question_allows_anything(tmp_path: Path) -> None:
    type_around(tmp_path, zip(MOMENTS, reversed(SPEEDS), SENTENCES, strict=True))


if __name__ == "__main__":
    each = list(zip(SPEEDS, SENTENCES, strict=True))
    with tempfile.TemporaryDirectory() as folder:
        type_around(Path(folder), [(moment, *how) for moment in MOMENTS for how in each])
