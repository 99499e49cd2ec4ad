"""Where a session runs is written down once when it changes, and said."""

from __future__ import annotations

from pathlib import Path

from agent_tui.core.events import NoticeGiven
from agent_tui.providers.demo.scenario import Reply
from tests.agent.stage import Stage


def check_out(workspace: Path, branch: str) -> None:
    (workspace / ".git").mkdir(exist_ok=True)
    (workspace / ".git" / "HEAD").write_text(f"ref: refs/heads/{branch}\n")


async def test_another_branch_is_recorded_once_and_told(tmp_path: Path) -> None:
    replies = tuple(Reply(text="ok") for _ in range(4))
    (tmp_path / "work").mkdir()
    check_out(tmp_path / "work", "main")
    async with Stage(tmp_path, *replies) as stage:
        await stage.say("a")
        assert not stage.on_disk("_environment")
        check_out(stage.workspace, "feature")
        await stage.say("b")
        await stage.say("c")
        (record,) = stage.on_disk("_environment")
        assert (record["cwd"], record["git_branch"]) == (str(stage.workspace), "feature")
        (notice,) = [e.text for e in stage.events if isinstance(e, NoticeGiven)]
        assert notice.startswith(f"Working in {stage.workspace} on branch feature")
        session_id = stage.session.session_id
    async with Stage(tmp_path, *replies, resume=session_id) as stage:
        await stage.say("d")
        assert len(stage.on_disk("_environment")) == 1
        check_out(stage.workspace, "main")
        await stage.say("e")
        assert [record["git_branch"] for record in stage.on_disk("_environment")] == [
            "feature",
            "main",
        ]


async def test_a_compaction_keeps_where_the_session_runs(tmp_path: Path) -> None:
    replies = tuple(Reply(text="Nothing was decided. " * 200) for _ in range(6))
    (tmp_path / "work").mkdir()
    check_out(tmp_path / "work", "main")
    async with Stage(tmp_path, *replies) as stage:
        await stage.say("a")
        check_out(stage.workspace, "feature")
        for prompt in ("b", "c", "d"):
            await stage.say(prompt)
        await stage.operations.compact()
        await stage.say("e")
        assert len(stage.on_disk("_environment")) == 1
