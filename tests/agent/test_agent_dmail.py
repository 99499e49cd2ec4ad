"""An agent that can send D-Mails goes back in time; what it leaves stays on disk."""

from __future__ import annotations

from pathlib import Path

from inline_snapshot import snapshot

from agent_tui.core.events import ApprovalAnswer, ApprovalRequested, DMailSent, TurnFinished
from agent_tui.core.messages import text_of
from agent_tui.core.records import UserMessage
from agent_tui.providers.demo.scenario import Reply
from agent_tui.providers.demo.scripted import Scripted
from tests.agent.stage import Stage, call

DMAIL = "The answer is in b.txt, line 3; a.txt is useless."


def look(pattern: str = "*") -> Reply:
    return Reply(text="I look.", calls=(call("find_files", pattern=pattern),))


def back(checkpoint: int, message: str = DMAIL) -> Reply:
    return Reply(calls=(call("send_dmail", checkpoint=checkpoint, message=message),))


async def test_a_dmail_goes_back_and_the_step_is_made_again_with_its_message(
    tmp_path: Path,
) -> None:
    script = (look(), back(1), Reply(text="It is in b.txt."))
    async with Stage(tmp_path, *script, spec="time-traveller") as stage:
        assert await stage.say("Where is it?") == "done"
        assert stage.transcript() == snapshot(
            [
                "checkpoint 0 (turn 1, step 0)",
                "turn 1: Where is it?",
                "checkpoint 1 (turn 1, step 1)",
                "step 1",
                "text: I look.",
                "call find_files",
                'start find_files {"pattern": "*"}',
                "ok find_files: No file fits *.",
                "checkpoint 2 (turn 1, step 2)",
                "step 2",
                "call send_dmail",
                'start send_dmail {"checkpoint": 1, "message": "The answer is in b.txt, line 3; a.txt is useless."}',  # noqa: E501 - as it is shown
                "ok send_dmail: Accepted: it goes to checkpoint 1 after ",
                "dmail to 1: The answer is in b.txt, line 3; a.txt is useless.",
                "checkpoint 1 (turn 1, step 2)",
                "dmail: archive 1",
                "checkpoint 2 (turn 1, step 3)",
                "step 3",
                "text: It is in b.txt.",
                "turn 1 done after 3",
            ]
        )
        said = [(m["origin"], m["content"]) for m in stage.on_disk("user")]
        assert [origin for origin, _ in said] == [
            "human",
            "checkpoint",
            "dmail",
            "checkpoint",
        ]
        assert said[2][1].endswith(DMAIL)
        archive = stage.lines(stage.log.with_name("context.jsonl.1"))
        assert any(line.get("tool_calls") for line in archive)
        assert not [m for m in stage.on_disk("assistant") if m.get("tool_calls")]


async def test_only_agents_that_list_it_are_told_of_checkpoints(tmp_path: Path) -> None:
    async with Stage(tmp_path, Reply(text="ok")) as stage:
        await stage.say("Hi")
        assert [m["origin"] for m in stage.on_disk("user")] == ["human"]
        assert isinstance(stage.provider, Scripted)
        names = [tool.name for tool in stage.provider.requests[-1].tools]
        assert "send_dmail" not in names


async def test_a_dmail_to_nowhere_and_a_second_one_are_refused(tmp_path: Path) -> None:
    both = Reply(
        calls=(
            call("send_dmail", id="a", checkpoint=-1, message="x"),
            call("send_dmail", id="b", checkpoint=99, message="x"),
            call("send_dmail", id="c", checkpoint=0, message="x"),
            call("send_dmail", id="d", checkpoint=1, message="first"),
            call("send_dmail", id="e", checkpoint=1, message="second"),
        )
    )
    async with Stage(tmp_path, both, Reply(text="ok"), spec="time-traveller") as stage:
        assert await stage.say("Go") == "done"
        archive = stage.lines(stage.log.with_name("context.jsonl.1"))
        results = {m["tool_call_id"]: m["content"] for m in archive if m["role"] == "tool"}
        assert results["a"] == "Expected a checkpoint of 0 or more, got -1."
        assert results["b"] == "This session has no checkpoint 99; it has: 1."
        assert results["c"].startswith("This session has no checkpoint 0;")
        assert results["d"].startswith("Accepted")
        assert results["e"].startswith("A D-Mail was already sent")
        (mail,) = [m for m in stage.on_disk("user") if m["origin"] == "dmail"]
        assert mail["content"].endswith("first")


