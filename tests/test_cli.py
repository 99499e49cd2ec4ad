"""The command line itself: help, version, and what is refused before anything is loaded."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from agent_tui import __version__, cli


def run_main(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        cli.main(list(arguments))
    return int(ended.value.code or 0)


def test_the_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_main("--version") == 0
    assert capsys.readouterr().out == f"agent-tui {__version__}\n"


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_main("--help") == 0
    shown = capsys.readouterr().out
    assert all(f"  {name} " in shown for name in cli.COMMANDS)


@pytest.mark.parametrize(
    "command",
    [
        *("checkpoints", "revert", "archives", "restore", "compact", "open", "export", "repair"),
        *("sessions list", "sessions show", "sessions rename", "sessions delete", "archives prune"),
    ],
)
def test_every_command_has_help_and_knows_json(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_main(*command.split(), "--help") == 0
    shown = capsys.readouterr().out
    assert f"agent-tui {command}" in shown
    assert "--json" in shown


@pytest.mark.parametrize(
    "arguments",
    [("--fly",), ("revert", "x"), ("revert", "x", "y"), ("-p", "a", "--output-format", "xml")],
    ids=" ".join,
)
def test_usage_errors_end_with_2(
    arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_main(*arguments) == 2
    assert "usage:" in capsys.readouterr().err


def test_help_and_version_load_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "from agent_tui import cli\n"
        "try:\n    cli.main(['--help'])\nexcept SystemExit: pass\n"
        "heavy = {'textual', 'rich', 'pydantic', 'openai', 'tiktoken', 'asyncio', 'tenacity'}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stderr == "[]\n"


def test_a_folder_that_was_deleted_under_us_is_no_traceback(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    code = (
        "import os, sys; os.chdir(sys.argv[1]); os.rmdir(sys.argv[1]);"
        "from agent_tui.cli import main; main(['sessions', 'list'])"
    )
    env = os.environ | {"AGENT_TUI_HOME": str(tmp_path / "home")}
    ran = subprocess.run(
        [sys.executable, "-c", code, str(gone)],
        capture_output=True,
        text=True,
        env=env,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.startswith("No sessions yet")


def test_a_terminal_that_knows_no_unicode_is_no_traceback(tmp_path: Path) -> None:
    env = os.environ | {"AGENT_TUI_HOME": str(tmp_path / "home"), "PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-m", "agent_tui", "open", "/nowhere/ünicode"]
    ran = subprocess.run(command, capture_output=True, text=True, env=env, check=False)
    assert ran.returncode == 1
    assert "\\xfcnicode" in ran.stderr
    assert "Traceback" not in ran.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_data_that_may_not_be_read_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    projects = tmp_path / "projects"
    projects.mkdir(mode=0)
    monkeypatch.setenv("AGENT_TUI_HOME", str(tmp_path))
    assert run_main("sessions", "list") == 1
    assert str(projects) in capsys.readouterr().err


def test_data_in_a_place_that_is_no_folder_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "home").write_text("no folder")
    monkeypatch.setenv("AGENT_TUI_HOME", str(tmp_path / "home"))
    for arguments in (("sessions", "list"), ("-p", "hi"), ("-c", "-p", "hi")):
        assert run_main(*arguments) in (1, 2)
        err = capsys.readouterr().err
        assert err.startswith("agent-tui: ")
        assert err.count("\n") == 1
