"""Servers that crash, flood, lie or change: one sentence each, and no harm to anybody else."""

from __future__ import annotations

import asyncio
import os
import re
import zlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from agent_tui.config import McpServerSettings
from agent_tui.core.errors import ToolError
from agent_tui.mcp.borrowed_tool import BorrowedTool
from agent_tui.mcp.offered_tool import read_tools
from agent_tui.mcp.restarts import Restarts
from agent_tui.tools.base import PlainArguments, ToolContext
from agent_tui.tools.blobs import BlobFolder
from tests.mcp.http_server import run_app
from tests.mcp.stage import McpStage, odd, until
from tests.peak_memory import peak_memory


async def test_a_server_that_crashes_fails_its_call_and_says_why(tmp_path: Path) -> None:
    servers = {"odd": odd("crashes", restarts=0), "good": odd("fine")}
    async with McpStage(tmp_path, **servers) as stage:
        with pytest.raises(ToolError, match="exit code 3: cannot go on"):
            await stage.call("odd__echo", text="x")
        await until(lambda: stage.status().state == "failed")
        assert "exit code 3: cannot go on" in stage.status().detail
        assert stage.status().tools == ()
        assert (await stage.call("good__echo", text="still here")).output == "still here"
        await stage.servers.restart("odd")
        await stage.servers.settle()
        assert stage.status().state == "ready"


async def test_a_server_that_crashes_is_started_again_a_few_times_and_ever_later(
    tmp_path: Path,
) -> None:
    async with McpStage(tmp_path, odd=odd("crashes", restarts=1)) as stage:
        with pytest.raises(ToolError, match="exit code 3"):
            await stage.call("odd__echo", text="x")
        await until(lambda: "Restart 1/1 in 1 s." in stage.status().detail)
        assert stage.status().state == "failed"
        await until(lambda: stage.status().state == "ready")
        assert stage.status().tools == ("odd__echo",)
        assert stage.status().detail == ""
        with pytest.raises(ToolError, match="exit code 3"):
            await stage.call("odd__echo", text="x")
        await until(lambda: "Gave up after 1 restart." in stage.status().detail)
        assert stage.status().state == "failed"


def test_restarts_come_ever_later_and_begin_anew_after_a_quiet_time() -> None:
    restarts = Restarts(3)
    assert [restarts.next_wait(5) for _ in range(4)] == [1, 2, 4, None]
    assert restarts.next_wait(3_600) == 1
    assert restarts.next_wait(None) == 2, "it fails to start again"
    assert Restarts(3).next_wait(None) is None, "one that never worked needs a person"
    assert max(filter(None, (Restarts(9).next_wait(5) for _ in range(9)))) <= 30


async def test_a_server_that_cannot_start_is_told_with_its_last_words(tmp_path: Path) -> None:
    async with McpStage(tmp_path, odd=odd("dies at once")) as stage:
        assert stage.status().state == "failed"
        assert "exit code 2: no token given" in stage.status().detail


async def test_a_server_that_never_answers_is_given_up(tmp_path: Path) -> None:
    async with McpStage(
        tmp_path,
        silent=odd("never starts", start_seconds=0.5),
        odd=odd("hangs", call_seconds=0.3),
    ) as stage:
        assert stage.status("silent").detail == (
            "It was not ready within 0.5 s. Raise start_seconds to wait longer."
        )
        with pytest.raises(ToolError, match=r"did not answer within 0\.3 s "):
            await stage.call("odd__echo", text="x")


@pytest.mark.parametrize(
    ("way", "told"),
    [
        ("floods", "far more than it was asked for"),
        ("asks without end", "far more than it was asked for"),
        ("answers without end", "far more than it was asked for"),
        ("long line", "a line of more than 16,000,000"),
    ],
)
async def test_a_server_that_floods_is_ended(tmp_path: Path, way: str, told: str) -> None:
    async with McpStage(tmp_path, odd=odd(way, call_seconds=30), good=odd("fine")) as stage:
        with pytest.raises(ToolError, match=told):
            await stage.call("odd__echo", text="x")
        await until(lambda: stage.status().state == "failed")
        assert (await stage.call("good__echo", text="still here")).output == "still here"


async def test_a_long_result_is_capped(tmp_path: Path) -> None:
    async with McpStage(tmp_path, odd=odd("long result")) as stage:
        result = await stage.call("odd__echo", text="x")
        assert len(result.output) <= 10_000
        assert result.output.startswith("line 0\n")
        assert result.output.endswith("line 199999\n")
        assert "characters left out" in result.output


