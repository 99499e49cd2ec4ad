"""Where the end-to-end tests play: a data folder, a workspace, a server; what is on the disk."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.providers.sse_server import Seen, SseServer
from tests.terminal import PROGRAM, Terminal, environment

KEY = "sk-canary-0123456789abcdefghijklmnop"
LIVE = "context.jsonl"
_REFUSALS = 10

Fields = dict[str, Any]


class Disk:
    """What the data folder holds: the only truth that these tests believe."""

    def __init__(self, home: Path, session_id: str = "*") -> None:
        self.home = home
        self._session_id = session_id

    def sessions(self) -> list[str]:
        """The ids of all sessions, in the order of their names."""
        return sorted(path.parent.name for path in self.home.glob(f"projects/*/*/{LIVE}"))

    def of(self, session_id: str) -> Disk:
        """What is there of one session of several."""
        return Disk(self.home, session_id)

    @property
    def log(self) -> Path:
        """The live log of the only session, or of the one that was named."""
        (log,) = self.home.glob(f"projects/*/{self._session_id}/{LIVE}")
        return log

    @property
    def session_id(self) -> str:
        return self.log.parent.name

    def records(self, archive: int = 0) -> list[Fields]:
        """What was said and done; captures of files come behind it whenever they are ready."""
        return [each for each in self.lines(archive) if each["role"] != "_workspace"]

    def captures(self) -> list[Fields]:
        """What was captured of the files."""
        return [each for each in self.lines() if each["role"] == "_workspace"]

    def lines(self, archive: int = 0) -> list[Fields]:
        path = self.log.with_name(f"{LIVE}.{archive}") if archive else self.log
        return [json.loads(line) for line in path.read_bytes().split(b"\n") if line]

    def roles(self, archive: int = 0) -> list[str]:
        return [record["role"] for record in self.records(archive)]

    def archives(self) -> list[int]:
        return sorted(
            int(path.suffix[1:])
            for path in self.log.parent.glob(f"{LIVE}.*")
            if path.suffix[1:].isdecimal()
        )

    def archive(self, number: int) -> bytes:
        return self.log.with_name(f"{LIVE}.{number}").read_bytes()


class Stage:
    """A home and a workspace for the real program, and the server that it is to ask."""

    def __init__(self, folder: Path, server: SseServer | None = None, config: str = "") -> None:
        self.home = folder / "home"
        self.workspace = folder / "workspace"
        self.home.mkdir(parents=True)
        self.workspace.mkdir()
        if config:
            (self.home / "config.toml").write_text(config)
        self.disk = Disk(self.home)
        self.env = environment(self.home)
        if server is not None:
            self.env |= {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": server.url}

    def open(self, *arguments: str, columns: int = 120, rows: int = 40) -> Terminal:
        """The program on a screen."""
        return Terminal(
            list(arguments), env=self.env, cwd=self.workspace, columns=columns, rows=rows
        )

    def run(self, *arguments: str, seconds: float = 60) -> subprocess.CompletedProcess[str]:
        """The program without a screen, to its end."""
        return subprocess.run(
            [str(PROGRAM), *arguments],
            env=self.env,
            cwd=self.workspace,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )


def pause_guard(terminal: Terminal) -> None:
    """Approvals ignore keys that come before a person can have read anything."""
    terminal.pump(0.8)


def refuse(terminal: Terminal, question: str) -> None:
    """Press Esc as a person does: again, if the question that shows a text still stands."""
    pressed = 0
    while question in terminal.text and pressed < _REFUSALS:
        terminal.press("escape")
        with suppress(AssertionError):
            terminal.wait_for(lambda text: question not in text, 0.4)
        pressed += 1
    assert question not in terminal.text, f"Esc was pressed {pressed} times\n{terminal.text}"


def say(terminal: Terminal, text: str) -> None:
    """Type a prompt or a command and send it."""
    terminal.write(text)
    terminal.press("enter")


def quit_by_command(terminal: Terminal) -> None:
    """Leave as a user does; the program must end well."""
    say(terminal, "/exit")
    assert terminal.wait_until_closed() == 0


def echoes(terminal: Terminal, word: str = "still here") -> None:
    """The app lives: what is typed appears in the prompt, and can be taken back."""
    terminal.write(word)
    terminal.wait_for(word)
    terminal.press("ctrl+u")
    terminal.wait_for(lambda text: word not in text)


def plain(text: str) -> str:
    """The words of a screen in one line, without what is drawn around them."""
    return re.sub(r"[\s│▌┃]+", " ", text)


def is_summary_request(seen: Seen) -> bool:
    """Whether the server was asked to summarise: no tools are offered then."""
    return not seen.body.get("tools")


def assert_valid(messages: Sequence[Fields]) -> None:
    """What every server demands: each call has its result right behind it, each result a call."""
    waiting: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            assert message["tool_call_id"] in waiting, f"a result without a call: {message}"
            waiting.remove(message["tool_call_id"])
            continue
        assert not waiting, f"calls {waiting} have no result before {message}"
        waiting = [call["id"] for call in message.get("tool_calls") or ()]
        for call in message.get("tool_calls") or ():
            json.loads(call["function"]["arguments"])
    assert not waiting, f"calls {waiting} have no result"
