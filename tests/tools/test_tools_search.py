"""Finding files by name and by content, with ripgrep and without."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from agent_tui.core.errors import ToolError
from agent_tui.tools.base import ToolContext
from agent_tui.tools.find_files import FindFiles, FindFilesArguments
from agent_tui.tools.glob import matches
from agent_tui.tools.search_files import SearchFiles, SearchFilesArguments


def children() -> set[int]:
    """The processes that this one has started and that still run; others' tests may have some."""
    found = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, parent = stat.read_text().rpartition(")")[2].split()[:2]
            if int(parent) == os.getpid() and state != "Z":
                found.add(int(stat.parent.name))
    return found


async def find(context: ToolContext, pattern: str, path: str = ".") -> list[str]:
    arguments = FindFilesArguments(pattern=pattern, path=path)
    return (await FindFiles().run(arguments, context)).output.split("\n")


async def search(context: ToolContext, pattern: str, **fields: object) -> list[str]:
    arguments = SearchFilesArguments.model_validate({"pattern": pattern, **fields})
    return (await SearchFiles().run(arguments, context)).output.split("\n")


@pytest.fixture(params=["rg", "plain"])
def searcher(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    name = str(request.param)
    if name == "plain":
        monkeypatch.setattr(shutil, "which", lambda _: None)
    elif shutil.which("rg") is None:
        pytest.skip("ripgrep is not installed here")
    return name


@pytest.fixture
def tree(workspace: Path) -> Path:
    for path in ("a.py", "src/b.py", "src/deep/c.py", "src/deep/d.txt", ".git/e.py", ".hidden.py"):
        (workspace / path).parent.mkdir(parents=True, exist_ok=True)
        (workspace / path).write_text("import os\nNeedle = 1\n")
    return workspace


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("*.py", "a/b/c.py", True),
        ("c.py", "a/b/c.py", True),
        ("a/*.py", "a/b/c.py", False),
        ("a/**/*.py", "a/b/c.py", True),
        ("a/**/*.py", "a/c.py", True),
        ("**/c.py", "c.py", True),
        ("a/**", "a/b/c.py", True),
        ("./a/*/c.py", "a/b/c.py", True),
        ("*.{py,txt}", "x.txt", True),
        ("[a-c].py", "b.py", True),
        ("[!a-c].py", "b.py", False),
        ("?.py", "bb.py", False),
        ("a.py", "aXpy", False),
        ("[.py", "[.py", True),
        ("{a", "{a", True),
        ("**", "a/b/c", True),
    ],
)
def test_globs_fit_as_people_expect(pattern: str, path: str, fits: bool) -> None:
    assert matches(path, pattern) is fits


@pytest.mark.usefixtures("tree")
async def test_files_are_found_by_pattern_and_repositories_passed_over(
    context: ToolContext,
) -> None:
    assert await find(context, "*.py") == [".hidden.py", "a.py", "src/b.py", "src/deep/c.py"]
    assert await find(context, "**/*.txt") == ["src/deep/d.txt"]
    assert await find(context, "*.py", "src/deep") == ["src/deep/c.py"]
    assert await find(context, "*.py", ".git") == [".git/e.py"]
    assert await find(context, "*.rs") == ["No file fits *.rs."]
    with pytest.raises(ToolError, match="is a file, not a folder"):
        await find(context, "*", "a.py")
    with pytest.raises(ToolError, match="outside the workspace"):
        await find(context, "*", "/etc")


async def test_links_are_named_but_not_entered(workspace: Path, context: ToolContext) -> None:
    (workspace / "out").symlink_to("/etc")
    assert await find(context, "**") == ["out"]


async def test_hostile_names_cannot_break_a_line(workspace: Path, context: ToolContext) -> None:
    (workspace / "a\nb\x1b[2J\u202e.py").touch()
    assert await find(context, "*.py") == ["a␊b␛[2J<U+202E>.py"]


async def test_results_are_bounded(workspace: Path, context: ToolContext) -> None:
    for number in range(600):
        (workspace / f"{number}.py").touch()
    found = await find(context, "*.py")
    assert len(found) == 501
    assert found[-1].startswith("[100 more fit; only the first 500 are shown")


@pytest.mark.usefixtures("tree", "searcher")
async def test_contents_are_searched_line_by_line(context: ToolContext) -> None:
    everywhere = [".hidden.py", "a.py", "src/b.py", "src/deep/c.py", "src/deep/d.txt"]
    assert await search(context, "Need.e") == [f"{path}:2:Needle = 1" for path in everywhere]
    assert await search(context, "needle") == ["Nothing matches needle."]
    assert await search(context, "needle", ignore_case=True, glob="*.txt") == [
        "src/deep/d.txt:2:Needle = 1"
    ]
    assert await search(context, "^import", path="src/deep") == [
        "src/deep/c.py:1:import os",
        "src/deep/d.txt:1:import os",
    ]
    assert await search(context, "Needle", path="src/b.py") == ["src/b.py:2:Needle = 1"]
    assert await search(context, "-e") == ["Nothing matches -e."]


@pytest.mark.usefixtures("tree", "searcher")
async def test_wrong_searches_are_told(context: ToolContext) -> None:
    with pytest.raises(ToolError, match="The search failed"):
        await search(context, "(")
    with pytest.raises(ToolError, match="does not exist"):
        await search(context, "x", path="nowhere")
    with pytest.raises(ToolError, match="outside the workspace"):
        await search(context, "root", path="/etc/passwd")


@pytest.mark.usefixtures("searcher")
async def test_searching_is_bounded_and_safe_to_show(workspace: Path, context: ToolContext) -> None:
    (workspace / "many").write_text("hit \x1b]0;title\x07\n" * 100_000)
    (workspace / "wide").write_text("hit" + "x" * 1_000_000)
    (workspace / "binary").write_bytes(b"hit\0hit\n")
    lines = await search(context, "hit")
    assert len(lines) <= 401
    assert lines[0] == "many:1:hit ␛]0;title␇"
    assert lines[-1].endswith("use a narrower search]")
    assert lines[-1].startswith("[at least ")
    (workspace / "many").write_text("hit\n" * 1_000)
    shown, told = len(lines := await search(context, "hit", path="many")) - 1, lines[-1]
    assert told.startswith(f"[{1_000 - shown} more lines; only the first {shown} lines shown")
    wide = await search(context, "hit", path="wide")
    assert len(wide[0]) < 600


@pytest.mark.usefixtures("searcher")
async def test_a_link_out_of_the_workspace_is_not_searched(
    workspace: Path, context: ToolContext
) -> None:
    outside = workspace.parent / "outside"
    outside.mkdir()
    (outside / "f").write_text("hit\n")
    (workspace / "way").symlink_to(outside)
    (workspace / "link").symlink_to(outside / "f")
    assert await search(context, "hit") == ["Nothing matches hit."]


@pytest.mark.skipif(sys.platform != "linux", reason="children are read from /proc")
async def test_a_pattern_that_takes_for_ever_is_ended_when_cancelled(
    workspace: Path, context: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    (workspace / "f").write_text("a" * 60 + "!\n")
    before = children()
    task = asyncio.create_task(search(context, "(a+)+$"))
    await asyncio.sleep(0.5)
    assert not task.done()
    assert children() - before
    began = time.monotonic()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert time.monotonic() - began < 15
    assert not children() - before
