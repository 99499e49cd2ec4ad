"""The status line tells the branch, that files changed in it, and follows both."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from textual import events

from agent_tui.runtime.starting.launch import Launch
from agent_tui.ui.app import AgentTui
from agent_tui.ui.screens.sessions.session_list import SessionListScreen
from agent_tui.ui.widgets.lists.rows import Rows
from agent_tui.workspace.where import Place
from tests.waiting import until

pytestmark = pytest.mark.slow


def git(folder: Path, *words: str) -> None:
    who = ["-c", "user.name=A", "-c", "user.email=a@b.c", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "tides"
    folder.mkdir()
    (folder / "a.txt").write_text("one\n")
    git(folder, "init")
    git(folder, "add", ".")
    git(folder, "commit", "-m", "begin")
    return folder


def test_changes_of_any_kind_are_seen_and_the_repository_is_left_alone(repository: Path) -> None:
    place = Place(repository)
    index = (repository / ".git" / "index").read_bytes()
    assert (place.describe().branch, place.describe().changed) == ("main", False)
    (repository / "a.txt").write_text("two\n")
    assert place.describe().changed
    (repository / "a.txt").write_text("one\n")
    assert not place.describe().changed
    (repository / "new.txt").write_text("new\n")
    assert place.describe().changed
    (repository / ".gitignore").write_text("new.txt\n.gitignore\n")
    assert not place.describe().changed
    assert (repository / ".git" / "index").read_bytes() == index


def test_a_worktree_of_a_repository_has_its_own_branch(repository: Path) -> None:
    git(repository, "worktree", "add", "-b", "side", "../other")
    assert Place(repository.parent / "other").describe().branch == "side"


def test_nothing_that_a_repository_names_is_run(repository: Path) -> None:
    sign = repository.parent / "was-run"
    git(repository, "config", "core.fsmonitor", f"touch {sign}")
    git(repository, "config", "filter.x.clean", f"touch {sign}; cat")
    (repository / ".git" / "info" / "attributes").write_text("* filter=x\n")
    (repository / "a.txt").write_text("two\n")
    assert Place(repository).describe().changed
    assert not sign.exists()


def test_only_a_change_by_git_that_has_ended_is_followed(repository: Path) -> None:
    place = Place(repository)
    assert not place.has_moved()
    place.describe()
    assert not place.has_moved()
    git(repository, "switch", "-c", "feature")
    assert [place.has_moved(), place.has_moved()] == [False, True]
    place.describe()
    assert [place.has_moved(), place.has_moved()] == [False, False]


async def test_the_status_line_follows_what_happens_outside(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENT_TUI_HOME", str(repository.parent / "home"))
    monkeypatch.setenv("OPENAI_API_KEY", "key")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    app = AgentTui(Launch(repository))
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: app.chat.status.branch == "main")
        git(repository, "switch", "-c", "feature")
        await until(pilot, lambda: app.chat.status.branch == "feature")
        (repository / "a.txt").write_text("two\n")
        app.post_message(events.AppBlur())
        app.post_message(events.AppFocus())
        await until(pilot, lambda: app.chat.status.branch == "feature*")
        git(repository, "commit", "-am", "change")
        await until(pilot, lambda: app.chat.status.branch == "feature")
        await app.chat_screen.end()


async def test_a_session_of_another_project_shows_its_own_folder_and_files(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, elsewhere = repository.parent / "home", repository.parent / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "post.md").write_text("hi\n")
    log = home / "projects" / "-" / "of-tides" / "context.jsonl"
    log.parent.mkdir(parents=True, mode=0o700)
    header = {"role": "_session", "format": 1, "session_id": "of-tides", "cwd": str(repository)}
    lines = (header, {"role": "user", "content": "go"}, {"role": "assistant", "content": "on"})
    log.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    monkeypatch.setenv("AGENT_TUI_HOME", str(home))
    monkeypatch.setenv("OPENAI_API_KEY", "key")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    app = AgentTui(Launch(elsewhere))
    async with app.run_test(size=(100, 30)) as pilot:
        status = app.chat.status
        await until(pilot, lambda: status.place == "elsewhere" and bool(app.chat.session))
        await pilot.press("f2")
        await until(pilot, lambda: isinstance(app.screen, SessionListScreen))
        await until(pilot, lambda: bool(app.screen.query_one(Rows).count))
        await pilot.press("enter")
        await until(pilot, lambda: (status.place, status.branch) == ("tides", "main"))
        assert app.chat_screen._complete_path("") == ["a.txt"]
        await pilot.press("ctrl+n")
        await until(pilot, lambda: (status.place, status.branch) == ("elsewhere", ""))
        assert app.chat_screen._complete_path("") == ["post.md"]
        await app.chat_screen.end()
