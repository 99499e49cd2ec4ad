"""An hour of use, compressed: long answers, many calls, reverts, resizes, random keys and mouse.

The whole hour takes some minutes:

    python -m tests.e2e.hour [seed ...]
"""

from __future__ import annotations

import json
import os
import random
import statistics
import sys
import tempfile
import termios
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
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
from tests.terminal_output import SCREEN_MODE
from tests.waiting import PATIENCE_SECONDS

CONFIG = '[approvals]\nmode = "auto"\n[context]\nwindow = 2000000\n[ui]\nnotify = "off"\n'
CANARIES = (
    *("\x1b]52;c;Q0FOQVJZ\x07", "\x1b]0;canary\x07", "\x1b[2J\x1b[H", "\x1b[?1049l", "\x1b[66m"),
    *(
        "\x9b31m",
        "\x9d0;canary\x9c",
        "\x1bP1$r\x1b\\",
        "\u202ecanary\u2066",
        "\x08\x08\x08\x07\x0e",
    ),
)
"""What a hostile server would have the terminal do; none of it may come out as it is."""
TROUBLES = (b"Internal error", b"Traceback")
"""What the program says of an exception, wherever it was."""
THE_END = "The round is over."
_CALLS_A_STEP = 5
MOST_MEGABYTES_A_ROUND = 1.0
"""What a round may add once the caches are full: its own part of the session is a few kilobytes."""
_REST_SECONDS = 12
"""In a pause the program tidies up."""
_KEYS = (
    *("up", "down", "pageup", "pagedown", "home", "end", "tab", "left", "right"),
    *("f1", "f2", "f3", "f5", "f8", "ctrl+f", "ctrl+t", "a", "z", "/", "@", " "),
    *("j", "k", "G", "v", "[", "]", "ctrl+o", "\x1b[20~", "\x1bc", "\x1b[O", "\x1b[I", "é漢👩‍👩‍👧"),
    "\x1b[200~two\nlines\x1b]0;canary\x07\x1b[201~",
)
_POINTING = (
    *("\x1b[<35;{a}M", "\x1b[<64;{a}M", "\x1b[<65;{a}M", "\x1b[<2;{a}M\x1b[<2;{a}m"),
    "\x1b[<0;{a}M\x1b[<32;{b}M\x1b[<0;{b}m",
)
"""A movement, both turns of the wheel, the other button, and a drag."""
_CLEAR = ("f7", "backspace")
"""Select all that is typed, wherever the cursor is in it, and delete it."""
_SIZES = ((120, 40), (60, 20), (200, 50), (80, 24), (40, 12), (160, 60), (300, 100))
WORD = "word "
"""How each chunk of an answer begins."""
_MOST_REPEATS = 4
"""A key or a click may interrupt a turn: the round is played again then, so often at most."""


@contextmanager
def open_again(descriptor: int) -> Iterator[int]:
    """The same file by another descriptor: it stays open when the first one is closed."""
    again = os.dup(descriptor)
    try:
        yield again
    finally:
        os.close(again)


