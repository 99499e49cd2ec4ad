"""The changes as a patch: git applies it, and every file is then as it was captured."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from agent_tui.workspace.patches import patch_of
from tests.workspace.yard import Yard, git

ODD = os.fsdecode(b'na\xffme "x"\t')


def apply(yard: Yard, patch: bytes) -> None:
    subprocess.run(["git", "apply", "-"], cwd=yard.root, input=patch, check=True)


def contents(yard: Yard) -> dict[str, tuple[str, bool]]:
    return {
        path: (text, os.access(yard.root / path, os.X_OK)) for path, text in yard.files().items()
    }


@pytest.mark.parametrize("algorithm", ["sha1", "sha256"])
def test_git_applies_what_a_patch_tells(tmp_path: Path, algorithm: str) -> None:
    """Line ends, escapes, bytes that are no text, modes, links, empty files, names of any kind."""
    yard = Yard(tmp_path / "yard")
    git(yard.root, "init", "-q", f"--object-format={algorithm}")
    for path, content in {
        "a.txt": b"one\ntwo\nthree\n",
        "crlf.txt": b"a\r\nb\r\n",
        "no end": b"x\ny",
        "gone.txt": b"bye\n",
        "escape.txt": b"\x1b[1mhi\n",
        "latin.txt": b"caf\xe9\nx\n",
        "run.sh": b"#!/bin/sh\n",
        "empty": b"",
        "gone.bin": bytes(range(256)) * 9,
        "changed.bin": bytes(range(256)) * 9,
        "turns.txt": b"a file\n",
    }.items():
        yard.write(path, content)
    git(yard.root, "add", "-A")
    git(yard.root, "commit", "-qm", "one")
    yard.take()
    for path, content in {
        "a.txt": b"one\nTWO\nthree\n",
        "crlf.txt": b"a\r\nB\r\n",
        "no end": b"x\nz",
        "escape.txt": b"\x1b[2mhi\n",
        "latin.txt": b"caf\xe9\ny\n",
        "empty": b"full\n",
        "new folder/new.txt": b"n\n",
        "made empty": b"",
        "made.bin": b"\0\1\2" * 999,
        "changed.bin": bytes(range(255)) * 9,
        ODD: b"odd\n",
    }.items():
        yard.write(path, content)
    for path in ("gone.txt", "gone.bin", "turns.txt"):
        (yard.root / path).unlink()
    (yard.root / "run.sh").chmod(0o755)
    (yard.root / "turns.txt").symlink_to("a.txt")
    found = [*yard.take().delta]
    yard.write("a.txt", "one\nTWO!\nthree\n")
    yard.write("passing.txt", "came and went\n")
    found += yard.take().delta
    (yard.root / "passing.txt").unlink()
    found += yard.take().delta
    after = contents(yard)
    git(yard.root, "stash", "-uq")
    assert contents(yard) != after
    apply(yard, patch_of(yard.store, found, algorithm))
    assert contents(yard) == after


def test_a_patch_holds_no_secret_and_says_what_it_leaves_out(tmp_path: Path) -> None:
    yard = Yard(tmp_path / "yard", with_git=True)
    yard.write(".gitignore", ".env\n")
    yard.write(".env", "TOKEN=old\n")
    yard.write("a.txt", "old\n")
    yard.take()
    yard.write(".env", "TOKEN=new\n")
    yard.write("a.txt", "new\n")
    patch = patch_of(yard.store, yard.take().delta)
    assert b"TOKEN" not in patch
    assert patch.startswith(b"# .env: changed; local configuration")
    yard.write("a.txt", "old\n")
    apply(yard, patch)
    assert yard.read("a.txt") == "new\n"
    for place in Path(yard.store.objects).iterdir():
        place.unlink()
    told = patch_of(yard.store, yard.timeline.captures[-1].delta)
    assert b"# a.txt: changed; its content is no longer in the store\n" in told
