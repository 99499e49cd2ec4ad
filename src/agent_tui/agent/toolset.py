"""The tools of one session: how the model sees them, and how one call is carried out."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import replace
from typing import TypeAlias

from agent_tui.agent.approval import Approvals, approval_key
from agent_tui.agent.workspace_watch import WorkspaceWatch
from agent_tui.core.dataclass import dataclass
from agent_tui.core.errors import AgentTuiError, ToolError
from agent_tui.core.events import ApprovalAnswer
from agent_tui.core.file_changes import ChangeCause
from agent_tui.core.messages import DiffDisplay, Display, ToolCall, ToolResult
from agent_tui.core.modes import PRESENT_PLAN
from agent_tui.core.records import ApprovalRecord
from agent_tui.core.words import INTERRUPTED, NOT_RUN
from agent_tui.providers.base import ToolSchema
from agent_tui.tools.arguments import parse_arguments, schema_of
from agent_tui.tools.base import AnyTool, Arguments, Asks, Spawns, Subject, Tool, ToolContext
from agent_tui.tools.commands.places import find_places

Note: TypeAlias = Callable[[ApprovalRecord], Awaitable[None]]
"""Writes a person's decision down, before anything is done about it."""


PLAN_ONLY = (
    "Plan mode: nothing may be changed or run now. Look around with the reading tools, then call "
    "present_plan with what you intend to do."
)
_REPORT_ONLY = (
    "Plan mode: nothing may be changed or run now. Look around with the reading tools, and say in "
    "your answer what should be done."
)
_STOPPED = "Stopped: the action was rejected. Say what to do instead."
_KEPT = "Still planning: the plan was not approved. Say what it should do instead."


