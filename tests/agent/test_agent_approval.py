"""Who may do what: asked once at a time, remembered exactly, and never beyond what was allowed."""

import asyncio

from agent_tui.agent.approval import Approvals, approval_key
from agent_tui.core.events import ApprovalAnswer, ApprovalRequested, Decision, Event
from agent_tui.core.messages import ToolCall

CALL = ToolCall("c1", "run_command", '{"command": "ls"}')


class Person:
    """Answers every request with the same decision, and counts them."""

    def __init__(self, decision: Decision, *, yolo: bool = False) -> None:
        self.decision: Decision = decision
        self.asked: list[str] = []
        self.approvals = Approvals(self.hear, yolo=yolo)

    def hear(self, event: Event) -> None:
        if isinstance(event, ApprovalRequested):
            self.asked.append(event.request.id)
            answer = ApprovalAnswer(self.decision)
            asyncio.get_running_loop().call_soon(self.approvals.answer, event.request.id, answer)

    async def ask(self, key: str) -> str:
        _, answer = await self.approvals.ask(CALL, key=key, title="run", display=None)
        return answer.decision


async def test_allowed_once_is_asked_again() -> None:
    person = Person("once")
    assert [await person.ask("a"), await person.ask("a")] == ["once", "once"]
    assert len(person.asked) == 2


async def test_allowed_for_the_session_is_remembered_for_exactly_that_action() -> None:
    person = Person("session")
    await person.ask("a")
    await person.ask("a")
    await person.ask("b")
    assert len(person.asked) == 2


async def test_nobody_is_asked_when_everything_is_allowed() -> None:
    person = Person("reject", yolo=True)
    assert await person.ask("a") == "once"
    assert not person.asked


async def test_requests_are_put_one_at_a_time() -> None:
    heard: list[Event] = []
    approvals = Approvals(heard.append)
    tasks = [
        asyncio.create_task(approvals.ask(CALL, key=key, title="", display=None)) for key in "ab"
    ]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert len(heard) == 1
    approvals.answer("approval-1", ApprovalAnswer("reject"))
    await asyncio.sleep(0.01)
    approvals.answer("approval-2", ApprovalAnswer("reject"))
    assert [answer.decision for _, answer in await asyncio.gather(*tasks)] == ["reject", "reject"]


async def test_an_answer_that_nobody_waits_for_is_ignored() -> None:
    Approvals(lambda _event: None).answer("approval-9", ApprovalAnswer("once"))


def test_a_key_is_the_tool_the_folder_and_every_argument_in_one_order() -> None:
    same = approval_key("run", {"a": 1, "b": 2}, "/w"), approval_key("run", {"b": 2, "a": 1}, "/w")
    assert same[0] == same[1]
    assert approval_key("run", {"a": 1}, "/w") != approval_key("run", {"a": 12}, "/w")
    assert approval_key("run", {"a": 1}, "/w") != approval_key("run", {"a": 1}, "/v")
