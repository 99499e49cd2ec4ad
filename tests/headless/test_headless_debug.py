"""The debug log: named events with levels in a private file, and no word of what was said."""

from __future__ import annotations

import stat
import sys

import pytest

from tests.headless.command_line import CommandLine, run_program
from tests.mcp.stage import ODD
from tests.providers.sse_server import SseServer, failure, finish_chunk, stream, text_chunk

pytestmark = pytest.mark.slow

KEY = "sk-canary-0123456789abcdef"


def test_events_are_logged_by_name_and_level_and_nothing_is_printed(run: CommandLine) -> None:
    run("mcp", "add", "odd", sys.executable, str(ODD), "dies at once")
    with SseServer() as server:
        server.answers += [
            failure(429, {"error": {"message": "slow"}}, Retry_After="0"),
            stream(text_chunk("A secret answer."), finish_chunk()),
        ]
        keys = {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": KEY}
        ran = run_program(run.home, "--debug", "-p", "A secret question", **keys)
    assert ran.code == 0
    assert ran.out == "A secret answer.\n"
    path = run.home / "logs" / "debug.log"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    lines = path.read_text().splitlines()
    kinds = {(line.split()[1], line.split()[3]) for line in lines if "agent_tui.events" in line}
    assert {("INFO", "TurnBegan"), ("WARNING", "StepRetried"), ("DEBUG", "TextDelta")} <= kinds
    assert any("server odd is failed" in line for line in lines)
    assert "secret" not in path.read_text()
    assert KEY not in path.read_text()


def test_without_the_flag_there_is_no_log(run: CommandLine) -> None:
    with SseServer() as server:
        run_program(run.home, "-p", "Hi", OPENAI_BASE_URL=server.url, OPENAI_API_KEY=KEY)
    assert not (run.home / "logs").exists()
