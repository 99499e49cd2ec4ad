"""An hour of use, compressed: long answers, many calls, reverts, resizes, random keys and mouse.

The whole hour takes some minutes:

    python -m tests.e2e.hour
"""

from __future__ import annotations

import json
import random
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from tests.e2e.stage import Stage, say
from tests.providers.sse_server import (
    Answer,
    Pause,
    Seen,
    SseServer,
    Step,
    call_chunk,
    finish_chunk,
    stream,
    text_chunk,
)
from tests.terminal import Terminal
from tests.waiting import PATIENCE_SECONDS

CONFIG = '[approvals]\nmode = "auto"\n[context]\nwindow = 2000000\n'
CANARY = "\x1b]52;c;Q0FOQVJZ\x07"
"""What a hostile answer would have the terminal do; it must never come out as it is."""
TROUBLES = ("Traceback", "Something went wrong", "This is a bug")
CLEAN_END = (b"\x1b[?1049l", b"\x1b[?25h", b"\x1b[?1000l", b"\x1b[?1003l", b"\x1b[?2004l")
"""What puts a terminal back: its own screen, its cursor, its mouse, its pastes."""
_CALLS_A_STEP = 5
MOST_MEGABYTES_A_ROUND = 1.0
"""What a round may add once the caches are full: its own part of the session is a few kilobytes."""
_REST_SECONDS = 12
"""In a pause the program tidies up."""
_KEYS = (
    *("up", "down", "pageup", "pagedown", "home", "end", "tab", "left", "right"),
    *("f1", "f2", "f3", "f5", "f8", "ctrl+f", "ctrl+t", "a", "z", "/", "@", " "),
)
_CLEAR = ("f7", "backspace")
"""Select all that is typed, wherever the cursor is in it, and delete it."""
_SIZES = ((120, 40), (60, 20), (200, 50), (80, 24), (40, 12), (160, 60))