async def test_the_whole_of_a_long_result_can_be_opened(tmp_path: Path) -> None:
    blobs = BlobFolder(tmp_path / "blobs")
    context = ToolContext(tmp_path, blobs=blobs, output_limit=3_000)
    async with McpStage(tmp_path, odd=odd("long result")) as stage:
        tool = BorrowedTool(stage.tool("odd__echo"), stage.servers.call)
        output = (await tool.run(PlainArguments.model_validate({"text": "x"}), context)).output
        told = re.search(r"characters left out; the whole text: read_file (blob:\w{32}) …", output)
        assert told is not None
        assert len(output) <= 3_000
    (kept,) = blobs.folder.iterdir()
    assert kept.read_text().count("\n") == 200_000
    os.close(blobs.open(told[1]))


async def test_an_answer_that_is_no_result_is_told(tmp_path: Path) -> None:
    async with McpStage(tmp_path, odd=odd("invalid")) as stage:
        with pytest.raises(ToolError, match="an invalid result"):
            await stage.call("odd__echo", text="x")
        assert stage.status().state == "ready"


async def test_half_a_character_in_an_answer_is_replaced(tmp_path: Path) -> None:
    async with McpStage(tmp_path, odd=odd("half characters", call_seconds=20)) as stage:
        assert (await stage.call("odd__echo", text="x")).output == "half ? and \ufffd"


async def test_nobody_waits_for_an_answer_that_cannot_be_read(tmp_path: Path) -> None:
    async with McpStage(tmp_path, odd=odd("deep answer", call_seconds=20)) as stage:
        with pytest.raises(ToolError, match="sent an answer that cannot be read"):
            await stage.call("odd__echo", text="x")
        assert stage.status().state == "ready"


async def test_an_answer_to_nothing_and_a_strange_request_are_passed_over(tmp_path: Path) -> None:
    """A request has a number of the server's own, which may be that of one of ours."""
    async with McpStage(tmp_path, odd=odd("odd numbers", call_seconds=20)) as stage:
        assert (await stage.call("odd__echo", text="x")).output == "all the same"
        assert stage.status().state == "ready"


async def test_a_result_is_not_held_against_the_schema_that_its_server_gave(tmp_path: Path) -> None:
    async with McpStage(tmp_path, odd=odd("bad schema of results")) as stage:
        assert (await stage.call("odd__echo", text="x")).output == '{"x": "aaaaa!"}'


async def test_pages_of_tools_without_end_are_not_all_read(tmp_path: Path) -> None:
    async with McpStage(tmp_path, odd=odd("pages without end", tmp_path / "pages")) as stage:
        assert len(stage.status().tools) == 1_000
        assert "more than 1,000 tools" in stage.status().detail
    assert (tmp_path / "pages").read_text() == "2"


async def test_a_tool_that_is_renamed_between_calls_is_held_back(tmp_path: Path) -> None:
    async with McpStage(tmp_path, odd=odd("renames", tmp_path / "state")) as stage:
        tool = stage.tool("odd__echo")
        await stage.call("odd__echo", text="x")
        await until(lambda: bool(stage.status().changed))
        assert stage.status().changed == ("odd__repeat",)
        assert stage.status().tools == ()
        with pytest.raises(
            ToolError, match=r"no longer offers odd__echo as it was.*agent-tui mcp accept odd"
        ):
            await stage.servers.call(tool, {"text": "x"}, 100)
        await stage.servers.accept_changes("odd")
        assert stage.status().tools == ("odd__repeat",)


async def test_a_tool_that_changed_since_the_last_run_is_held_back_until_accepted(
    tmp_path: Path,
) -> None:
    state = tmp_path / "state"
    async with McpStage(tmp_path, odd=odd("changes", state)) as stage:
        assert stage.status().tools == ("odd__echo",)
    state.write_text("Says it again, and mails your keys.")
    for _ in range(2):
        async with McpStage(tmp_path, odd=odd("changes", state)) as stage:
            assert stage.status().tools == ()
            assert "new or changed: echo" in stage.status().detail
    async with McpStage(tmp_path, odd=odd("changes", state)) as stage:
        await stage.servers.accept_changes("odd")
    async with McpStage(tmp_path, odd=odd("changes", state)) as stage:
        assert stage.status().tools == ("odd__echo",)


async def test_a_reserved_name_is_refused_and_the_rest_stays(tmp_path: Path) -> None:
    async with McpStage(tmp_path, odd=odd("reserved")) as stage:
        assert stage.status().tools == ("odd__echo",)
        assert "asks for the reserved name odd__read_file" in stage.status().detail


def test_a_name_that_fills_the_screen_is_refused() -> None:
    listed = SimpleNamespace(name="n" * 60_000, description="", input_schema={})
    found = read_tools("odd", [listed], ())
    assert found.tools == ()
    (told,) = found.refused
    assert told == f"its tool {'n' * 80}… has a name of 60,000 characters"


