"""Who may do what: asked once at a time, remembered exactly, and never beyond what was allowed."""

import asyncio
from pathlib import Path
from typing import Literal

import pytest

from agent_tui.agent.approval import Approvals, approval_key
from agent_tui.agent.permissions import Rule
from agent_tui.agent.toolset import Toolset
from agent_tui.config import config_path
from agent_tui.core.errors import ConfigError, UsageError
from agent_tui.core.events import (
    ApprovalAnswer,
    ApprovalRequested,
    ApprovalsQueued,
    Decision,
    Event,
)
from agent_tui.core.messages import ToolCall
from agent_tui.core.modes import ApprovalMode
from agent_tui.runtime.building.kept_rules import drop_rule
from agent_tui.tools.base import Subject, ToolContext
from agent_tui.tools.catalogue import builtin_tools
from agent_tui.tools.present_plan import PresentPlan
from tests.waiting import PATIENCE_SECONDS

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


async def test_who_is_asked_hears_how_many_more_requests_wait() -> None:
    heard: list[str] = []

    def hear(event: Event) -> None:
        if isinstance(event, ApprovalRequested):
            heard.append(event.request.id)
        elif isinstance(event, ApprovalsQueued):
            heard.append(f"{event.waiting} more")

    approvals = Approvals(hear)
    asking = [
        asyncio.create_task(approvals.ask(CALL, key=key, title=key, display=None)) for key in "abcd"
    ]
    await asyncio.sleep(0)
    assert heard == ["approval-1", "1 more", "2 more", "3 more"]
    asking[3].cancel()
    await asyncio.gather(asking[3], return_exceptions=True)
    for number in (1, 2, 3):
        approvals.answer(f"approval-{number}", ApprovalAnswer("once"))
        await asyncio.wait(asking, timeout=0)
        await asyncio.gather(asking[number - 1])
    assert heard[4:] == ["2 more", "approval-2", "1 more", "approval-3"]


async def test_it_is_told_which_subagents_wait_behind_another() -> None:
    heard: list[tuple[str, ...]] = []

    def hear(event: Event) -> None:
        if isinstance(event, ApprovalsQueued):
            heard.append(event.sources)

    approvals = Approvals(hear)
    first, behind = (
        asyncio.create_task(approvals.ask(CALL, key="a", title="", display=None, source=source))
        for source in ("north", "south")
    )
    await asyncio.sleep(0)
    assert heard == [("south",)]
    approvals.answer("approval-1", ApprovalAnswer("session"))
    await asyncio.gather(first, behind)
    assert heard == [("south",), ()]


async def test_nobody_is_asked_when_everything_is_allowed() -> None:
    person = Person("reject", yolo=True)
    assert await person.ask("a") == "once"
    assert not person.asked


async def test_requests_are_put_one_at_a_time() -> None:
    heard: list[Event] = []

    def hear(event: Event) -> None:
        if not isinstance(event, ApprovalsQueued):
            heard.append(event)

    approvals = Approvals(hear)
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


async def test_what_is_allowed_already_waits_for_no_answer_to_another() -> None:
    approvals = Approvals(lambda _event: None, always=(Rule("run_command", "ls *"),))
    asked = asyncio.create_task(
        approvals.ask(CALL, key="a", title="", display=None, subject=Subject("command", "rm x"))
    )
    await asyncio.sleep(0)
    allowed = approvals.ask(
        CALL, key="b", title="", display=None, subject=Subject("command", "ls src")
    )
    _, answer = await asyncio.wait_for(allowed, PATIENCE_SECONDS)
    assert (answer.rule, asked.done()) == ("run_command(ls *)", False)
    approvals.answer("approval-1", ApprovalAnswer("reject"))
    assert (await asked)[1].decision == "reject"


async def test_an_answer_that_nobody_waits_for_is_ignored() -> None:
    approvals = Approvals(lambda _event: None)
    for request_id in ("approval-1", "approval-9"):
        approvals.answer(request_id, ApprovalAnswer("session"))
    asked = asyncio.create_task(approvals.ask(CALL, key="a", title="", display=None))
    await asyncio.sleep(0)
    assert approvals.is_waiting("approval-1")
    approvals.answer("approval-1", ApprovalAnswer("reject"))
    assert (await asked)[1].decision == "reject"


