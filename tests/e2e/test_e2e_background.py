"""The program is as light or dark as the terminal says it is, until a person chooses a theme."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.stage import quit_by_command
from tests.terminal import Terminal, environment

pytestmark = [pytest.mark.timeout(600), pytest.mark.slow]

QUERY = b"\x1b]11;?\x1b\\"
WHITE = "\x1b]11;rgb:ffff/ffff/ffff\x1b\\"
BLACK = "\x1b]11;rgb:0000/0000/0000\x1b\\"


def brightness(terminal: Terminal) -> int:
    """How bright the ground of the screen is, 0 to 255."""
    ground = terminal.screen.buffer[2][2].bg
    return 0 if ground == "default" else int(ground[:2], 16)


def test_the_theme_follows_the_terminal(tmp_path: Path) -> None:
    with Terminal(["--demo"], env=environment(tmp_path / "home"), cwd=tmp_path) as terminal:
        terminal.wait_for("● ready")
        assert QUERY in terminal.raw
        assert brightness(terminal) < 64
        terminal.process.send(WHITE)
        terminal.wait_for(lambda _: brightness(terminal) > 192)
        terminal.process.send(BLACK)
        terminal.wait_for(lambda _: brightness(terminal) < 64)
        assert "rgb" not in terminal.text
        quit_by_command(terminal)


def test_a_chosen_theme_stays(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "config.toml").write_text('[ui]\ntheme = "agent-dark"\n')
    with Terminal(["--demo"], env=environment(home), cwd=tmp_path) as terminal:
        terminal.wait_for("● ready")
        terminal.process.send(WHITE)
        terminal.write("typed after the reply")
        terminal.wait_for("typed after the reply")
        terminal.pump(0.5)
        assert brightness(terminal) < 64
        terminal.press("ctrl+u")
        quit_by_command(terminal)


def test_a_terminal_that_would_print_the_question_is_not_asked(tmp_path: Path) -> None:
    env = environment(tmp_path / "home")
    with Terminal(["--demo"], env=env, cwd=tmp_path, term="linux") as terminal:
        terminal.wait_for("● ready")
        assert QUERY not in terminal.raw
        quit_by_command(terminal)
