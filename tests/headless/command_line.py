"""The command line as a test drives it: in this process, or as a child of it."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from agent_tui import cli
from tests.terminal import PROGRAM, environment


@dataclass(frozen=True)
class Ran:
    """How a command ended and what it printed."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one JSON value on standard output."""
        return json.loads(self.out)

    @property
    def lines(self) -> list[dict[str, Any]]:
        """A JSON object for each line of standard output."""
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def sentence(self) -> str:
        """What went wrong: exactly one line on standard error, and no traceback."""
        assert self.err.startswith("agent-tui: "), self.err
        assert self.err.count("\n") == 1, self.err
        return self.err.removeprefix("agent-tui: ").strip()


class CommandLine:
    """``agent-tui`` with data of its own, called in this process."""

    def __init__(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        self.home = folder / "home"
        self.workspace = folder / "work"
        self.workspace.mkdir()
        self._capsys = capsys
        self._monkeypatch = monkeypatch
        for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "AGENT_TUI_MODEL"):
            monkeypatch.delenv(name, raising=False)
        self.set("AGENT_TUI_HOME", str(self.home))
        monkeypatch.chdir(self.workspace)

    def set(self, name: str, value: str) -> None:
        """Set a variable of the environment."""
        self._monkeypatch.setenv(name, value)

    def __call__(self, *arguments: object) -> Ran:
        with pytest.raises(SystemExit) as ended:
            cli.main([str(argument) for argument in arguments])
        printed = self._capsys.readouterr()
        code = ended.value.code
        return Ran(code if isinstance(code, int) else 0, printed.out, printed.err)

    def logs(self) -> list[Path]:
        """Every live log."""
        return sorted(self.home.glob("projects/*/*/context.jsonl"))

    def records(self, role: str) -> list[dict[str, Any]]:
        """The lines of one role in the only log there is."""
        (path,) = self.logs()
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        return [line for line in lines if line["role"] == role]

    def spawn(self, *arguments: object, **variables: str) -> subprocess.Popen[str]:
        """The real program in a process of its own."""
        return subprocess.Popen(
            [str(PROGRAM), *map(str, arguments)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.workspace,
            env=environment(self.home, **variables),
        )


def run_program(home: Path, *arguments: object, given: str = "", **variables: str) -> Ran:
    """The real program, to its end."""
    ran = subprocess.run(
        [sys.executable, "-m", "agent_tui", *map(str, arguments)],
        input=given,
        capture_output=True,
        text=True,
        cwd=home.parent,
        env=environment(home, **variables),
        check=False,
        timeout=60,
    )
    return Ran(ran.returncode, ran.stdout, ran.stderr)