def test_a_key_is_the_tool_the_folder_and_every_argument_in_one_order() -> None:
    same = approval_key("run", {"a": 1, "b": 2}, "/w"), approval_key("run", {"b": 2, "a": 1}, "/w")
    assert same[0] == same[1]
    assert approval_key("run", {"a": 1}, "/w") != approval_key("run", {"a": 12}, "/w")
    assert approval_key("run", {"a": 1}, "/w") != approval_key("run", {"a": 1}, "/v")


EDIT = ToolCall("c2", "edit_file", '{"path": "src/a.py"}')


class Guarded(Person):
    """Someone who allows the first rule that is offered."""

    def hear(self, event: Event) -> None:
        if isinstance(event, ApprovalRequested):
            self.asked.append(event.request.id)
            rule = event.request.offers[0] if event.request.offers else ""
            answer = ApprovalAnswer("session", rule=rule)
            asyncio.get_running_loop().call_soon(self.approvals.answer, event.request.id, answer)

    async def run(self, command: str) -> bool:
        """Whether a command had to be asked for."""
        return await self.had_to_ask(CALL, Subject("command", command))

    async def edit(self, path: str) -> bool:
        """Whether an edit had to be asked for."""
        return await self.had_to_ask(EDIT, Subject("edit", path))

    async def had_to_ask(self, call: ToolCall, subject: Subject) -> bool:
        before = len(self.asked)
        await self.approvals.ask(call, key=subject.text, title="", display=None, subject=subject)
        return len(self.asked) > before


async def test_a_pattern_is_asked_for_once_and_covers_no_other_command() -> None:
    person = Guarded("session")
    assert await person.run("ls /")
    assert not await person.run("ls /tmp")
    assert await person.run("git status")
    assert await person.run("git status; rm -rf x")
    assert not await person.run("git status; ls")
    assert [str(rule) for rule in person.approvals.session_rules][:2] == [
        "run_command(ls *)",
        "run_command(git status *)",
    ]


async def test_a_pattern_does_not_cover_a_link_that_leaves_the_workspace(tmp_path: Path) -> None:
    workspace, secret = tmp_path / "work", tmp_path / "secret"
    workspace.mkdir()
    secret.write_text("canary")
    (workspace / "notes").symlink_to(secret)
    (workspace / "a.txt").write_text("harmless")
    person = Person("reject")
    person.approvals.session_rules.append(Rule("run_command", "cat *"))
    toolset = Toolset(builtin_tools, ToolContext(workspace))

    async def output_of(command: str) -> str:
        call = ToolCall("c", "run_command", f'{{"command": "{command}"}}')
        return (await toolset.carry_out(call, person.approvals)).result.output

    assert "harmless" in await output_of("cat a.txt")
    assert not person.asked
    assert "canary" not in await output_of("cat notes")
    assert len(person.asked) == 1


async def test_edits_of_a_folder_are_allowed_but_not_what_others_run() -> None:
    person = Guarded("session")
    assert await person.edit("src/a.py")
    assert not await person.edit("src/deep/b.py")
    assert await person.edit("tests/a.py")
    assert await person.edit("src/.vscode/tasks.json")


async def test_a_revoked_rule_asks_again() -> None:
    person = Guarded("session")
    await person.run("ls")
    (rule,) = person.approvals.session_rules
    person.approvals.revoke(rule)
    assert await person.run("ls")


async def test_accept_edits_asks_for_commands_and_risky_files_only() -> None:
    person = Guarded("session")
    person.approvals.set_mode("accept-edits")
    assert not await person.edit("src/a.py")
    risky = [
        "AGENTS.md", ".envrc", ".github/workflows/ci.yml", "sub/.husky/pre-commit", "HEAD",
        "x/HEAD", ".claude/settings.json", ".cursor/mcp.json", ".gemini/settings.json",
        ".codex/config.toml", "opencode.json", ".venv/bin/pip", "node_modules/.bin/tsc",
        ".cargo/config.toml", ".devcontainer/devcontainer.json", ".gitlab-ci.yml", ".zshenv",
        ".Claude/settings.json",
    ]  # fmt: skip
    for path in risky:
        assert await person.edit(path), path
    for path in ("src/head.py", "docs/venv.md", "config", "refs/x"):
        assert not await person.edit(path), path
    assert await person.run("make")