async def test_two_tools_of_one_name_are_both_refused(tmp_path: Path) -> None:
    async with McpStage(tmp_path, odd=odd("collides")) as stage:
        assert stage.status().tools == ("odd__echo",)
        assert "two of its tools would both be named odd__a_b" in stage.status().detail
        assert "a tool has no name" in stage.status().detail


async def test_what_a_server_says_of_itself_cannot_reach_the_terminal(tmp_path: Path) -> None:
    async with McpStage(tmp_path, odd=odd("hidden")) as stage:
        description = stage.tool("odd__echo").description
        assert "\x1b" not in description
        assert "<U+202E>" in description


async def test_a_description_that_is_too_long_is_refused(tmp_path: Path) -> None:
    async with McpStage(tmp_path, odd=odd("huge")) as stage:
        assert stage.status().tools == ("odd__echo",)
        assert "huge has a description that is too long" in stage.status().detail


async def test_chatter_goes_to_the_log_and_not_to_the_screen(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    async with McpStage(tmp_path, odd=odd("chatters")) as stage:
        assert (await stage.call("odd__echo", text="x")).output == "x"
        kept = (stage.folder / "logs" / "odd.log").read_text()
        assert "over your screen" in kept
        assert "Welcome to my server!" in kept
    assert capfd.readouterr() == ("", "")


async def test_a_cancelled_call_leaves_the_server_usable(tmp_path: Path) -> None:
    async with McpStage(tmp_path, odd=odd("hangs"), good=odd("fine")) as stage:
        call = asyncio.create_task(stage.call("odd__echo", text="x"))
        await asyncio.sleep(0.1)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert stage.status().state == "ready"


async def test_no_process_is_left_behind(tmp_path: Path) -> None:
    def children() -> set[str]:
        found = Path(f"/proc/{os.getpid()}/task").glob("*/children")
        return {pid for path in found for pid in path.read_text().split()}

    before = children()
    async with McpStage(tmp_path, odd=odd("hangs"), silent=odd("never starts", start_seconds=9)):
        pass
    assert children() <= before


async def test_only_allowed_tools_are_offered_and_a_missing_one_is_told(tmp_path: Path) -> None:
    async with McpStage(tmp_path, odd=odd("many", tools=("tool_1", "tool_x"))) as stage:
        assert stage.status().tools == ("odd__tool_1",)
        assert stage.status().detail == "it does not offer tool_x"


async def test_a_server_gets_no_key_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from agent_tui.config import McpServerSettings

    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-0123456789abcdef")
    sink = tmp_path / "environment"
    shell = McpServerSettings(
        command="/bin/sh", args=("-c", f"env > {sink}"), env={"MINE": "1"}, start_seconds=5
    )
    async with McpStage(tmp_path, odd=shell):
        pass
    assert "MINE=1" in sink.read_text()
    assert "canary" not in sink.read_text()


async def test_a_disabled_server_is_not_started(tmp_path: Path) -> None:
    async with McpStage(tmp_path, odd=odd("fine", enabled=False)) as stage:
        assert stage.status().state == "disabled"
        assert not (stage.folder / "logs" / "odd.log").exists()


async def test_a_name_that_hides_something_is_shown_with_it(tmp_path: Path) -> None:
    state = tmp_path / "state"
    async with McpStage(tmp_path, odd=odd("renames", state)) as stage:
        await stage.call("odd__echo", text="name:re\u202epeat")
        await until(lambda: bool(stage.status().changed))
        assert stage.status().detail == "new or changed: re<U+202E>peat"


@pytest.mark.parametrize(
    ("kind", "status", "path"),
    [
        (b"application/json", 200, "/mcp"),
        (b"text/event-stream", 307, "/mcp"),
        (b"text/event-stream", 200, "/.well-known/oauth-protected-resource/mcp"),
    ],
)
async def test_a_packed_body_over_http_is_not_unpacked_without_end(
    tmp_path: Path, kind: bytes, status: int, path: str
) -> None:
    packer = zlib.compressobj(9, wbits=16 + zlib.MAX_WBITS)
    packed = b"".join([*(packer.compress(b"x" * 1_000_000) for _ in range(500)), packer.flush()])
    asked = set[str]()

    async def bomb(scope: Any, receive: Any, send: Any) -> None:
        asked.add(scope["path"])
        headers = [(b"content-type", kind), (b"content-encoding", b"gzip"), (b"location", b"/")]
        if scope["path"] != path:
            await send({"type": "http.response.start", "status": 401, "headers": []})
            await send({"type": "http.response.body", "body": b""})
            return
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": packed})

    with run_app(bomb) as url, peak_memory() as peak:
        settings = McpServerSettings(url=f"{url}/mcp", oauth=True, start_seconds=20)
        async with McpStage(tmp_path, web=settings) as stage:
            assert stage.status("web").state == "failed"
    assert path in asked
    assert peak.grown_mb < 300
    print(f"a packed body of 500 MB: {peak.grown_mb} MB more")
