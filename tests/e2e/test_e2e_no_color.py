"""NO_COLOR: on the screen and without it, no colour is ever sent to the terminal."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.e2e.stage import quit_by_command, say
from tests.headless.command_line import run_program
from tests.terminal import Terminal, environment

pytestmark = pytest.mark.timeout(600)

_SGR = re.compile(rb"\x1b\[([0-9;:]*)m")
_COLOURED = 3
SCREENS = {
    "f1": "Help",
    "f2": "Sessions",
    "f3": "Checkpoints",
    "f8": "What fills the context",
}


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


def attributes(raw: bytes) -> set[int]:
    """The numbers of all SGR sequences: colours are among them, as 30 to 49 and 90 to 107."""
    return {int(each or 0) for codes in _SGR.findall(raw) for each in re.split(rb"[;:]", codes)}


def test_no_screen_sends_a_colour_or_a_grey_where_none_is_wanted(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "config.toml").write_text('[ui]\ntheme = "dracula"\n')
    env = environment(tmp_path / "home", NO_COLOR="1", COLORFGBG="0;15")
    with Terminal(["--demo", "--yolo"], env=env, cwd=tmp_path) as terminal:
        terminal.wait_for("Ask anything")
        terminal.wait_for("● ready")
        terminal.write("\x1b]11;rgb:ffff/ffff/ffff\x1b\\")  # a white terminal, it says
        say(terminal, "Run the tests")
        terminal.wait_for("have a look")
        terminal.wait_for("● ready")
        for key, shown in SCREENS.items():
            terminal.press(key)
            terminal.wait_for(shown)
            terminal.press("down", "escape")
            terminal.wait_for("● ready")
        say(terminal, "/theme")
        terminal.wait_for("Themes are off while NO_COLOR is set.")
        quit_by_command(terminal)
        found = attributes(bytes(terminal.raw))
    assert {1, 2, 7} <= found <= {0, 1, 2, 4, 7, 9}


def test_a_plain_conversation_sends_no_colour(tmp_path: Path) -> None:
    env = environment(tmp_path / "home", NO_COLOR="1")
    with Terminal(["--plain", "--demo", "--yolo"], env=env, cwd=tmp_path) as terminal:
        say(terminal, "Run the tests")
        terminal.wait_for("have a look")
        assert not _SGR.findall(bytes(terminal.raw))


def test_set_to_nothing_it_does_not_count(tmp_path: Path) -> None:
    assert len(hues(draw(tmp_path, NO_COLOR=""))) >= _COLOURED


def test_the_screen_has_colours_otherwise(tmp_path: Path) -> None:
    assert len(hues(draw(tmp_path))) >= _COLOURED


@pytest.mark.parametrize("arguments", [("-p", "hi"), ("help", "--all"), ("doctor",)], ids=" ".join)
def test_without_a_screen_nothing_is_coloured(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    extra = ("--demo",) if arguments[0] == "-p" else ()
    ran = run_program(tmp_path / "home", *arguments, *extra, NO_COLOR="1")
    assert "\x1b" not in ran.out + ran.err