@dataclass(slots=True)
class RunningCall:
    """A call on its way, for whoever must answer for it where it is interrupted.

    Attributes:
        tell: takes the last rows of what it has printed so far.
        has_begun: whether its tool was started: from then on it may have changed something.
        changed: the command that a person had run instead; empty where it is as asked for.
        left: what its tool has given until it was interrupted.
        has_ended: whether that is all: it ran to its end before the interruption came to it.
    """

    tell: Callable[[str], None] | None = None
    has_begun: bool = False
    changed: str = ""
    left: ToolResult = ToolResult("")
    has_ended: bool = False

    def leave(self, result: ToolResult, has_ended: bool) -> None:
        """Keep what the tool has given so far, or as a whole."""
        self.left, self.has_ended = result, has_ended

    def interrupted_result(self) -> ToolResult:
        """What is told of the call where it is interrupted now."""
        if not self.has_begun:
            return ToolResult(NOT_RUN, is_error=True)
        left = _tell_change(self.left, self.changed) if self.changed else self.left
        if self.has_ended:
            return left
        output = "\n".join(filter(None, [left.output, INTERRUPTED]))
        return replace(left, output=output, is_error=True)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a call; ``stop`` says to people why the turn ends with it, if it does."""

    result: ToolResult
    stop: str = ""


class Toolset:
    """Looks tools up by name, asks for permission where needed, and runs them.

    Args:
        offer: gives the tools that there are now; ``refresh`` asks it again before each step.
        context: what every tool is given.
        watch: captures the files around every tool that acts; None captures nothing.
        spawner: gives each call what starts subagents for it; None where none may be started.
        asker: gives each call what asks the person; None where nobody may be asked.
        who: whose tools these are, where it is a subagent: a person is told whom they allow it.
        source: the call that started that subagent.

    Attributes:
        context: as above.
        schemas: what a model is told of the tools.
    """

    def __init__(
        self,
        offer: Callable[[], Iterable[AnyTool]],
        context: ToolContext,
        watch: WorkspaceWatch | None = None,
        spawner: Callable[[str], Spawns] | None = None,
        asker: Callable[[str], Asks] | None = None,
        who: str = "",
        source: str = "",
    ) -> None:
        self._watch = watch
        self._spawner = spawner
        self._asker = asker
        self._who = who
        self._source = source
        self._offer = offer
        self.context = context
        self._tools: dict[str, AnyTool] = {}
        self.schemas: tuple[ToolSchema, ...] = ()
        self.refresh()

    def refresh(self) -> tuple[ToolSchema, ...]:
        """Take the tools as they are now, and tell what a model is told of them."""
        tools = {tool.name: tool for tool in self._offer()}
        if tools != self._tools:
            self._tools = tools
            self.schemas = tuple(ToolSchema(**schema_of(tool)) for tool in tools.values())
        return self.schemas

    def has_side_effects(self, call: ToolCall) -> bool:
        """Whether the call may change the world: it must be durable before it runs."""
        tool = self._tools.get(call.name)
        return tool is not None and tool.acts

    def may_repeat(self, call: ToolCall) -> bool:
        """Whether repeating this call is normal, as polling is, and no sign of going in circles."""
        tool = self._tools.get(call.name)
        if tool is None or type(tool).may_repeat is Tool.may_repeat:
            return False
        arguments = _arguments_of(tool, call)
        return False if arguments is None else tool.may_repeat(arguments)

    def queue(self, call: ToolCall) -> str:
        """Calls of one answer with the same queue run in the order written; empty: beside all."""
        tool = self._tools.get(call.name)
        if tool is None or type(tool).queue is Tool.queue:
            return ""
        arguments = _arguments_of(tool, call)
        return "" if arguments is None else tool.queue(arguments)

    async def carry_out(
        self,
        call: ToolCall,
        approvals: Approvals,
        note: Note | None = None,
        running: RunningCall | None = None,
        *,
        cause: ChangeCause = "tool_call",
    ) -> Outcome:
        """Run one call; whatever goes wrong becomes a result that the model can read.

        Args:
            call: what the model asked for.
            approvals: who is asked, and what was allowed before.
            note: writes a decision down.
            running: hears how far the call has come.
            cause: who changes files by it: the agent, or a person with a command.

        Raises:
            AgentTuiError: a decision could not be written down; nothing was done.
        """
        tool = self._tools.get(call.name)
        if tool is None:
            known = ", ".join(self._tools)
            return _failed(f"There is no tool {call.name!r:.100}. There are: {known}.")
        if approvals.mode == "plan" and tool.acts:
            return _failed(PLAN_ONLY if PRESENT_PLAN in self._tools else _REPORT_ONLY)
        running = running or RunningCall()
        try:
            arguments = parse_arguments(tool, call.arguments)
            if tool.needs_approval(arguments):
                answer = await self._ask(tool, call, arguments, approvals, note)
                if answer.decision == "reject":
                    return _rejected(answer.feedback, _KEPT if tool.ends_plan else _STOPPED)
                if answer.command and answer.command != getattr(arguments, "command", None):
                    running.changed = answer.command
                    arguments = arguments.model_copy(update={"command": answer.command})
                if tool.ends_plan:
                    approvals.leave_plan(answer)
            result = await self._run(tool, call, arguments, running, cause)
            return Outcome(_tell_change(result, running.changed) if running.changed else result)
        except ToolError as error:
            return _failed(str(error))
        except AgentTuiError:
            raise
        except Exception as error:
            return _failed(f"{call.name} failed: {type(error).__name__}: {error}")

    async def _run(
        self,
        tool: AnyTool,
        call: ToolCall,
        arguments: Arguments,
        running: RunningCall,
        cause: ChangeCause,
    ) -> ToolResult:
        context = replace(
            self.context,
            tell=running.tell,
            leave=running.leave,
            spawn=self._spawner(call.id) if self._spawner else None,
            ask=self._asker(call.id) if self._asker else None,
        )
        async with self._around(tool, call, arguments, cause):
            running.has_begun = True
            return await tool.run(arguments, context)

    def _around(
        self, tool: AnyTool, call: ToolCall, arguments: Arguments, cause: ChangeCause
    ) -> AbstractAsyncContextManager[None]:
        """What captures the files before and behind a tool that changes them."""
        if self._watch is None or not tool.changes_files:
            return nullcontext()
        target = str(getattr(arguments, "path", ""))
        label = str(getattr(arguments, "command", "")) if cause == "shell" else ""
        return self._watch.around(call, cause, target=target, label=label, told=tool.acts)

    async def _ask(
        self,
        tool: AnyTool,
        call: ToolCall,
        arguments: Arguments,
        approvals: Approvals,
        note: Note | None,
    ) -> ApprovalAnswer:
        display = await tool.preview(arguments, self.context)
        fields = arguments.model_dump(mode="json")
        request_id, answer = await approvals.ask(
            call,
            key=approval_key(call.name, fields, str(self.context.workspace)),
            title=f"{self._who}: {tool.title(arguments)}" if self._who else tool.title(arguments),
            display=display,
            subject=await self._resolve(tool.subject(arguments), display),
            source=self._source,
        )
        if note is not None and (request_id or answer.rule):
            decision = answer.decision if request_id else "rule"
            await note(ApprovalRecord(request_id, call.id, decision, answer.feedback, answer.rule))
        return answer

    async def _resolve(self, subject: Subject, display: Display | None) -> Subject:
        """The subject with links resolved: the path that is really written, where words lead."""
        match subject.kind, display:
            case "edit", DiffDisplay(path=path):
                return Subject("edit", path)
            case "command", _:
                work = asyncio.to_thread(find_places, subject.text, self.context.workspace)
                return replace(subject, places=await work)
            case _:
                return subject


def _arguments_of(tool: AnyTool, call: ToolCall) -> Arguments | None:
    """What a call asks for; None where it cannot be read."""
    try:
        arguments: Arguments = parse_arguments(tool, call.arguments)
    except ToolError:
        return None
    return arguments


def _tell_change(result: ToolResult, command: str) -> ToolResult:
    # Behind the output, because of a long one only the end is shown until it is opened.
    said = f"[The user changed the command; this ran instead: {command}]"
    return replace(result, output=f"{result.output.rstrip()}\n{said}".lstrip())


def _failed(text: str) -> Outcome:
    return Outcome(ToolResult(text, is_error=True))


def _rejected(feedback: str, stopped: str) -> Outcome:
    silent = ". Stop and wait for what the user says next."
    said = f" and the user says: {feedback}" if feedback else silent
    result = ToolResult(f"This action was rejected{said}", is_error=True, rejected=True)
    return Outcome(result, "" if feedback else stopped)