@pytest.mark.parametrize(
    "text", ["edits", "edits(src/)", "run_command(git diff *)", "write_file", "server__tool"]
)
def test_a_rule_reads_back_as_it_is_written(text: str) -> None:
    assert str(Rule.parse(text)) == text


def test_what_is_no_rule_is_refused_in_words() -> None:
    with pytest.raises(UsageError, match="Write a tool's name"):
        Rule.parse("git diff *)")


@pytest.mark.parametrize(
    ("decision", "mode"),
    [("once", "ask"), ("session", "accept-edits"), ("reject", "plan")],
)
async def test_the_answer_to_a_plan_says_how_it_is_carried_out(
    tmp_path: Path, decision: Literal["once", "session", "reject"], mode: ApprovalMode
) -> None:
    requests: list[Event] = []
    asked = asyncio.Event()

    def hear(event: Event) -> None:
        requests.append(event)
        asked.set()

    approvals = Approvals(hear, mode="plan", keep=lambda _rule, *, kept: ())
    toolset = Toolset(lambda: (*builtin_tools(), PresentPlan()), ToolContext(tmp_path))
    plan = ToolCall("1", "present_plan", '{"plan": "# Write a.txt"}')
    task = asyncio.create_task(toolset.carry_out(plan, approvals))
    await asked.wait()
    assert isinstance(requests[0], ApprovalRequested)
    assert requests[0].request.offers == ()
    assert not requests[0].request.can_keep
    approvals.answer("approval-1", ApprovalAnswer(decision))
    await task
    assert approvals.mode == mode
    assert approvals.single_actions == 0


async def test_plan_mode_changes_nothing_until_a_plan_is_approved(tmp_path: Path) -> None:
    tools = (*builtin_tools(), PresentPlan())
    toolset = Toolset(lambda: tools, ToolContext(tmp_path))
    asked = asyncio.Event()
    approvals = Approvals(lambda _: asked.set(), mode="plan")
    write = ToolCall("1", "write_file", '{"path": "a.txt", "content": "x"}')
    assert "Plan mode" in (await toolset.carry_out(write, approvals)).result.output
    plan = ToolCall("2", "present_plan", '{"plan": "# Write a.txt"}')
    task = asyncio.create_task(toolset.carry_out(plan, approvals))
    await asked.wait()
    approvals.answer("approval-1", ApprovalAnswer("session"))
    assert "approved" in (await task).result.output
    assert approvals.mode == "accept-edits"
    assert not (await toolset.carry_out(write, approvals)).result.is_error
    assert (tmp_path / "a.txt").read_text() == "x"


async def test_an_edited_command_is_what_runs_and_the_model_is_told(tmp_path: Path) -> None:
    toolset = Toolset(builtin_tools, ToolContext(tmp_path))
    asked = asyncio.Event()
    approvals = Approvals(lambda _: asked.set())
    call = ToolCall("1", "run_command", '{"command": "echo one"}')
    task = asyncio.create_task(toolset.carry_out(call, approvals))
    await asked.wait()
    approvals.answer("approval-1", ApprovalAnswer("once", command="echo two"))
    output = (await task).result.output
    # At the end, which is what is shown of a long output.
    assert output.splitlines()[-1] == "[The user changed the command; this ran instead: echo two]"
    assert output.startswith("two\n")
    assert "one\n" not in output