@dataclass
class Hour:
    """What is done in all, and what was seen.

    The first round warms up: it is not reverted, and stays below all the others.

    Attributes:
        chunks: those that came with answers which are whole in the log, none that was only sent.
        calls: those of which the log holds the result.
    """

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
    repeated: int = 0
    megabytes: list[float] = field(default_factory=list)

    def play(self, folder: Path) -> None:
        """Live through it; raises AssertionError at the first thing that is not as it should be."""
        with SseServer(reply=self._replies()) as server:
            self._play_on(Stage(folder, server, CONFIG), random.Random(self.seed))
        assert self.chunks >= self.rounds * self.chunks_a_round
        assert self.calls >= self.rounds * self.calls_a_round
        assert (self.reverts, self.resized) == (self.rounds, self.resizes)

    def _play_on(self, stage: Stage, dice: random.Random) -> None:
        for number, canary in enumerate(CANARIES):
            (stage.workspace / f"tide-{number}{canary.replace('/', '')}").touch()
        with stage.open("--debug") as terminal, open_again(terminal.process.child_fd) as keyboard:
            as_found = termios.tcgetattr(keyboard)
            terminal.wait_for("Ask anything")
            for number in range(self.rounds + 1):
                self._round(stage, terminal, dice, number)
            terminal.pump(self.rest_seconds)
            self._look(stage, terminal)
            say(terminal, "/exit")
            assert terminal.wait_until_closed() == 0
            self._look_behind(stage, terminal)
            assert termios.tcgetattr(keyboard) == as_found
        assert not (left := terminal.output.left_on()), left
        said = terminal.output.after.strip()
        assert said.startswith("Session saved. Continue with: agent-tui -r "), said
        assert "\n" not in said, said

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
            return stream(text_chunk("I look. "), *calls, finish_chunk("tool_calls"))

        return reply

    def _answer(self) -> Iterator[dict[str, Any] | Step]:
        for number in range(self.chunks_a_round):
            if number % 50 == 0:
                yield Pause(0.05)
            canary = CANARIES[number // 7 % len(CANARIES)] if number % 7 == 0 else ""
            fence = "\n\n```python\nprint('tide')\n```\n\n| a | b |\n|---|---|\n\n"
            yield text_chunk(f"{WORD}{number} {canary}{fence if number % 60 == 59 else ''}")
        yield text_chunk(f"\n\n{THE_END}")

    def _round(self, stage: Stage, terminal: Terminal, dice: random.Random, number: int) -> None:
        for attempt in count():
            prompt = f"Round {number}, attempt {attempt}"
            say(terminal, prompt)
            for _ in range(self.keys_a_round // 2):
                self._fumble(terminal, dice)
            self._resize(terminal, dice, number)
            if self._is_whole(stage, terminal, prompt):
                break
            self.repeated += 1
            assert attempt < _MOST_REPEATS, f"never answered\n{terminal.text}"
            self._recover(terminal)
        for _ in range(self.keys_a_round // 2):
            self._fumble(terminal, dice)
        self._recover(terminal)
        self._look(stage, terminal)
        if number:
            self._revert(stage, terminal, prompt)

    def _is_whole(self, stage: Stage, terminal: Terminal, prompt: str) -> bool:
        """Wait for the end of a turn; whether all of it came, as the log has it."""
        turn: list[dict[str, Any]] = []
        grew_at = time.monotonic()
        while time.monotonic() < grew_at + PATIENCE_SECONDS:
            terminal.pump(0.2)
            known, turn = len(turn), self._turn(stage, prompt)
            grew_at = time.monotonic() if len(turn) > known else grew_at
            answer = str(turn[-1].get("content")) if turn else ""
            if answer.endswith(THE_END):
                self.chunks += answer.count(WORD)
                self.calls += sum(each["role"] == "tool" for each in turn)
                return True
            if turn and turn[-1]["role"] == "_turn_end":
                return False
        before = terminal.text
        terminal.press(*["escape"] * 4)
        what = f"{prompt!r} never ended: {turn[-3:]}"
        raise AssertionError(f"{what}\n{before}\nand below that\n{terminal.text}")

    def _turn(self, stage: Stage, prompt: str) -> list[dict[str, Any]]:
        """What the log has from a prompt on."""
        try:
            records = stage.disk.records()
        except ValueError:  # there is no log yet, or a line of it is just being written
            return []
        begun = [n for n, each in enumerate(records) if each.get("content") == prompt]
        return records[begun[-1] :] if begun else []

    def _fumble(self, terminal: Terminal, dice: random.Random) -> None:
        """One random key, click, drag, movement, or turn of the wheel."""
        columns, rows = terminal.screen.columns, terminal.screen.lines
        at = [(dice.randrange(columns), dice.randrange(rows - 1)) for _ in range(2)]
        match dice.randrange(6):
            case 0:
                terminal.click(*at[0])
            case 1:
                self._point(terminal, dice.choice(_POINTING), at)
            case _:
                terminal.press(dice.choice(_KEYS))

    def _point(self, terminal: Terminal, report: str, at: Sequence[tuple[int, int]]) -> None:
        (column, row), (further, lower) = at
        places = {"a": f"{column + 1};{row + 1}", "b": f"{further + 1};{lower + 1}"}
        terminal.write(report.format(**places))

    def _resize(self, terminal: Terminal, dice: random.Random, number: int) -> None:
        due = self.resizes * (number + 1) // (self.rounds + 1)
        while self.resized < due:
            columns, rows = dice.choice(_SIZES) if self.resized < due - 1 else _SIZES[0]
            terminal.resize(columns, rows)
            self.resized += 1

    def _recover(self, terminal: Terminal) -> None:
        """Back to an empty prompt, after the end of the turn: Esc closes whatever stands there."""
        until = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < until:
            terminal.pump(0.2)
            if "● ready" in terminal.rows[-1] and self._can_type(terminal):
                return
            terminal.press("escape")
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

    def _look(self, stage: Stage, terminal: Terminal) -> None:
        """What must hold at every moment of the hour, and what it takes."""
        assert terminal.process.isalive(), terminal.text
        assert SCREEN_MODE in terminal.output.modes, "something has left the screen"
        self._look_behind(stage, terminal)
        status = Path(f"/proc/{terminal.process.pid}/status").read_text()
        (rss,) = (line.split()[1] for line in status.splitlines() if line.startswith("VmRSS"))
        self.megabytes.append(int(rss) / 1_000)

    def _look_behind(self, stage: Stage, terminal: Terminal) -> None:
        """All that was written since the last time: to the terminal, and of errors."""
        assert not terminal.output.odd, terminal.output.odd[:20]
        assert not terminal.output.copies, "nothing was copied here"
        trouble = [word for word in TROUBLES if word in terminal.raw]
        assert not trouble, f"{trouble}\n{terminal.text}"
        terminal.raw.clear()
        log = (stage.home / "logs" / "debug.log").read_text()
        assert " ERROR " not in log, log[log.index(" ERROR ") :][:4_000]

    def _revert(self, stage: Stage, terminal: Terminal, prompt: str) -> None:
        """Take the newest turn back, prompt and all."""
        before = len(stage.disk.archives())
        say(terminal, "/revert")
        terminal.wait_for("newest first")
        terminal.press("enter")  # it opens at the newest prompt
        terminal.wait_for(lambda text: "newest first" not in text)
        terminal.pump(0.5)
        terminal.press("enter")
        terminal.wait_for(lambda _: len(stage.disk.archives()) > before)
        self._recover(terminal)
        assert not self._turn(stage, prompt), "the turn is there after its revert"
        self.reverts += 1


def _find(index: int, number: int) -> dict[str, Any]:
    """A call that is like no other: whoever repeats one is stopped."""
    canary = CANARIES[number % len(CANARIES)] if number % 5 == 0 else ""
    arguments = json.dumps({"pattern": f"*[t{number}]ide-*{canary}"})
    return call_chunk(index, call_id=f"c{number}", name="find_files", arguments=arguments)


def growth(megabytes: Sequence[float]) -> float:
    """How much memory a round took, MB, from quarter to quarter of the hour, where it was less.

    What leaks grows all the time; a cache may be filled at any time, but only once. Each quarter
    counts by its median: what one round takes for a moment is no growth.
    """
    size = len(megabytes) // 4
    second, third, fourth = (
        statistics.median(megabytes[start : start + size])
        for start in (len(megabytes) - part * size for part in (3, 2, 1))
    )
    return min(third - second, fourth - third) / size


def main(seed: int) -> bool:
    """Play the whole hour and say what was seen; whether it took no more memory than it may."""
    hour = Hour(seed=seed)
    with tempfile.TemporaryDirectory() as folder:
        hour.play(Path(folder))
    print(
        f"seed {seed}: {hour.rounds + 1} rounds, {hour.repeated} of them again, "
        f"{hour.chunks:,} chunks, {hour.calls} calls, {hour.reverts} reverts, "
        f"{hour.resized} resizes: no trouble"
    )
    print("MB after each round: " + " ".join(f"{each:.0f}" for each in hour.megabytes))
    grown = growth(hour.megabytes)
    print(f"{grown:.1f} MB a round; limit {MOST_MEGABYTES_A_ROUND}", flush=True)
    return grown <= MOST_MEGABYTES_A_ROUND


if __name__ == "__main__":
    seeds = [int(each) for each in sys.argv[1:]] or [Hour.seed]
    within = [main(seed) for seed in seeds]
    raise SystemExit(not all(within))
