"""Ctrl+G in a real terminal: the editor gets it, and the program gets it back whatever happens."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.terminal import Terminal, environment

pytestmark = pytest.mark.slow

_READY = "tokens ·"


def open_with(folder: Path, editor: str) -> Terminal:
    env = environment(folder / "home") | {"EDITOR": editor, "VISUAL": ""}
    if not editor:  # nor one of the usual ones
        env |= {"PATH": str(folder)}
    return Terminal(["--demo"], env=env, cwd=folder, columns=100, rows=30)


def script(folder: Path, text: str) -> str:
    path = folder / "editor.sh"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def test_without_an_editor_the_screen_stays_and_says_so(tmp_path: Path) -> None:
    with open_with(tmp_path, "") as terminal:
        terminal.wait_for(_READY)
        terminal.press("ctrl+g")
        terminal.wait_for("No editor found")
        terminal.write("still here")
        terminal.wait_for("still here")


def test_an_editor_that_is_not_installed_gives_way_to_the_next(tmp_path: Path) -> None:
    nano = tmp_path / "bin" / "nano"
    nano.parent.mkdir()
    Path(script(nano.parent, 'echo "written by the next" > "$1"')).rename(nano)
    env = environment(tmp_path / "home") | {"EDITOR": "no-such-editor -w", "VISUAL": ""}
    env["PATH"] = f"{nano.parent}{os.pathsep}{os.environ['PATH']}"
    with Terminal(["--demo"], env=env, cwd=tmp_path, columns=100, rows=30) as terminal:
        terminal.wait_for(_READY)
        terminal.press("ctrl+g")
        terminal.wait_for("written by the next")
        terminal.wait_for("The editor 'no-such-editor -w' was not found; used nano.")


def test_an_editor_that_fails_gives_the_screen_back(tmp_path: Path) -> None:
    with open_with(tmp_path, script(tmp_path, "exit 3")) as terminal:
        terminal.wait_for(_READY)
        terminal.press("ctrl+g")
        terminal.wait_for("with status 3; nothing changed")
        terminal.write("still here")
        terminal.wait_for("still here")


def test_the_agent_works_on_while_the_editor_is_open(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    with open_with(
        tmp_path, script(tmp_path, f'read line < {gate}; echo "$line" > "$1"')
    ) as terminal:
        terminal.wait_for(_READY)
        terminal.write("hello")
        terminal.press("enter")
        terminal.wait_for("Esc interrupt")
        terminal.press("ctrl+g")
        terminal.pump(0.5)
        (log,) = (tmp_path / "home" / "demo").glob("projects/*/*/context.jsonl")
        drawn = len(terminal.raw)
        for _ in range(200):
            terminal.pump(0.1)
            if b'"role":"assistant"' in log.read_bytes().replace(b": ", b":"):
                break
        else:
            raise AssertionError("the turn stood still while the editor was open")
        assert len(terminal.raw) - drawn < 500
        gate.write_text("edited elsewhere\n")
        terminal.wait_for("edited elsewhere")
