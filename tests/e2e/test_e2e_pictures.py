"""A picture in a prompt is drawn in the conversation, and finer where the terminal can."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.e2e.stage import quit_by_command
from tests.runtime.test_runtime_pictures import red_over_blue
from tests.terminal import Terminal, environment

pytestmark = pytest.mark.timeout(600)
_SIGNS = {"kitty": re.compile(rb"\x1b_Ga=T,f=100"), "sixel": re.compile(rb"\x1bP[0-9;]*q")}


@pytest.mark.parametrize(
    ("program", "graphics"), [("ghostty", "kitty"), ("WezTerm", "sixel"), ("", "")]
)
def test_an_attached_picture_is_drawn(tmp_path: Path, program: str, graphics: str) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "config.toml").write_text("[models.scripted]\nimage_in = true\n")
    red_over_blue(400, 300).save(tmp_path / "shot.png")
    env = environment(home, TERM_PROGRAM=program)
    with Terminal(["--demo", "--yolo"], env=env, cwd=tmp_path, columns=100, rows=60) as terminal:
        terminal.wait_for("Ask anything")
        terminal.write(f"hello @{tmp_path}/shot.png ")
        terminal.press("enter")
        terminal.wait_for("● ready")
        terminal.wait_for("▀" * 27)  # twenty pixels high, and as wide as it is then
        assert not any(sign.search(terminal.raw) for sign in _SIGNS.values())
        terminal.click_on("▀▀▀")
        terminal.wait_for("PNG, 400 by 300 pixels")
        if graphics:
            terminal.wait_for(lambda _: bool(_SIGNS[graphics].search(terminal.raw)))
        else:
            terminal.wait_for("▀" * 90)
        terminal.press("escape")
        terminal.wait_for("● ready")
        if graphics == "kitty":
            assert re.search(rb"\x1b_Ga=d,d=I", terminal.raw)
        quit_by_command(terminal)


@pytest.mark.parametrize(
    ("answer", "sixel"), [("\x1b[?64;1;2;4;22c", True), ("\x1b[?62;22c", False)]
)
def test_a_terminal_that_says_so_draws_the_picture_itself(
    tmp_path: Path, answer: str, sixel: bool
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "config.toml").write_text("[models.scripted]\nimage_in = true\n")
    red_over_blue(400, 300).save(tmp_path / "shot.png")
    env = environment(home, TERM_PROGRAM="")
    with Terminal(["--demo", "--yolo"], env=env, cwd=tmp_path, columns=100, rows=60) as terminal:
        terminal.wait_for("Ask anything")
        terminal.write(f"hello @{tmp_path}/shot.png ")
        terminal.press("enter")
        terminal.wait_for("▀" * 27)
        terminal.wait_for("● ready")
        assert b"\x1b[c" not in terminal.raw
        terminal.click_on("▀▀▀")
        terminal.wait_for("▀" * 90)  # nothing waits for the answer
        assert terminal.raw.count(b"\x1b[c") == 1
        terminal.write(answer)
        if sixel:
            terminal.wait_for(lambda _: bool(_SIGNS["sixel"].search(terminal.raw)))
        terminal.press("escape")
        terminal.wait_for("● ready")
        before = len(terminal.raw)
        terminal.click_on("▀▀▀")
        if sixel:  # known from here on
            terminal.wait_for(lambda _: bool(_SIGNS["sixel"].search(terminal.raw[before:])))
        else:
            terminal.wait_for("▀" * 90)
            assert not _SIGNS["sixel"].search(terminal.raw)
        assert terminal.raw.count(b"\x1b[c") == 1
        terminal.press("escape")
        terminal.wait_for("● ready")
        quit_by_command(terminal)
