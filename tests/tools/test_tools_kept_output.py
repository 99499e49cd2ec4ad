"""Long output: the model is told how much is missing, and can open the whole of it."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from agent_tui.core.errors import ToolError
from agent_tui.core.shell import exit_line, find_left_out
from agent_tui.tools.base import ToolContext
from agent_tui.tools.blobs import BlobFolder
from agent_tui.tools.output import cut_text
from agent_tui.tools.read_file import ReadFile, ReadFileArguments
from agent_tui.tools.run_command import RunCommand, RunCommandArguments

_PATH = re.compile(r"blob:[0-9a-f]{32}")


@pytest.fixture
def keeping(context: ToolContext, tmp_path: Path) -> ToolContext:
    return replace(context, blobs=BlobFolder(tmp_path / "blobs"), output_limit=3_000)


async def read(context: ToolContext, path: str, start: int = 1) -> str:
    return (await ReadFile().run(ReadFileArguments(path=path, start_line=start), context)).output


async def test_the_whole_output_of_a_command_can_be_opened(keeping: ToolContext) -> None:
    command = RunCommandArguments(command="seq 1 20000")
    output = (await RunCommand().run(command, keeping)).output
    said = re.search(
        r"lines \(([\d,]+) bytes\) not shown; the whole output: read_file (\S+) …\]", output
    )
    assert said is not None
    kept = output.removesuffix(exit_line(0)).splitlines()
    assert len(kept) - 1 + find_left_out(output)[1] == 20_000
    assert len(output) < 3_500
    assert (await read(keeping, said[2], 10_000)).startswith("10000\t10000\n")
    assert (await read(keeping, said[2], -1)) == "20000\t20000"


async def test_output_that_fits_is_kept_nowhere(keeping: ToolContext, tmp_path: Path) -> None:
    output = (await RunCommand().run(RunCommandArguments(command="seq 1 300"), keeping)).output
    assert "not shown" not in output
    assert not (tmp_path / "blobs").exists()


async def test_what_is_kept_is_bounded_private_and_leaves_no_part(
    keeping: ToolContext, tmp_path: Path
) -> None:
    command = "head -c 30000000 /dev/zero | tr '\\0' 'x'"
    output = (await RunCommand().run(RunCommandArguments(command=command), keeping)).output
    assert "the first 10,000,000 bytes: read_file blob:" in output
    (kept,) = (tmp_path / "blobs").iterdir()
    assert kept.stat().st_size == 10_000_000
    assert (kept.stat().st_mode & 0o777, kept.parent.stat().st_mode & 0o777) == (0o600, 0o700)


async def test_a_disk_that_refuses_fails_no_command(keeping: ToolContext, tmp_path: Path) -> None:
    (tmp_path / "blobs").write_text("in the way")
    result = await RunCommand().run(RunCommandArguments(command="seq 1 20000"), keeping)
    assert not result.is_error
    assert "bytes) not shown …]" in result.output


def test_a_text_says_how_much_is_missing_and_where_it_is(keeping: ToolContext) -> None:
    shown = cut_text("x" * 5_000, 3_000, keeping.blobs)
    assert re.search(r"\[… 2,000 more characters; the whole text: read_file blob:\w{32}\]$", shown)
    assert cut_text("x" * 5_000, 3_000, None).endswith("2,000 more characters]")


@pytest.mark.slow
async def test_one_line_of_five_megabytes_is_read_page_by_page(keeping: ToolContext) -> None:
    whole = "".join(f"{number:x}é." for number in range(700_000))
    assert keeping.blobs is not None
    assert len(whole.encode()) > 5_000_000
    path = keeping.blobs.keep(whole)
    context = replace(keeping, output_limit=200_000)
    pages: list[str] = []
    at = 1
    while len(pages) < 100:
        arguments = ReadFileArguments(path=path, line_count=1, start_character=at)
        shown = (await ReadFile().run(arguments, context)).output
        assert len(shown) < 201_000
        told = r"^1\t(\[… from character [^\]]*\])?|\[… [\d,]+ more char.*"
        pages.append(re.sub(told, "", shown))
        if not (more := re.search(r"start_character=(\d+)", shown)):
            break
        at = int(more[1])
    assert "".join(pages) == whole
    print(f"a line of {len(whole):,} characters: read whole on {len(pages)} pages")


@pytest.mark.parametrize(
    "path", ["blob:../secret", "blob:" + "0" * 32, "blob:", "blob:/etc/passwd"]
)
async def test_only_what_was_kept_can_be_opened(keeping: ToolContext, path: str) -> None:
    with pytest.raises(ToolError, match="blob:"):
        await read(keeping, path)


async def test_a_link_among_the_blobs_is_not_followed(keeping: ToolContext, tmp_path: Path) -> None:
    (tmp_path / "blobs").mkdir()
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "blobs" / ("a" * 32)).symlink_to(tmp_path / "secret")
    with pytest.raises(ToolError, match="no blob:"):
        await read(keeping, "blob:" + "a" * 32)
