"""Servers that others wrote: time and git from PyPI, everything from npm, and one over HTTP."""

from __future__ import annotations

import stat
import subprocess
import sys
from pathlib import Path
from shutil import which

import pytest

from agent_tui.config import McpServerSettings
from agent_tui.core.errors import ToolError
from tests.mcp.http_server import served
from tests.mcp.oauth_server import guarded
from tests.mcp.stage import McpStage

BIN = Path(sys.executable).parent
EVERYTHING = which("mcp-server-everything")


async def test_the_time_server_tells_the_time(tmp_path: Path) -> None:
    time_server = McpServerSettings(
        command=str(BIN / "mcp-server-time"), args=("--local-timezone", "UTC")
    )
    async with McpStage(tmp_path, time=time_server) as stage:
        assert "time__get_current_time" in stage.status("time").tools
        told = await stage.call("time__get_current_time", timezone="Asia/Tokyo")
        assert '"timezone": "Asia/Tokyo"' in told.output
        refused = await stage.call("time__get_current_time", timezone="Nowhere/Land")
        assert refused.is_error
        assert "Nowhere/Land" in refused.output


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    repository = tmp_path / "repository"
    subprocess.run(["git", "init", "-q", "-b", "main", str(repository)], check=True)
    (repository / "new.txt").write_text("hello\n")
    return repository


async def test_the_git_server_reads_and_writes_a_repository(
    tmp_path: Path, repository: Path
) -> None:
    git = McpServerSettings(
        command=str(BIN / "mcp-server-git"), args=("--repository", str(repository))
    )
    async with McpStage(tmp_path, git=git) as stage:
        path = str(repository)
        assert "new.txt" in (await stage.call("git__git_status", repo_path=path)).output
        await stage.call("git__git_add", repo_path=path, files=["new.txt"])
        staged = await stage.call("git__git_diff_staged", repo_path=path)
        assert "+hello" in staged.output


@pytest.mark.skipif(EVERYTHING is None, reason="server-everything (npm) is not installed")
async def test_the_everything_server_works_whole(tmp_path: Path) -> None:
    server = McpServerSettings(command=EVERYTHING or "")
    async with McpStage(tmp_path, everything=server) as stage:
        status = stage.status("everything")
        assert status.state == "ready", status.detail
        assert "everything__echo" in status.tools
        echoed = await stage.call("everything__echo", message="hello")
        assert "hello" in echoed.output
        image = next(name for name in status.tools if "image" in name.lower())
        assert "[image image/png" in (await stage.call(image)).output


async def test_a_server_over_http_is_asked_with_its_headers(tmp_path: Path) -> None:
    with served() as (url, seen):
        web = McpServerSettings(url=url, headers={"X-Mine": "yes"})
        async with McpStage(tmp_path, web=web) as stage:
            assert stage.status("web").state == "ready", stage.status("web").detail
            added = await stage.call("web__add", a=2, b=3)
            assert "5" in added.output
            assert all(headers["x-mine"] == "yes" for headers in seen)


async def test_a_server_over_http_that_is_not_there_is_told(tmp_path: Path) -> None:
    web = McpServerSettings(url="http://127.0.0.1:9/mcp", start_seconds=20)
    async with McpStage(tmp_path, web=web) as stage:
        assert stage.status("web").state == "failed"
        assert "The connection failed" in stage.status("web").detail


async def test_a_server_over_http_that_ends_fails_the_call(tmp_path: Path) -> None:
    with served() as (url, _):
        web = McpServerSettings(url=url, call_seconds=10)
        stage = McpStage(tmp_path, web=web)
        await stage.__aenter__()
    with pytest.raises(ToolError, match="web__add"):
        await stage.call("web__add", a=1, b=2)
    await stage.servers.aclose()


@pytest.mark.skipif(which("curl") is None, reason="curl, which stands in for a browser, is missing")
async def test_a_server_that_wants_a_sign_in_gets_one_and_the_token_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BROWSER", "curl --silent --location --output /dev/null %s")
    with guarded() as (url, sign_in):
        web = McpServerSettings(url=url, oauth=True)
        async with McpStage(tmp_path, web=web) as stage:
            assert stage.status("web").state == "ready", stage.status("web").detail
            assert (await stage.call("web__secret")).output == "swordfish"
        (token,) = (tmp_path / "mcp" / "tokens").iterdir()
        assert stat.S_IMODE(token.stat().st_mode) == 0o600
        assert sign_in.sign_ins == 1
        async with McpStage(tmp_path, web=web) as stage:
            assert (await stage.call("web__secret")).output == "swordfish"
        assert (sign_in.sign_ins, sign_in.registrations) == (1, 1)


async def test_without_oauth_a_server_that_wants_a_sign_in_is_told(tmp_path: Path) -> None:
    with guarded() as (url, _):
        async with McpStage(tmp_path, web=McpServerSettings(url=url)) as stage:
            assert stage.status("web").state == "failed"
            assert "oauth = true" in stage.status("web").detail
