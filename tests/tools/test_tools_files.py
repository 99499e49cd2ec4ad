"""Reading, writing and editing files: what is shown, what is refused, what is on disk after."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest

from agent_tui.core.errors import ToolError
from agent_tui.core.messages import DiffDisplay, ToolResult
from agent_tui.tools.base import ToolContext
from agent_tui.tools.edit_file import EditFile, EditFileArguments
from agent_tui.tools.read_file import ReadFile, ReadFileArguments
from agent_tui.tools.suggestions import missing_file, text_not_found
from agent_tui.tools.text_file import LARGEST_BYTES
from agent_tui.tools.workspace import Workspace
from agent_tui.tools.write_file import WriteFile, WriteFileArguments


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


async def read(context: ToolContext, path: str, start: int = 1, count: int = 1000) -> str:
    arguments = ReadFileArguments(path=path, start_line=start, line_count=count)
    return (await ReadFile().run(arguments, context)).output


async def write(context: ToolContext, path: str, content: str) -> ToolResult:
    return await WriteFile().run(WriteFileArguments(path=path, content=content), context)


def edit_of(path: str, old: str, new: str, *, everywhere: bool = False) -> EditFileArguments:
    return EditFileArguments(path=path, old_text=old, new_text=new, replace_all=everywhere)


async def edit(
    context: ToolContext, path: str, old: str, new: str, *, everywhere: bool = False
) -> ToolResult:
    return await EditFile().run(edit_of(path, old, new, everywhere=everywhere), context)


async def diff_of(context: ToolContext, path: str, old: str, new: str) -> str:
    display = await EditFile().preview(edit_of(path, old, new), context)
    assert isinstance(display, DiffDisplay)
    return display.diff


async def test_lines_are_numbered_and_long_files_go_on(
    workspace: Path, context: ToolContext
) -> None:
    (workspace / "f").write_text("".join(f"line {n}\n" for n in range(1, 2_001)))
    shown = await read(context, "f", 10, 2)
    assert shown == "10\tline 10\n11\tline 11\n[lines 10-11 of 2,000; continue with start_line=12]"
    assert (await read(context, "f")).endswith("start_line=1001]")
    assert await read(context, "f", 2_000) == "2000\tline 2000"
    assert "only 2,000 lines" in await read(context, "f", 2_001)


async def test_a_cancelled_read_has_closed_its_file(workspace: Path, context: ToolContext) -> None:
    (workspace / "f").write_bytes(b"x\n" * 4_000_000)
    await read(context, "f")
    before = names_in(Path("/dev/fd"))
    for turns in range(12):
        task = asyncio.create_task(read(context, "f"))
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert names_in(Path("/dev/fd")) == before


_GO_ON = "[lines 2-2 of 100; continue with start_line=3]"


async def test_output_is_bounded_by_characters_too(workspace: Path, context: ToolContext) -> None:
    (workspace / "wide").write_text(("x" * 5_000 + "\n") * 100)
    shown = await read(context, "wide")
    alone = "start_line=2 with line_count=1 and start_character=2001 shows more of this line"
    assert f"[… 3,000 more characters; {alone} …]" in shown
    assert await read(context, "wide", 2, 1) == f"2\t{'x' * 5_000}\n{_GO_ON}"
    assert len(shown) <= context.output_limit + 100
    assert "continue with start_line=15" in shown


async def test_control_characters_of_a_file_become_visible(
    workspace: Path, context: ToolContext
) -> None:
    (workspace / "f").write_bytes(b"a\x1b[31mb\r\nform\x0cfeed\xe2\x80\xa8same line\r\n")
    assert await read(context, "f") == "1\ta␛[31mb\n2\tform␌feed<U+2028>same line"


async def test_an_empty_file_says_so(workspace: Path, context: ToolContext) -> None:
    (workspace / "f").touch()
    assert await read(context, "f") == "[the file is empty]"


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"\x7fELF\0\0\0", "binary file of 7 bytes"),
        (b"caf\xe9", "not UTF-8 text: byte 0xe9 at offset 3"),
        ("é".encode("utf-16"), "UTF-16 text"),
        (b"x" * (LARGEST_BYTES + 1), "more than 10 MB"),
    ],
)
async def test_files_that_are_no_text_are_refused_in_words(
    workspace: Path, context: ToolContext, content: bytes, told: str
) -> None:
    (workspace / "f").write_bytes(content)
    with pytest.raises(ToolError, match=told):
        await read(context, "f")


async def test_a_missing_file_comes_with_near_misses(workspace: Path, context: ToolContext) -> None:
    (workspace / "src").mkdir()
    (workspace / "src" / "config.py").touch()
    (workspace / "readme.md").touch()
    with pytest.raises(ToolError, match=r"config\.py does not exist\. Did you mean src/config\.py"):
        await read(context, "config.py")
    with pytest.raises(ToolError, match=r"Did you mean readme\.md\?"):
        await read(context, "README.md")
    with pytest.raises(ToolError, match=r"does not exist\.$"):
        await read(context, "zzzzz/qqqqq")
    with pytest.raises(ToolError, match=r"Did you mean src/config\.py"):
        await edit(context, "src/confg.py", "a", "b")


async def test_a_new_file_is_made_with_its_folders(workspace: Path, context: ToolContext) -> None:
    arguments = WriteFileArguments(path="a/b/f.txt", content="one\ntwo\n")
    display = await WriteFile().preview(arguments, context)
    assert display == DiffDisplay(
        "a/b/f.txt", "--- /dev/null\n+++ b/a/b/f.txt\n@@ -0,0 +1,2 @@\n+one\n+two"
    )
    assert not (workspace / "a").exists()
    result = await WriteFile().run(arguments, context)
    assert result.output == "Created a/b/f.txt (+2 -0 lines)."
    assert result.display == display
    assert (workspace / "a/b/f.txt").read_text() == "one\ntwo\n"


async def test_replacing_keeps_the_mode_and_leaves_no_temporary_file(
    workspace: Path, context: ToolContext
) -> None:
    script = workspace / "run.sh"
    script.write_text("echo 1\n")
    script.chmod(0o751)
    await write(context, "run.sh", "echo 2\n")
    assert script.read_text() == "echo 2\n"
    assert script.stat().st_mode & 0o7777 == 0o751
    assert names_in(workspace) == ["run.sh"]


async def test_writing_through_a_link_keeps_the_link(workspace: Path, context: ToolContext) -> None:
    (workspace / "real").write_text("old")
    (workspace / "link").symlink_to("real")
    await write(context, "link", "new")
    assert (workspace / "link").is_symlink()
    assert (workspace / "real").read_text() == "new"


async def test_a_link_out_of_the_workspace_is_not_written(
    workspace: Path, context: ToolContext
) -> None:
    outside = workspace.parent / "outside"
    outside.write_text("theirs")
    (workspace / "link").symlink_to(outside)
    with pytest.raises(ToolError, match="outside the workspace"):
        await write(context, "link", "mine")
    assert outside.read_text() == "theirs"


async def test_the_whole_change_is_shown_as_a_diff(workspace: Path, context: ToolContext) -> None:
    (workspace / "f").write_text("".join(f"{n}\n" for n in range(1, 21)))
    diff = await diff_of(context, "f", "10\n", "ten\nand a half\n")
    assert diff.split("\n") == [
        "--- a/f",
        "+++ b/f",
        "@@ -7,7 +7,8 @@",
        *(" 7", " 8", " 9", "-10", "+ten", "+and a half", " 11", " 12", " 13"),
    ]
    assert (workspace / "f").read_text().startswith("1\n")


async def test_invisible_characters_show_in_a_diff(workspace: Path, context: ToolContext) -> None:
    (workspace / "f").write_text("a\n")
    assert "+a <U+202E>b<U+200B>" in await diff_of(context, "f", "a\n", "a \u202eb\u200b\n")
    assert "\\ No newline at end of file" in await diff_of(context, "f", "a\n", "a")


async def test_a_huge_change_is_still_shown_whole_and_soon(
    workspace: Path, context: ToolContext
) -> None:
    (workspace / "f").write_text("".join(f"old {n}\n" for n in range(50_000)))
    content = "".join(f"new {n}\n" for n in range(50_000))
    result = await write(context, "f", content)
    assert result.output == "Replaced f (+50000 -50000 lines)."


async def test_text_is_replaced_once_or_everywhere(workspace: Path, context: ToolContext) -> None:
    (workspace / "f").write_text("a = 1\nb = 1\n")
    with pytest.raises(ToolError, match=r"occurs 2 times in f \(lines 1, 2\)"):
        await edit(context, "f", "1", "2")
    assert (workspace / "f").read_text() == "a = 1\nb = 1\n"
    result = await edit(context, "f", "1", "2", everywhere=True)
    assert result.output == "Edited f in 2 places (+2 -2 lines)."
    assert (workspace / "f").read_text() == "a = 2\nb = 2\n"


async def test_text_that_is_not_there_comes_with_the_nearest(
    workspace: Path, context: ToolContext
) -> None:
    (workspace / "f").write_text("def go():\n    return 1\n\n# the end\n")
    with pytest.raises(ToolError, match=r"Lines 1-2 differ from it only in white space:\ndef go"):
        await edit(context, "f", "def go():\n  return 1\n", "x")
    with pytest.raises(ToolError, match=r"nearest line is 2:     return 1"):
        await edit(context, "f", "    return 11", "x")
    with pytest.raises(ToolError, match="copy the text exactly"):
        await edit(context, "f", "nothing of the kind", "x")
    with pytest.raises(ToolError, match="nothing to change"):
        await edit(context, "f", "end", "end")


async def test_windows_line_ends_and_byte_order_marks_survive_an_edit(
    workspace: Path, context: ToolContext
) -> None:
    (workspace / "f").write_bytes(b"\xef\xbb\xbfa\r\nb\r\nc\r\n")
    assert await read(context, "f") == "1\ta\n2\tb\n3\tc"
    result = await edit(context, "f", "a\nb", "a\nbee")
    assert (workspace / "f").read_bytes() == b"\xef\xbb\xbfa\r\nbee\r\nc\r\n"
    assert isinstance(result.display, DiffDisplay)
    assert "-b\n+bee" in result.display.diff


async def test_a_file_changed_since_it_was_read_is_not_written(
    workspace: Path, context: ToolContext
) -> None:
    file = workspace / "f"
    file.write_text("one\n")
    await read(context, "f")
    before = file.stat()
    file.write_text("two\n")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    for attempt in (write(context, "f", "three\n"), edit(context, "f", "two", "three")):
        with pytest.raises(ToolError, match="changed on disk since you last saw it"):
            await attempt
    assert file.read_text() == "two\n"
    await read(context, "f")
    await edit(context, "f", "two", "three")
    await edit(context, "f", "three", "four")
    assert file.read_text() == "four\n"


async def test_what_was_shown_for_approval_is_what_is_written_over(
    workspace: Path, context: ToolContext
) -> None:
    arguments = WriteFileArguments(path="f", content="mine")
    await WriteFile().preview(arguments, context)
    (workspace / "f").write_text("someone else's")
    with pytest.raises(ToolError, match="since you last saw it"):
        await WriteFile().run(arguments, context)
    await read(context, "f")
    (workspace / "f").unlink()
    with pytest.raises(ToolError, match="disappeared"):
        await WriteFile().run(arguments, context)


async def test_half_a_surrogate_pair_is_refused(workspace: Path, context: ToolContext) -> None:
    with pytest.raises(ToolError, match="half a surrogate pair"):
        await write(context, "f", "a\ud800")
    assert names_in(workspace) == []


async def test_the_repository_is_refused_before_anyone_is_asked(
    workspace: Path, context: ToolContext
) -> None:
    (workspace / ".git").mkdir()
    arguments = WriteFileArguments(path=".git/config", content="[core]\n")
    with pytest.raises(ToolError, match="read-only"):
        await WriteFile().preview(arguments, context)
    with pytest.raises(ToolError, match="read-only"):
        await WriteFile().run(arguments, context)


async def test_a_full_disk_leaves_the_old_file(
    workspace: Path, context: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    (workspace / "f").write_text("old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ToolError, match="disk is full"):
        await write(context, "f", "new")
    assert (workspace / "f").read_text() == "old"
    assert names_in(workspace) == ["f"]


@pytest.fixture
def unprivileged() -> Iterator[ToolContext]:
    """A workspace of an ordinary user: root is allowed everything."""
    folder = Path(tempfile.mkdtemp(prefix="agent-tui-"))
    user = 65534 if os.geteuid() == 0 else os.geteuid()
    if os.geteuid() == 0:
        os.chown(folder, user, user)
        os.seteuid(user)
    try:
        yield ToolContext(folder)
    finally:
        if os.geteuid() != os.getuid():
            os.seteuid(os.getuid())
        folder.chmod(0o700)
        shutil.rmtree(folder)


async def test_denied_permissions_are_told_in_words(unprivileged: ToolContext) -> None:
    file = unprivileged.workspace / "f"
    file.write_text("old")
    file.chmod(0o000)
    with pytest.raises(ToolError, match="Permission to open or change f was denied"):
        await read(unprivileged, "f")
    unprivileged.workspace.chmod(0o500)
    with pytest.raises(ToolError, match="Permission to open or change g was denied"):
        await write(unprivileged, "g", "new")
    unprivileged.workspace.chmod(0o700)


async def test_a_cancelled_preview_stops_looking_for_what_was_meant(
    workspace: Path, context: ToolContext
) -> None:
    """The search for the nearest line is the long part of a preview that fails."""
    letters, chance = "abcdefghij" * 19, random.Random(7)
    lines = ["".join(chance.sample(letters, len(letters))) for _ in range(300)]
    (workspace / "long.txt").write_text("\n".join(lines))
    wanted = edit_of("long.txt", letters, "")
    began = time.process_time()
    with pytest.raises(ToolError, match="does not occur"):
        await EditFile().preview(wanted, context)
    whole = time.process_time() - began
    task = asyncio.create_task(EditFile().preview(wanted, context))
    await asyncio.sleep(whole / 10)
    task.cancel()
    began = time.process_time()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert time.process_time() - began < whole / 2


def test_nothing_more_is_compared_once_a_search_was_stopped(workspace: Path) -> None:
    (workspace / "report.txt").write_text("x")
    going, stopped = Event(), Event()
    stopped.set()
    text, wanted = "one line of text\nanother", "one line of test"
    assert "The nearest line is 1" in str(text_not_found("a", text, wanted, going))
    assert "nearest" not in str(text_not_found("a", text, wanted, stopped))
    root = Workspace(workspace)
    assert "Did you mean report.txt" in str(missing_file(root, "reprot.txt", going))
    assert "Did you mean" not in str(missing_file(root, "reprot.txt", stopped))