@dataclass
class Hour:
    """What is done in all, and what was seen."""

    rounds: int = 20
    chunks_a_round: int = 500
    calls_a_round: int = 25
    keys_a_round: int = 40
    resizes: int = 50
    rest_seconds: float = _REST_SECONDS
    seed: int = 7
    reverts: int = 0
    resized: int = 0
    calls: int = 0
    chunks: int = 0
    megabytes: list[float] = field(default_factory=list)
    _home: Path = Path()

    def play(self, folder: Path) -> None:
        """Live through it; raises AssertionError at the first thing that is not as it should be."""
        with SseServer(reply=self._replies()) as server:
            self._play_on(Stage(folder, server, CONFIG), random.Random(self.seed))
        assert self.calls >= self.rounds * self.calls_a_round

    def _play_on(self, stage: Stage, dice: random.Random) -> None:
        self._home = stage.home
        with stage.open() as terminal:
            terminal.wait_for("Ask anything")
            for number in range(self.rounds):
                self._round(terminal, dice, number)
            terminal.pump(self.rest_seconds)
            self._look(terminal)
            say(terminal, "/exit")
            assert terminal.wait_until_closed() == 0
            tail = bytes(terminal.raw)
        missing = [end for end in CLEAN_END if end not in tail]
        assert not missing, f"the terminal was left as it was: {missing}"

    def _replies(self) -> Callable[[Seen], Answer]:
        """The server's part: steps of calls, then a long answer with hostile characters in it."""
        ids = count()
        steps = self.calls_a_round // _CALLS_A_STEP

        def reply(seen: Seen) -> Answer:
            messages = seen.body["messages"]
            last = max(n for n, message in enumerate(messages) if message["role"] == "user")
            done = sum(message["role"] == "assistant" for message in messages[last:])
            if not seen.body.get("tools") or done >= steps:
                return stream(*self._answer(), finish_chunk())
            calls = (_find(n, next(ids)) for n in range(_CALLS_A_STEP))
            self.calls += _CALLS_A_STEP
            return stream(text_chunk("I look. "), *calls, finish_chunk("tool_calls"))

        return reply

    def _answer(self) -> Iterator[dict[str, Any] | Step]:
        for number in range(self.chunks_a_round):
            if number % 50 == 0:
                yield Pause(0.05)
            self.chunks += 1
            yield text_chunk(f"word {number} {CANARY if number % 97 == 0 else ''}")
            if number % 60 == 59:
                yield text_chunk("\n\n```python\nprint('tide')\n```\n\n| a | b |\n|---|---|\n\n")
        yield text_chunk("\n\nThe round is over.")

    def _round(self, terminal: Terminal, dice: random.Random, number: int) -> None:
        prompt = f"Round {number}"
        say(terminal, prompt)
        for _ in range(self.keys_a_round // 2):
            self._fumble(terminal, dice)
        self._resize(terminal, dice, number)
        self._recover(terminal)
        for _ in range(self.keys_a_round // 2):
            self._fumble(terminal, dice)
        self._recover(terminal)
        self._look(terminal)
        if number:
            self._revert(terminal)

    def _fumble(self, terminal: Terminal, dice: random.Random) -> None:
        """One random key, click, or turn of the wheel."""
        columns, rows = terminal.screen.columns, terminal.screen.lines
        match dice.randrange(4):
            case 0:
                terminal.click(dice.randrange(columns), dice.randrange(rows - 1))
            case 1:
                at = f"{dice.randrange(columns) + 1};{dice.randrange(rows) + 1}"
                terminal.process.send(f"\x1b[<{dice.choice((64, 65))};{at}M")
                terminal.pump(0.02)
            case _:
                terminal.press(dice.choice(_KEYS))

    def _resize(self, terminal: Terminal, dice: random.Random, number: int) -> None:
        due = self.resizes * (number + 1) // self.rounds
        while self.resized < due:
            columns, rows = dice.choice(_SIZES) if self.resized < due - 1 else _SIZES[0]
            terminal.resize(columns, rows)
            self.resized += 1

    def _recover(self, terminal: Terminal) -> None:
        """Back to an empty prompt, with the turn at its end."""
        until = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < until:
            terminal.pump(0.2)
            status = terminal.screen.display[-1]
            if "● ready" in status and self._can_type(terminal):
                return
            if "● ready" in status or "tokens" not in status:
                terminal.press("escape")  # something stands before the conversation
        raise AssertionError(f"no way back to the prompt\n{terminal.text}")

    def _can_type(self, terminal: Terminal) -> bool:
        terminal.press(*_CLEAR)
        terminal.write("still here")
        terminal.pump(0.2)
        if "\u276f still here" not in terminal.text:
            return False
        terminal.press(*_CLEAR)
        terminal.pump(0.2)
        return "still here" not in terminal.text

    def _look(self, terminal: Terminal) -> None:
        assert terminal.process.isalive(), terminal.text
        trouble = [word for word in TROUBLES if word in terminal.text]
        assert not trouble, terminal.text
        assert CANARY.encode() not in terminal.raw, "an answer reached the terminal raw"
        terminal.raw.clear()
        status = Path(f"/proc/{terminal.process.pid}/status").read_text()
        (rss,) = (line.split()[1] for line in status.splitlines() if line.startswith("VmRSS"))
        self.megabytes.append(int(rss) / 1_000)

    def _revert(self, terminal: Terminal) -> None:
        """Take the newest turn back, prompt and all."""
        before = self._archives()
        say(terminal, "/revert")
        terminal.wait_for("newest first")
        terminal.press(*["down"] * (self.calls_a_round // _CALLS_A_STEP))
        terminal.press("enter")
        terminal.wait_for(lambda text: "newest first" not in text)
        terminal.pump(0.5)
        terminal.press("enter")
        terminal.wait_for(lambda _: self._archives() > before)
        self._recover(terminal)
        self.reverts += 1

    def _archives(self) -> int:
        return len(list(self._home.glob("projects/*/*/context.jsonl.[0-9]*")))


def _find(index: int, number: int) -> dict[str, Any]:
    """A call that is like no other: whoever repeats one is stopped."""
    arguments = json.dumps({"pattern": f"*tide-{number}*"})
    return call_chunk(index, call_id=f"c{number}", name="find_files", arguments=arguments)


def growth(megabytes: Sequence[float]) -> float:
    """How much memory a round took, MB, over the second half of the hour."""
    half = megabytes[len(megabytes) // 2 :]
    return (half[-1] - half[0]) / max(len(half) - 1, 1)


def main() -> None:
    """Play the whole hour and say what was seen."""
    hour = Hour()
    with tempfile.TemporaryDirectory() as folder:
        hour.play(Path(folder))
    print(
        f"{hour.rounds} rounds, {hour.chunks:,} chunks, {hour.calls} calls, "
        f"{hour.reverts} reverts, {hour.resized} resizes: no trouble"
    )
    print("MB after each round: " + " ".join(f"{each:.0f}" for each in hour.megabytes))
    grown = growth(hour.megabytes)
    print(f"{grown:.1f} MB a round in the second half; limit {MOST_MEGABYTES_A_ROUND}")
    if grown > MOST_MEGABYTES_A_ROUND:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
