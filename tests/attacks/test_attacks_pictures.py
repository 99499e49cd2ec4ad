"""Pictures that prompts name and servers send: no link, pipe, bomb or false name does harm."""

from __future__ import annotations

import json
import os
import time
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from agent_tui.agent.attachments import Attached, attach
from agent_tui.core.errors import ToolError
from agent_tui.core.messages import MediaPart
from agent_tui.mcp.results import read_result
from agent_tui.tools.base import ToolContext
from agent_tui.tools.image_file import LARGEST_IMAGE_BYTES
from agent_tui.tools.read_file import ReadFile, ReadFileArguments
from tests.attacks.test_attacks_foreign import PICTURES, png_of
from tests.e2e.stage import Stage
from tests.peak_memory import peak_memory
from tests.providers.sse_server import SseServer, failure, finish_chunk, stream, text_chunk
from tests.tools.test_tools_images import png

pytestmark = [pytest.mark.timeout(600)]


def grow(path: Path) -> None:
    path.write_bytes(png())
    os.truncate(path, 5_000_000_000)


def close(path: Path) -> None:
    path.write_bytes(b"canary")
    path.chmod(0)


SHOWN = ("a packed one of few pixels",)
"""Small pictures with much behind them: decoding stops when the picture is whole."""
KINDS: dict[str, Callable[[Path], object]] = {
    "a pipe": os.mkfifo,
    "a folder": lambda path: path.mkdir(),
    "a link to a device": lambda path: path.symlink_to("/dev/zero"),
    "a link to a terminal": lambda path: path.symlink_to("/dev/tty"),
    "a link to the environment": lambda path: path.symlink_to("/proc/self/environ"),
    "a link to itself": lambda path: path.symlink_to(path),
    "a link to nothing": lambda path: path.symlink_to("/nonexistent"),
    "text": lambda path: path.write_text("canary"),
    "HTML": lambda path: path.write_text("<html><script>canary</script>"),
    "SVG": lambda path: path.write_text("<svg xmlns='http://www.w3.org/2000/svg'/>"),
    "a bitmap": lambda path: path.write_bytes(b"BM" + bytes(60)),
    "TIFF": lambda path: path.write_bytes(b"II*\0" + bytes(60)),
    "PDF": lambda path: path.write_bytes(b"%PDF-1.7\n"),
    "an empty file": lambda path: path.write_bytes(b""),
    "five gigabytes": grow,
    "a closed file": close,
}
NAMES = [
    "/\0.png",
    "/a\0/b.png",
    "/\ud83d.png",
    f"/{'x' * 300}.png",
    f"/{'x/' * 5_000}.png",
    "~/.png",
    "~nobody-here/x.png",
    "//x.png",
    "/../../x.png",
    "/x\x1b]0;t\x07.png",
    "/\u202egnp.png",
]


async def ask(prompt: str, workspace: Path) -> Attached:
    return await attach(prompt, ToolContext(workspace), 1, sees_images=True)


def images_in(attached: Attached) -> list[MediaPart]:
    parts = [part for message in attached.messages for part in message.content]
    return [part for part in parts if isinstance(part, MediaPart)]


def is_safe(text: str) -> bool:
    return not any(sign < " " and sign != "\n" for sign in text) and "\u202e" not in text


async def test_no_link_of_the_workspace_attaches_a_picture_from_elsewhere(tmp_path: Path) -> None:
    workspace, outside = tmp_path / "project", tmp_path / "outside"
    workspace.mkdir()
    outside.mkdir()
    (outside / "private.png").write_bytes(png())
    (workspace / "away.png").symlink_to(outside / "private.png")
    (workspace / "up.png").symlink_to("../outside/private.png")
    (workspace / "folder").symlink_to(outside)
    (workspace / "twice.png").symlink_to("away.png")
    (workspace / "own.png").write_bytes(png())
    (workspace / "inside.png").symlink_to("own.png")
    tried = 0
    for name in ("away.png", "up.png", "twice.png", "folder/private.png", "../outside/private.png"):
        forms = [name, f"./{name}", f"{workspace}/{name}", f"{workspace}/./{name}"]
        if not name.startswith(".."):  # named in full, a picture may lie anywhere
            forms.append(f"{outside}/../project/{name}")
        else:
            forms = forms[:2]
        for form in forms:
            attached = await ask(f'See @"{form}"', workspace)
            assert not attached.messages, form
            assert "outside the workspace" in attached.refused[0], form
            tried += 1
        with pytest.raises(ToolError, match="outside the workspace"):
            await ReadFile().run(ReadFileArguments(path=name), ToolContext(workspace))
    for name in ("own.png", "inside.png", f"{workspace}/inside.png", f"{outside}/private.png"):
        assert len(images_in(await ask(f'See @"{name}"', workspace))) == 1, name
    print(f"S12 links to pictures: {tried} followed in a prompt, 0 attached; 4 proper ones, all")


