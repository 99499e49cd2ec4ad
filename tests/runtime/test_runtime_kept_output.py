"""What was too long for the model is read whole by a person."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from agent_tui.core.shell import shell_text
from agent_tui.runtime.files.kept_output import put_back
from agent_tui.tools.base import ToolContext
from agent_tui.tools.blobs import BlobFolder
from agent_tui.tools.run_command import RunCommand, RunCommandArguments


async def output_of(command: str, folder: Path) -> str:
    workspace = folder / "workspace"
    workspace.mkdir(exist_ok=True)
    context = replace(
        ToolContext(workspace), blobs=BlobFolder(folder / "blobs"), output_limit=3_000
    )
    return (await RunCommand().run(RunCommandArguments(command=command), context)).output


async def test_the_whole_output_stands_where_its_ends_were(tmp_path: Path) -> None:
    cut = await output_of("seq 1 20000", tmp_path)
    assert "not shown" in cut
    whole = put_back(shell_text("seq 1 20000", cut), tmp_path)
    numbers = "\n".join(map(str, range(1, 20_001)))
    assert whole == shell_text("seq 1 20000", f"{numbers}\n[exit code 0]")


async def test_what_is_whole_or_gone_or_too_much_stays_as_it_is(tmp_path: Path) -> None:
    short = await output_of("seq 1 20", tmp_path)
    assert put_back(short, tmp_path) == short
    long = await output_of("seq 1 400000", tmp_path)
    assert put_back(long, tmp_path) == long
    cut = await output_of("seq 1 20000", tmp_path)
    for kept in (tmp_path / "blobs").iterdir():
        kept.unlink()
    assert put_back(cut, tmp_path) == cut