NEVER = [
    ("run_command(python3 *)", "word for word, as in run_command(python3 -m pytest)"),
    ("run_command(python3 -m pytest *)", "word for word, as in run_command(python3 -m pytest)"),
    ("run_command(git push *)", "word for word, as in run_command(git push)"),
    ("run_command(sudo *)", "word for word"),
    ("run_command(*)", "run_command alone"),
    ("run_command(git*)", "run_command(git diff *)"),
    ("run_command(a; b *)", "plain words"),
    ("run_command(git diff --stat HEAD *)", "flags after"),
    ("run_command(-l *)", "flags after"),
    ("run_comand(ls *)", "there is no such tool"),
    ("edits(/etc/)", "from the workspace"),
    ("edits(../x)", "from the workspace"),
    ("edits(src/*)", "edits(src/)"),
    ("edits(.github/)", "one by one"),
    ("write_file(src/)", "edits(src/)"),
]


@pytest.mark.parametrize(("text", "advice"), NEVER)
def test_a_rule_that_can_never_allow_anything_is_refused_with_what_would(
    text: str, advice: str
) -> None:
    with pytest.raises(UsageError) as caught:
        Rule.parse(text)
    assert advice in str(caught.value)


@pytest.mark.parametrize(
    "text",
    ["run_command(git *)", "run_command(ls -la *)", "run_command(cargo test *)", "a__b", "edits"],
)
def test_a_rule_that_can_allow_something_is_taken(text: str) -> None:
    assert str(Rule.parse(text)) == text


async def test_a_rule_is_kept_for_the_folder_until_it_is_revoked() -> None:
    kept: list[Rule] = []

    def keep(rule: Rule, *, kept: bool) -> tuple[Rule, ...]:
        files.append(rule) if kept else files.remove(rule)
        return tuple(files)

    files = kept
    heard: list[ApprovalRequested] = []

    def hear(event: Event) -> None:
        if isinstance(event, ApprovalRequested):
            heard.append(event)
            answer = ApprovalAnswer("always", rule=event.request.offers[0])
            asyncio.get_running_loop().call_soon(approvals.answer, event.request.id, answer)

    approvals = Approvals(hear, keep=keep)
    ask = approvals.ask
    command = Subject("command", "git diff --stat")
    await ask(CALL, key="a", title="", display=None, subject=command)
    assert heard[0].request.can_keep
    assert [str(rule) for rule in kept] == ["run_command(git diff *)"]
    _, answer = await ask(CALL, key="b", title="", display=None, subject=command)
    assert len(heard) == 1
    assert answer.rule == "run_command(git diff *)"
    again = Approvals(hear, kept=kept, keep=keep)
    await again.ask(CALL, key="c", title="", display=None, subject=command)
    assert len(heard) == 1
    await approvals.forget(kept[0])
    assert kept == []
    await ask(CALL, key="d", title="", display=None, subject=command)
    assert len(heard) == 2


async def test_a_rule_of_the_settings_is_revoked_in_the_file_too() -> None:
    place = config_path()
    place.parent.mkdir(parents=True, exist_ok=True)
    text = '# mine\n[approvals]\nallow = ["run_command(git diff *)", "fetch_url"]\n'
    place.write_text(text)
    rules = [Rule.parse("run_command(git diff *)"), Rule.parse("fetch_url")]
    heard: list[Event] = []
    approvals = Approvals(heard.append, always=rules, drop=drop_rule)
    command = Subject("command", "git diff")
    await approvals.ask(CALL, key="a", title="", display=None, subject=command)
    assert not heard
    await approvals.drop(rules[0])
    assert place.read_text() == '# mine\n[approvals]\nallow = ["fetch_url"]\n'
    asking = asyncio.create_task(
        approvals.ask(CALL, key="a", title="", display=None, subject=command)
    )
    await asyncio.sleep(0)
    assert isinstance(heard[0], ApprovalRequested)
    asking.cancel()
    await approvals.drop(rules[1])
    assert "fetch_url" not in place.read_text()
    await approvals.drop(Rule.parse("edits"))  # of the command line: the file has it not


async def test_a_rule_whose_file_cannot_be_written_still_counts() -> None:
    def refuse(_: Rule) -> None:
        raise ConfigError("The disk is full.")

    rule = Rule.parse("edits")
    approvals = Approvals(lambda _: None, always=[rule], drop=refuse)
    with pytest.raises(ConfigError):
        await approvals.drop(rule)
    assert approvals.always == (rule,)
