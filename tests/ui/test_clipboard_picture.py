"""The clipboard: Alt+V attaches its picture or says what is missing; what is copied gets there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.tools.test_tools_images import png
from tests.ui.stage import shown
from tests.ui.test_chat_acts import desk


def clipboard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    """A desktop whose xclip gives these bytes."""
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "held").write_bytes(data)
    (tools / "xclip").write_text(f"#!/bin/sh\n/bin/cat {tools}/held\n")
    (tools / "xclip").chmod(0o755)
    monkeypatch.setenv("PATH", str(tools))
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setattr("tempfile.tempdir", str(tools))


def content_and_rights(path: Path) -> tuple[bytes, int]:
    """What a file holds, and what others may do with it."""
    return path.read_bytes(), path.stat().st_mode & 0o077


def are_there(*paths: Path) -> list[bool]:
    return [path.exists() for path in paths]


async def test_the_picture_in_the_clipboard_is_attached(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        clipboard(tmp_path, monkeypatch, png())
        await here.pilot.press("s", "o", "alt+v")
        await here.until(lambda: here.chat.prompt_box.text.startswith("so @"))
        path = Path(here.chat.prompt_box.text.removeprefix("so @").strip())
        assert content_and_rights(path) == (png(), 0)
    assert are_there(path) == [True], "the draft names it"


async def test_a_picture_belongs_to_its_session_or_goes_with_the_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        prompt_box = here.chat.prompt_box
        searched = os.environ["PATH"]
        clipboard(tmp_path, monkeypatch, png())
        await here.pilot.press("alt+v")
        await here.until(lambda: "@" in prompt_box.text)
        early = Path(prompt_box.text.strip().removeprefix("@"))
        prompt_box.set_text("")
        monkeypatch.setenv("PATH", searched)
        await here.say("hello")
        monkeypatch.setenv("PATH", str(tmp_path / "tools"))
        await here.pilot.press("alt+v")
        await here.until(lambda: "@" in prompt_box.text)
        late = Path(prompt_box.text.strip().removeprefix("@"))
        prompt_box.set_text("")
        assert here.chat.session is not None
        assert late.parent.parent.name == here.chat.session.session_id
    assert are_there(late, early) == [True, False]


@pytest.mark.parametrize("held", [b"", b"words"])
async def test_without_a_picture_it_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, held: bytes
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        clipboard(tmp_path, monkeypatch, held)
        await here.pilot.press("alt+v")
        await here.until(lambda: "no picture in the clipboard" in here.chat.status.notice)
        assert here.chat.prompt_box.text == ""


async def test_without_a_tool_it_names_those_that_help(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        monkeypatch.setenv("PATH", str(tmp_path))
        await here.pilot.press("alt+v")
        await here.until(lambda: "xclip or pngpaste" in here.chat.status.notice)


async def test_a_block_is_copied_by_the_terminal_and_by_the_desktop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        await here.say("hello")
        clipboard(tmp_path, monkeypatch, b"")
        held = tmp_path / "tools" / "held"
        (tmp_path / "tools" / "xclip").write_text(f"#!/bin/sh\n/bin/cat > {held}\n")
        await here.pilot.press("tab", "left_square_bracket", "y")
        await here.until(lambda: held.read_text() == "hello")
        assert here.app.clipboard == "hello"
        await here.until(lambda: "Copied" in shown(here.app))
