"""NO_COLOR: on the screen and without it, no colour is ever sent to the terminal."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.e2e.stage import quit_by_command, say
from tests.headless.command_line import run_program
from tests.terminal import Terminal, environment

pytestmark = pytest.mark.timeout(120)

_SGR = re.compile(rb"\x1b\[([0-9;:]*)m")
_COLOURED = 3


def hues(raw: bytes) -> set[tuple[int, ...]]:
    """The colours in what was drawn that are no grey; numbered ones are told by their number."""
    found: set[tuple[int, ...]] = set()
    for codes in _SGR.findall(raw):
        numbers = [int(each or 0) for each in re.split(rb"[;:]", codes)]
        for place, number in enumerate(numbers):
            rest = numbers[place + 1 :]
            if number in (38, 48) and rest[:1] == [2] and len(set(rest[1:4])) > 1:
                found.add(tuple(rest[1:4]))
                break
            if number in (38, 48):
                break
            if 31 <= number <= 36 or 41 <= number <= 46 or 91 <= number <= 96:
                found.add((number,))
    return found


def draw(tmp_path: Path, **variables: str) -> bytes:
    """What a turn of the demo sends to the terminal."""
    env = environment(tmp_path / "home", **variables)
    with Terminal(["--demo", "--yolo"], env=env, cwd=tmp_path) as terminal:
        terminal.wait_for("Ask anything")
        say(terminal, "What have we done so far?")
        terminal.wait_for("● ready")
        quit_by_command(terminal)
        return bytes(terminal.raw)


def test_the_screen_has_no_colour_where_none_is_wanted(tmp_path: Path) -> None:
    assert not hues(draw(tmp_path, NO_COLOR="1"))


def test_the_screen_has_colours_otherwise(tmp_path: Path) -> None:
    assert len(hues(draw(tmp_path))) >= _COLOURED


@pytest.mark.parametrize("arguments", [("-p", "hi"), ("help", "--all"), ("doctor",)], ids=" ".join)
def test_without_a_screen_nothing_is_coloured(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    extra = ("--demo",) if arguments[0] == "-p" else ()
    ran = run_program(tmp_path / "home", *arguments, *extra, NO_COLOR="1")
    assert "\x1b" not in ran.out + ran.err
