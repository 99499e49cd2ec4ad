"""A turn that overflows a real window, in a real terminal: compacted, undone, redone, reviewed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e import long_read
from tests.e2e.stage import assert_valid, echoes, is_summary_request, quit_by_command, say
from tests.providers.sse_server import Answer, Seen, SseServer, failure
from tests.terminal import Terminal

pytestmark = pytest.mark.timeout(600)

PREVIEW = "Compaction preview"


@pytest.fixture
def server() -> Iterator[SseServer]:
    with SseServer(reply=long_read.read_on) as server:
        yield server


def wait_for_end(terminal: Terminal) -> None:
    terminal.wait_for(lambda text: long_read.END in text and "● ready" in text)


def wait_for_preview(terminal: Terminal, server: SseServer, number: int) -> None:
    """Wait until the pane shows all that was said by now, with the whole summary."""
    terminal.wait_for(lambda _: summaries_asked(server) == number)
    said = len(server.requests[-2].body["messages"]) + 1
    wanted = (PREVIEW, f"{said} messages", "% saved")
    terminal.wait_for(lambda text: all(part in text for part in wanted))


def decide(terminal: Terminal, server: SseServer, key: str) -> Seen:
    """Press a key in the pane; what the model is asked next."""
    asked = len(server.requests)
    terminal.press(key)
    terminal.wait_for(lambda _: len(server.requests) > asked)
    return server.requests[asked]


def summaries_asked(server: SseServer) -> int:
    return sum(map(is_summary_request, server.requests))


def assert_all_valid(server: SseServer) -> None:
    for seen in server.requests:
        assert_valid(seen.body["messages"])


def test_a_turn_that_overflows_is_compacted_shown_undone_and_redone(
    tmp_path: Path, server: SseServer
) -> None:
    stage = long_read.set_up(tmp_path, server)
    with stage.open() as terminal:
        terminal.wait_for("Ask anything")
        say(terminal, long_read.PROMPT)
        wait_for_end(terminal)

        # The turn was compacted before a step, and that step saw the summary.
        disk = stage.disk.of(stage.disk.session_id)
        assert summaries_asked(server) == 1
        *before, last = server.requests
        assert is_summary_request(before[-1])
        assert long_read.SUMMARY in json.dumps(last.body["messages"])
        assert len(last.body["messages"]) < len(before[-2].body["messages"])
        assert_all_valid(server)
        assert disk.archives() == [1]
        overflowing, compacted = disk.archive(1), disk.log.read_bytes()
        (record,) = [r for r in disk.records() if r["role"] == "_compaction"]
        assert (record["trigger"], record["archive"]) == ("auto", 1)
        assert record["post_tokens"] < record["pre_tokens"]
        assert disk.roles(1).count("assistant") == len(before) - 1
        assert disk.records()[-1]["content"] == long_read.END

        # A click on its row shows it, before and after side by side.
        terminal.click_on("≡ compacted")
        terminal.wait_for(lambda text: "archive 1" in text and "auto" in text)
        terminal.wait_for(long_read.PROMPT)
        terminal.press("escape")
        terminal.wait_for("● ready")
        terminal.press("escape")  # from the row back to the prompt
        assert disk.log.read_bytes() == compacted

        # The turn went on after the compaction: undo keeps that future in a fork.
        say(terminal, "/undo")
        terminal.wait_for(lambda _: disk.archives() == [1, 2])
        assert disk.log.read_bytes().startswith(overflowing)
        assert disk.archive(2) == compacted
        assert [r["reason"] for r in disk.records() if r["role"] == "_revert"] == ["undo"]
        terminal.wait_for(lambda text: long_read.END not in text)
        (fork,) = set(stage.disk.sessions()) - {disk.session_id}
        assert long_read.END in stage.disk.of(fork).log.read_text()

        say(terminal, "/redo")
        terminal.wait_for(lambda _: disk.archives() == [1, 2, 3])
        assert disk.log.read_bytes().startswith(compacted)
        terminal.wait_for(long_read.END)
        assert summaries_asked(server) == 1
        quit_by_command(terminal)
    assert disk.archives() == [1, 2, 3]


def test_an_automatic_compaction_is_applied_in_the_middle_of_its_turn(
    tmp_path: Path, server: SseServer
) -> None:
    stage = long_read.set_up(tmp_path, server, long_read.REVIEWED)
    with stage.open() as terminal:
        terminal.wait_for("Ask anything")
        say(terminal, long_read.PROMPT)
        wait_for_preview(terminal, server, 1)
        waiting = stage.disk.log.read_bytes()
        assert stage.disk.archives() == []
        following = decide(terminal, server, "a")
        assert long_read.SUMMARY in json.dumps(following.body["messages"])
        wait_for_end(terminal)
        assert stage.disk.archives() == [1]
        assert stage.disk.archive(1) == waiting
        assert summaries_asked(server) == 1
        assert_all_valid(server)
        echoes(terminal)
        quit_by_command(terminal)


def test_a_declined_compaction_lets_the_turn_go_on_and_is_offered_again(
    tmp_path: Path, server: SseServer
) -> None:
    stage = long_read.set_up(tmp_path, server, long_read.REVIEWED)
    with stage.open() as terminal:
        terminal.wait_for("Ask anything")
        say(terminal, long_read.PROMPT)
        for number in range(1, long_read.PARTS):
            wait_for_preview(terminal, server, number)
            waiting = stage.disk.log.read_bytes()
            following = decide(terminal, server, "escape")
            assert not is_summary_request(following)
            assert stage.disk.log.read_bytes().startswith(waiting)
            if long_read.is_end(following):
                break
        wait_for_end(terminal)
        assert number > 1
        assert stage.disk.archives() == []
        assert "_compaction" not in stage.disk.roles()
        assert_all_valid(server)
        echoes(terminal)
        quit_by_command(terminal)


def test_a_turn_goes_on_when_its_summary_fails(tmp_path: Path) -> None:
    with SseServer() as server:

        def refuse_to_summarise(seen: Seen) -> Answer:
            if is_summary_request(seen):
                return failure(500, {"error": {"message": "out of order"}})
            return long_read.end() if summaries_asked(server) else long_read.read_on(seen)

        server.reply = refuse_to_summarise
        stage = long_read.set_up(tmp_path, server, f"{long_read.CONFIG}[agent]\nmax_attempts = 2\n")
        with stage.open() as terminal:
            terminal.wait_for("Ask anything")
            say(terminal, long_read.PROMPT)
            terminal.wait_for("Retry 1 in")
            wait_for_end(terminal)
            assert summaries_asked(server) == 2
            assert_all_valid(server)
            (record,) = [r for r in stage.disk.records() if r["role"] == "_compaction"]
            assert (record["fallback"], record["retries"]) == (True, 1)
            assert stage.disk.archives() == [1]
            terminal.wait_for("by the fallback")
            terminal.wait_for("No summary could be made")
            echoes(terminal)
            quit_by_command(terminal)
