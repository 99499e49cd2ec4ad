"""A small agent for tests of the demo: it runs every call with the real tools, unasked."""

from __future__ import annotations

from pathlib import Path

from agent_tui.core.errors import ToolError
from agent_tui.core.messages import ToolCall
from agent_tui.core.records import Message, ToolMessage, UserMessage
from agent_tui.core.usage import Usage
from agent_tui.providers.base import ModelRequest, Provider, ToolSchema
from agent_tui.resources import copy_demo_workspace
from agent_tui.tools.arguments import parse_arguments, schema_of
from agent_tui.tools.base import FileMemory, ToolContext
from agent_tui.tools.catalogue import builtin_tools
from tests.providers.replies import answer, ended, play, text

_TOOLS = {tool.name: tool for tool in builtin_tools()}


class Stage:
    """A conversation with a provider in a copy of the demo's workspace."""

    def __init__(self, provider: Provider, folder: Path) -> None:
        self.workspace = folder / "workspace"
        copy_demo_workspace(self.workspace)
        self.messages: list[Message] = []
        self.calls: list[ToolCall] = []
        self.usage = Usage()
        self._provider = provider
        self._context = ToolContext(self.workspace, FileMemory())

    async def say(self, prompt: str) -> str:
        """One turn; the text of all its answers."""
        self.messages.append(UserMessage(prompt, origin="human"))
        self.calls, said = [], []
        for _ in range(10):
            parts = await play(self._provider, self._request())
            said.append(text(parts))
            self.usage = ended(parts).usage or Usage()
            message = answer(parts)
            self.messages.append(message)
            if not message.tool_calls:
                return "\n".join(said)
            for call in message.tool_calls:
                self.calls.append(call)
                self.messages.append(await self._carry_out(call))
        raise AssertionError("the turn does not end")

    def results(self) -> list[ToolMessage]:
        """The results of the last turn's calls."""
        ids = {call.id for call in self.calls}
        return [m for m in self.messages if isinstance(m, ToolMessage) and m.tool_call_id in ids]

    def read(self, path: str) -> str:
        """A file of the workspace."""
        return (self.workspace / path).read_text(encoding="utf-8")

    def _request(self) -> ModelRequest:
        schemas = tuple(
            ToolSchema(tool.name, tool.description, schema_of(tool)) for tool in _TOOLS.values()
        )
        return ModelRequest("scripted", "Be careful.", tuple(self.messages), schemas)

    async def _carry_out(self, call: ToolCall) -> ToolMessage:
        tool = _TOOLS[call.name]
        try:
            arguments = parse_arguments(tool, call.arguments)
            await tool.preview(arguments, self._context)
            result = await tool.run(arguments, self._context)
        except ToolError as error:
            return ToolMessage(call.id, str(error), is_error=True)
        return ToolMessage(call.id, result.output, is_error=result.is_error)
