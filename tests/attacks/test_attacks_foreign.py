"""Foreign session files, made to lead elsewhere, to deceive who follows them, or to fill memory."""

from __future__ import annotations

import json
import os
import resource
import struct
import time
import zlib
from base64 import b64encode
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
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    session = import_session(path)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert len(session.records) == len(whole.records)
    assert session.damaged == whole.damaged + 6
    assert grown < 100_000
    print(f"hostile files in a storage: 6 counted as damaged, {grown // 1000} MB more")


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


def pictures() -> dict[str, bytes]:
    bomb = zlib.compress(b"\0" * 300_000_000, 9)
    gif = b"GIF89a" + struct.pack("<HH", 65_535, 65_535) + b"\x00\x00\x00,"
    webp = b"RIFF\xff\xff\xff\xffWEBPVP8X" + b"\xff" * 40
    return {
        "a packed one of few pixels": png_of(4, 4, bomb),
        "huge sides": png_of(2**31 - 1, 2**31 - 1, b""),
        "a wide one": png_of(60_000, 60_000, bomb),
        "no pixels": png_of(0, 0, b""),
        "a cut one": png_of(4_000, 4_000, b"")[:50],
        "a huge gif": gif + b"\xff" * 1_000,
        "a broken webp": webp,
        "a script": b"%!PS-Adobe-3.0 EPSF-3.0\n",
    }


@pytest.mark.parametrize("name", list(pictures()))
def test_a_hostile_picture_costs_little_and_shows_nothing(name: str) -> None:
    data = pictures()[name]
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    for kind in ("png", "gif", "webp", "svg+xml"):
        picture = open_picture(f"data:image/{kind};base64,{b64encode(data).decode()}")
        if picture is not None:
            sent = write_kitty(picture, 80, 24, (8, 16))
            assert sent.count("\x1b") == 2 * sent.count("\x1b_G")
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 500_000
    assert time.process_time() - start < 10
    print(f"{name}: {grown // 1000} MB more")


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