async def test_nothing_but_a_picture_is_attached_as_one(tmp_path: Path) -> None:
    workspace = tmp_path / "project"
    workspace.mkdir()
    start = time.monotonic()
    with peak_memory() as peak:
        for number, (kind, make) in enumerate(KINDS.items()):
            for folder in (tmp_path, workspace):
                path = folder / f"{number}\x1b]0;t\x07\u202e.png"
                make(path)
                attached = await ask(f'See @"{path}"', workspace)
                assert not images_in(attached), kind
                assert all(map(is_safe, attached.refused)), kind
                told = "".join(map(str, attached.messages))
                assert "canary" not in told or folder == workspace, kind  # there it is a text file
        for name, make_data in PICTURES.items():
            path = tmp_path / f"{name}.png"
            path.write_bytes(make_data())
            attached = await ask(f'See @"{path}"', workspace)
            assert len(images_in(attached)) == (name in SHOWN), name
        odd = 0
        for name in NAMES:
            attached = await ask(f'See @"{name}"', workspace)
            assert not attached.messages, name
            assert all(map(is_safe, attached.refused)), attached.refused
            odd += 1
    assert peak.grown_mb < 500
    assert time.monotonic() - start < 60
    print(
        f"pictures in prompts: {2 * len(KINDS)} false files, {len(PICTURES)} bombs and broken "
        f"ones, {odd} odd names, 0 attached; {peak.grown_mb} MB more"
    )


def image(data: bytes | str, mime_type: str = "image/png") -> SimpleNamespace:
    """A picture in a server's answer."""
    text = data if isinstance(data, str) else b64encode(data).decode()
    return SimpleNamespace(type="image", data=text, mime_type=mime_type)


def test_no_picture_of_a_server_does_harm(recwarn: pytest.WarningsRecorder) -> None:
    start = time.monotonic()
    with peak_memory() as peak:
        wrong: dict[str, SimpleNamespace] = {
            **{name: image(make()) for name, make in PICTURES.items() if name not in SHOWN},
            "no base64": image("%%%"),
            "another alphabet": image("\u202e\x1b[2J"),
            "nothing": image(""),
            "a path": image("file:///etc/passwd"),
            "a script": image(b"#!/bin/sh\n"),
            "a cut one": image(png(400, 400)[:60]),
            "more than the warning of the decoder": image(png_of(11_000, 11_000, b"")),
            "too large": image(png() + bytes(LARGEST_IMAGE_BYTES)),
            "twenty megabytes": image("A" * 20_000_000),
        }
        for name, block in wrong.items():
            result = read_result(
                SimpleNamespace(content=[block], structured_content=None, is_error=False), 30_000
            )
            assert result.images == (), name
            assert "not shown" in result.output, name
            assert is_safe(result.output), name
        many = [image(png(), "image/png\x1b]0;t\x07\u202e")] * 20
        answer = SimpleNamespace(content=many, structured_content=None, is_error=False)
        result = read_result(answer, 30_000)
        assert len(result.images) == 8
        assert result.output.count("not shown") == 12
        assert is_safe(result.output)
        assert not [each for each in recwarn if "Bomb" in str(each.category)]
    assert peak.grown_mb < 500
    assert time.monotonic() - start < 60
    print(
        f"pictures of servers: {len(wrong)} wrong ones and 12 too many, 0 shown; {peak.grown_mb} MB"
    )


def test_a_picture_that_a_server_refuses_does_not_end_the_session(tmp_path: Path) -> None:
    refusal = failure(400, {"error": {"message": "Could not process image", "type": "invalid"}})
    answer = stream(text_chunk("I go on."), finish_chunk())
    with SseServer([refusal, answer, answer]) as server:
        stage = Stage(tmp_path, server)
        (stage.workspace / "a.png").write_bytes(png())
        first = stage.run("-p", "See @a.png", "--model", "gpt-4.1")
        assert first.returncode == 0, first.stderr
        assert "I go on." in first.stdout
        sent = [json.dumps(seen.body["messages"]) for seen in server.requests]
        assert ["data:image/png" in each for each in sent] == [True, False]
        assert "A picture that the server refused" in sent[1]
        print("a refused picture: asked once more without it, the session goes on")
