"""The tools of one session: what the model is told of them, and how one call is carried out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from agent_tui.agent.approval import Approvals, approval_key
from agent_tui.core.errors import ToolError
from agent_tui.core.messages import ToolCall, ToolResult
from agent_tui.core.records import ApprovalRecord
from agent_tui.providers.base import ToolSchema
from agent_tui.tools.arguments import parse_arguments, schema_of
from agent_tui.tools.base import AnyTool, ToolContext


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a call: its result, the decision to log, and whether the turn must stop."""

    result: ToolResult
    approval: ApprovalRecord | None = None
    stop: bool = False


class Toolset:
    """Looks tools up by name, asks for permission where needed, and runs them."""

    def __init__(self, tools: Iterable[AnyTool], context: ToolContext) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._context = context
        self.schemas = tuple(ToolSchema(**schema_of(tool)) for tool in self._tools.values())

    def has_side_effects(self, call: ToolCall) -> bool:
        """Whether the call may change the world: it must be durable before it runs."""
        tool = self._tools.get(call.name)
        return tool is not None and tool.needs_approval

    async def carry_out(self, call: ToolCall, approvals: Approvals) -> Outcome:
        """Run one call; whatever goes wrong becomes a result that the model can read."""
        tool = self._tools.get(call.name)
        if tool is None:
            known = ", ".join(self._tools)
            return _failed(f"There is no tool {call.name!r}. There are: {known}.")
        approval = None
        try:
            arguments = parse_arguments(tool, call.arguments)
            if tool.needs_approval:
                display = await tool.preview(arguments, self._context)
                key = approval_key(
                    call.name, arguments.model_dump(mode="json"), str(self._context.workspace)
                )
                request_id, answer = await approvals.ask(
                    call, key=key, title=tool.title(arguments), display=display
                )
                if request_id:
                    approval = ApprovalRecord(request_id, call.id, answer.decision, answer.word)
                if answer.decision == "reject":
                    return _rejected(answer.word, approval)
            return Outcome(await tool.run(arguments, self._context), approval)
        except ToolError as error:
            return _failed(str(error), approval)
        except Exception as error:
            return _failed(f"{call.name} failed: {type(error).__name__}: {error}", approval)


def _failed(text: str, approval: ApprovalRecord | None = None) -> Outcome:
    return Outcome(ToolResult(text, is_error=True), approval)


def _rejected(word: str, approval: ApprovalRecord | None) -> Outcome:
    said = f" and says: {word}" if word else ". Stop and wait for what the user says next."
    text = f"The user rejected this action{said}"
    return Outcome(ToolResult(text, is_error=True), approval, stop=not word)