async def test_what_the_user_asked_since_is_not_lost_with_the_future(tmp_path: Path) -> None:
    script = (Reply(text="Hello."), look(), back(1), Reply(text="ok"))
    async with Stage(tmp_path, *script, spec="time-traveller") as stage:
        await stage.say("Hi")
        assert await stage.say("Find the bug") == "done"
        (mail,) = [m for m in stage.on_disk("user") if m["origin"] == "dmail"]
        assert mail["content"].endswith("Find the bug")


async def test_an_agent_that_sends_itself_the_same_dmail_again_and_again_is_stopped(
    tmp_path: Path,
) -> None:
    script = (look(), back(1), back(1, "Not a.txt."), back(1), back(1), Reply(text="Never said."))
    async with Stage(tmp_path, *script, spec="time-traveller") as stage:
        assert await stage.say("Where is it?") == "repetition"
        ended = stage.events[-1]
        assert isinstance(ended, TurnFinished)
        assert ended.reason == ("Stopped: the agent sent itself the same D-Mail 3 times in a turn.")
        assert sum(isinstance(each, DMailSent) for each in stage.events) == 3
        assert await stage.say("Go on") == "done"


async def test_a_rejected_action_discards_the_dmail_of_its_step(tmp_path: Path) -> None:
    step = Reply(
        calls=(
            call("send_dmail", checkpoint=1, message=DMAIL),
            call("run_command", command="rm x"),
        )
    )
    async with Stage(tmp_path, step, Reply(text="As you say."), spec="time-traveller") as stage:
        stage.answers.append(ApprovalAnswer("reject", "not that"))
        assert await stage.say("Go") == "done"
        assert not list(stage.log.parent.glob("context.jsonl.[0-9]*"))
        reminders = [
            text_of(r.content)
            for r in stage.session.view.records
            if isinstance(r, UserMessage) and r.origin == "reminder"
        ]
        assert reminders == [
            "<system>The D-Mail was not sent, because an action of the same step was rejected."
            "</system>"
        ]


async def test_a_dmail_of_a_step_that_was_interrupted_is_not_sent_later(tmp_path: Path) -> None:
    step = Reply(
        calls=(
            call("send_dmail", checkpoint=1, message=DMAIL),
            call("run_command", command="rm x"),
        )
    )
    script = (step, Reply(text="As you say."))
    async with Stage(tmp_path, *script, spec="time-traveller") as stage:
        await stage.say_until("Go", lambda event: isinstance(event, ApprovalRequested))
        assert await stage.say("Never mind") == "done"
        assert [line for line in stage.transcript() if "dmail" in line] == [
            "call send_dmail",
            f'start send_dmail {{"checkpoint": 1, "message": "{DMAIL}"}}',
            "ok send_dmail: Accepted: it goes to checkpoint 1 after ",
        ]
        (told,) = [m for m in stage.on_disk("user") if m["origin"] == "reminder"]
        assert told["content"] == (
            "<system>The D-Mail was not sent, because its step was interrupted.</system>"
        )


async def test_a_dmail_is_undone_like_any_revert(tmp_path: Path) -> None:
    script = (look(), back(1), Reply(text="ok"))
    async with Stage(tmp_path, *script, spec="time-traveller") as stage:
        await stage.say("Where is it?")
        report = await stage.operations.undo()
        assert report.moved
        assert [m for m in stage.on_disk("assistant") if m.get("tool_calls")]
