"""Foreign session files, made to lead elsewhere, to deceive who follows them, or to fill memory."""

from __future__ import annotations

import json
import os
import struct
import time
import zlib
from base64 import b64encode
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from agent_tui.importers.kept_lines import KeptLines
from agent_tui.importers.registry import import_session
from agent_tui.runtime.machine.pictures import open_picture, write_kitty
from tests.importers.foreign_files import (
    claude_session,
    opencode_session,
    write_opencode_folder,
)
from tests.importers.session_files import write_lines
from tests.peak_memory import peak_memory

IDS = [
    "../../../secret",
    "/etc/passwd",
    "..",
    ".",
    "",
    "a/../../b",
    "x\x00y",
    "\x1b[2J",
    "s" * 5_000,
]


@pytest.mark.parametrize("hostile", IDS, ids=ascii)
def test_no_id_of_a_stored_session_leads_out_of_its_folder(tmp_path: Path, hostile: str) -> None:
    path = write_opencode_folder(tmp_path / "storage", opencode_session())
    (tmp_path / "secret.json").write_text('{"id":"secret"}')
    info = json.loads(path.read_text())
    child = {**info, "id": hostile, "parentID": info["id"], "title": "child"}
    (path.parent / "child.json").write_text(json.dumps(child))
    session = import_session(path)
    for each in session.children:
        assert Path(each.path).parent == path.parent, each.path
    path.write_text(json.dumps({**info, "id": hostile}))
    import_session(path)


def test_a_session_is_no_child_of_its_own_and_a_circle_is_read_once(tmp_path: Path) -> None:
    path = write_opencode_folder(tmp_path / "storage", opencode_session())
    info = json.loads(path.read_text())
    other = path.with_name("other.json")
    path.write_text(json.dumps({**info, "parentID": "other"}))
    other.write_text(json.dumps({**info, "id": "other", "parentID": info["id"]}))
    assert [each.session_id for each in import_session(path).children] == ["other"]
    path.write_text(json.dumps({**info, "parentID": info["id"]}))
    assert info["id"] not in [each.session_id for each in import_session(path).children]


def test_links_pipes_and_huge_files_in_a_storage_do_no_harm(tmp_path: Path) -> None:
    path = write_opencode_folder(tmp_path / "storage", opencode_session())
    folder = next((tmp_path / "storage" / "message").iterdir())
    whole = import_session(path)
    (folder / "circle.json").symlink_to(folder / "circle.json")
    (folder / "folder.json").symlink_to(tmp_path)
    (folder / "zero.json").symlink_to("/dev/zero")
    os.mkfifo(folder / "pipe.json")
    with (folder / "huge.json").open("wb") as file:
        file.truncate(2_000_000_000)
    (folder / "deep.json").write_text("[" * 100_000)
    with peak_memory() as peak:
        session = import_session(path)
    assert len(session.records) == len(whole.records)
    assert session.damaged == whole.damaged + 6
    assert peak.grown_mb < 100
    print(f"hostile files in a storage: 6 counted as damaged, {peak.grown_mb} MB more")


@pytest.mark.parametrize("grown", [False, True])
def test_a_file_rewritten_in_its_middle_with_the_same_size_is_read_anew(
    tmp_path: Path, *, grown: bool
) -> None:
    lines = [*claude_session()[:1], *({"type": "x", "n": "a" * 500} for _ in range(40))]
    path, kept = write_lines(tmp_path / "S.jsonl", [*lines, *claude_session()[1:]]), KeptLines()
    with kept.used():
        first = import_session(path)
    data = path.read_bytes()
    middle = len(data) // 2
    changed = data[:middle] + data[middle:].replace(b"aaaa", b"bbbb", 1)
    assert len(changed) == len(data)
    assert changed != data
    inode = path.stat().st_ino
    time.sleep(0.02)
    with path.open("r+b") as file:
        file.truncate(0)
        file.write(changed)
    os.utime(path, ns=(0, 0))  # nor does a time that was set back deceive
    assert path.stat().st_ino == inode
    kept.bytes_read = 0
    with kept.used():
        again = import_session(path)
    assert again == import_session(path)
    assert again != first or kept.bytes_read == len(data)
    assert kept.bytes_read == len(data)


def png_of(width: int, height: int, data: bytes) -> bytes:
    def chunk(kind: bytes, body: bytes) -> bytes:
        return (
            struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        )

    head = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


@cache
def bomb() -> bytes:
    """A small piece of data that unpacks to 300 MB."""
    packer = zlib.compressobj(9)  # piece by piece: it takes no memory
    return b"".join([*map(packer.compress, [bytes(1_000_000)] * 300), packer.flush()])


PICTURES: dict[str, Callable[[], bytes]] = {
    "a packed one of few pixels": lambda: png_of(4, 4, bomb()),
    "huge sides": lambda: png_of(2**31 - 1, 2**31 - 1, b""),
    "a wide one": lambda: png_of(60_000, 60_000, bomb()),
    "no pixels": lambda: png_of(0, 0, b""),
    "a cut one": lambda: png_of(4_000, 4_000, b"")[:50],
    "a huge gif": lambda: (
        b"GIF89a" + struct.pack("<HH", 65_535, 65_535) + b"\x00\x00\x00," + b"\xff" * 1_000
    ),
    "a broken webp": lambda: b"RIFF\xff\xff\xff\xffWEBPVP8X" + b"\xff" * 40,
    "a script": lambda: b"%!PS-Adobe-3.0 EPSF-3.0\n",
}
"""What makes each picture that costs too much or is none: only what is opened is made."""


@pytest.mark.parametrize("name", list(PICTURES))
def test_a_hostile_picture_costs_little_and_shows_nothing(name: str) -> None:
    data = PICTURES[name]()
    start = time.process_time()
    with peak_memory() as peak:
        for kind in ("png", "gif", "webp", "svg+xml"):
            picture = open_picture(f"data:image/{kind};base64,{b64encode(data).decode()}")
            if picture is not None:
                sent = write_kitty(picture, 80, 24, (8, 16))
                assert sent.count("\x1b") == 2 * sent.count("\x1b_G")
    assert peak.grown_mb < 500
    assert time.process_time() - start < 10
    print(f"{name}: {peak.grown_mb} MB more")


@pytest.mark.parametrize(
    "url",
    [
        "data:image/png;base64," + "A" * 9_000_001,
        "data:image/png,\x1b",
        "file:///etc/passwd",
        "http://127.0.0.1:9/x.png",
        "",
        "data:",
    ],
)
def test_only_pictures_that_stand_in_the_message_are_opened(url: str) -> None:
    assert open_picture(url) is None
