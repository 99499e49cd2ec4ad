"""Questions of the agent: answered on screen, refused in words where nobody is there."""

from __future__ import annotations

import asyncio
from pathlib import Path

from inline_snapshot import snapshot

from agent_tui.core.events import Event, QuestionAnswered, QuestionAsked, ToolStarted
from agent_tui.providers.demo.scenario import Reply
from tests.agent.stage import Stage, call

ASK = Reply(calls=(call("ask_user", question="Which store?", choices=["SQLite", "Files"]),))


def answer_with(stage: Stage, *answers: str) -> None:
    left = list(answers)

    def answer(event: Event) -> None:
        if isinstance(event, QuestionAsked):
            said = left.pop(0)
            loop = asyncio.get_running_loop()
            loop.call_soon(stage.session.questions.answer, event.question.id, said)

    stage.listeners.append(answer)


async def test_a_turn_whose_question_is_answered(tmp_path: Path) -> None:
    async with Stage(tmp_path, ASK, Reply(text="SQLite it is.")) as stage:
        answer_with(stage, "SQLite")
        await stage.say("Store it")
        assert stage.transcript() == snapshot(
            [
                "checkpoint 0 (turn 1, step 0)",
                "turn 1: Store it",
                "checkpoint 1 (turn 1, step 1)",
                "step 1",
                "call ask_user",
                'start ask_user {"question": "Which store?", "choices": ["SQLite", "Files"]}',
                "question Which store? SQLite / Files",
                "answered SQLite",
                "ok ask_user: The user answered: SQLite",
                "checkpoint 2 (turn 1, step 2)",
                "step 2",
                "text: SQLite it is.",
                "turn 1 done after 2",
            ]
        )


async def test_a_question_without_an_answer_is_a_result_to_go_on_from(tmp_path: Path) -> None:
    async with Stage(tmp_path, ASK, Reply(text="I took SQLite.")) as stage:
        answer_with(stage, "")
        assert await stage.say("Store it") == "done"
        result = stage.on_disk("tool")[0]
        assert result["is_error"]
        assert "Decide yourself" in result["content"]


async def test_questions_wait_for_each_other(tmp_path: Path) -> None:
    both = Reply(calls=(call("ask_user", question="A?"), call("ask_user", question="B?")))
    async with Stage(tmp_path, both, Reply(text="Both.")) as stage:
        answer_with(stage, "one", "two")
        await stage.say("Ask both")
        said = [line for line in stage.transcript() if line.startswith(("question", "answered"))]
        assert said == ["question A?", "answered one", "question B?", "answered two"]
        asked = [event.question for event in stage.events if isinstance(event, QuestionAsked)]
        begun = [event for event in stage.events if isinstance(event, ToolStarted)]
        assert [each.call_id for each in asked] == [each.call.id for each in begun]
        assert stage.events.index(begun[1]) > stage.events.index(QuestionAnswered(asked[0], "one"))


async def test_cancelling_while_a_question_waits_leaves_a_log_that_goes_on(tmp_path: Path) -> None:
    async with Stage(tmp_path, ASK, Reply(text="Later.")) as stage:
        await stage.say_until("Store it", lambda event: isinstance(event, QuestionAsked))
        assert stage.on_disk("tool")[0]["interrupted"]
        assert await stage.say("Never mind") == "done"
