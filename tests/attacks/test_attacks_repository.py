"""A hostile repository: no link, device or pipe that it ships reaches the model."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from agent_tui.agent.instructions import LIMIT_BYTES, Instructions, project_instructions
from agent_tui.agent.system_prompt import write_system_prompt
from agent_tui.config.trust import is_trusted, trust_folder
from agent_tui.runtime.starting.confining import is_too_wide
from tests.agent.stage import Stage
from tests.waiting import PATIENCE_SECONDS

SECRET = "canary-5f1e-do-not-send"


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A repository beside the secret of its victim."""
    (tmp_path / "id_ed25519").write_text(SECRET)
    folder = tmp_path / "clone"
    (folder / ".git").mkdir(parents=True)
    return folder


async def read(workspace: Path) -> Instructions:
    """The instructions, or a failure if reading them hangs."""
    return await asyncio.wait_for(
        asyncio.to_thread(project_instructions, workspace), PATIENCE_SECONDS
    )


@pytest.mark.parametrize(
    "target",
    ["/proc/self/environ", "../id_ed25519", "/dev/zero", "/dev/stdin", ".env", "docs/rules.md"],
)
async def test_instructions_are_never_read_through_a_link(clone: Path, target: str) -> None:
    (clone / ".env").write_text(SECRET)
    (clone / "docs").mkdir()
    (clone / "docs" / "rules.md").write_text(SECRET)
    (clone / "AGENTS.md").symlink_to(target)
    found = await read(clone)
    assert found.files == ()
    assert len(found.refused) == 1
    assert "AGENTS.md was not used" in found.refused[0]
    assert SECRET not in write_system_prompt(clone, found)


async def test_a_linked_folder_on_the_way_is_not_followed(clone: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "AGENTS.md").write_text(SECRET)
    (clone / "sub").symlink_to(outside)
    found = await read(clone / "sub")
    # The folder that was really entered is the one that counts, and it is no part of the clone.
    assert all(file.path.parent == outside for file in found.files)


async def test_a_pipe_or_a_folder_does_not_hang_and_is_not_used(clone: Path) -> None:
    os.mkfifo(clone / "AGENTS.md")
    assert (await read(clone)).files == ()
    (clone / "AGENTS.md").unlink()
    (clone / "AGENTS.md").mkdir()
    assert (await read(clone)).files == ()


async def test_size_is_counted_in_bytes_and_a_cut_is_told(clone: Path) -> None:
    (clone / "AGENTS.md").write_text("é" * LIMIT_BYTES, encoding="utf-8")
    (file,) = (await read(clone)).files
    assert file.is_cut
    assert len(file.text.encode()) <= LIMIT_BYTES
    assert "(cut)" in (await read(clone)).describe(clone)
    with (clone / "AGENTS.md").open("wb") as sparse:
        sparse.truncate(50_000_000_000)
    assert len((await read(clone)).files[0].text) < LIMIT_BYTES * 10


async def test_what_is_not_utf8_is_refused_in_words(clone: Path) -> None:
    (clone / "AGENTS.md").write_bytes(b"\xff\xfe\x00rules")
    assert "not UTF-8" in (await read(clone)).refused[0]


async def test_folders_above_the_repository_do_not_count(clone: Path) -> None:
    (clone.parent / "AGENTS.md").write_text(SECRET)
    (clone / "AGENTS.md").write_text("root")
    (clone / "sub").mkdir()
    (clone / "sub" / "AGENTS.md").write_text("near\x1b[2J")
    found = await read(clone / "sub")
    assert [file.text for file in found.files] == ["root", "near␛[2J"]
    plain = clone.parent / "plain" / "sub"
    plain.mkdir(parents=True)
    assert (await read(plain)).files == ()


async def test_one_prompt_in_a_hostile_clone_sends_and_keeps_no_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    work = tmp_path / "work"
    (work / ".git").mkdir(parents=True)
    (work / "AGENTS.md").symlink_to("/proc/self/environ")
    async with Stage(tmp_path, trust=True) as stage:
        await stage.say("Hi")
        assert SECRET not in stage.log.read_text(encoding="utf-8")
        assert "AGENTS.md was not used" in " ".join(stage.session.notices)


async def test_the_screen_learns_which_files_were_taken(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "AGENTS.md").write_text("Use tabs.")
    async with Stage(tmp_path, trust=True) as stage:
        assert stage.session.instructions == "AGENTS.md"
        assert stage.session.notices == []


async def test_nothing_of_a_project_is_used_before_the_folder_is_trusted(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "AGENTS.md").write_text(SECRET)
    (work / ".agent-tui").mkdir()
    async with Stage(tmp_path) as stage:
        await stage.say("Hi")
        assert SECRET not in stage.log.read_text(encoding="utf-8")
        assert stage.session.instructions == "not used without trust: AGENTS.md, .agent-tui"


def test_trust_is_for_one_repository_and_is_remembered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENT_TUI_HOME", str(tmp_path / "home"))
    for name in ("one/.git", "one/sub", "one/vendored/.git", "two/.git"):
        (tmp_path / name).mkdir(parents=True)
    assert not is_trusted(tmp_path / "one")
    trust_folder(tmp_path / "one" / "sub")
    assert is_trusted(tmp_path / "one")
    assert is_trusted(tmp_path / "one" / "sub")
    assert not is_trusted(tmp_path / "one" / "vendored")
    assert not is_trusted(tmp_path / "two")
    assert (tmp_path / "home" / "trusted.json").stat().st_mode & 0o077 == 0


def test_a_wide_folder_in_a_log_does_not_widen_the_tools(tmp_path: Path) -> None:
    for folder in ("/", "/home", "/etc", str(Path.home()), str(Path.home().parent)):
        assert is_too_wide(Path(folder), tmp_path)
        assert not is_too_wide(Path(folder), Path(folder)), "who starts there means it"
    assert not is_too_wide(tmp_path / "project", tmp_path)
