"""A command that a person types: run at once, told while it runs, kept for the agent to see."""

from __future__ import annotations

import asyncio
import json

from agent_tui.agent.approval import Approvals
from agent_tui.agent.settle import settle
from agent_tui.agent.toolset import RunningCall, Toolset
from agent_tui.agent.wire import Wire
from agent_tui.context.context import Context
from agent_tui.core.events import Event, ShellBegan, ShellEnded, ShellOutput
from agent_tui.core.messages import CommandDisplay, ToolCall, ToolResult
from agent_tui.core.records import UserMessage
from agent_tui.core.shell import SHELL, SHELL_INTERRUPTED, shell_text
from agent_tui.core.text import reveal
from agent_tui.sessions.log import Durability

_LONGEST_SECONDS = 3_600


class Shell:
    """Runs the commands of a person in a session's workspace; needs nobody's permission."""

    def __init__(self, toolset: Toolset, context: Context, wire: Wire) -> None:
        self._toolset = toolset
        self._context = context
        self._wire = wire

    async def run(self, command: str) -> None:
        """Run a command to its end; if cancelled, what it had printed is kept."""
        fields = {"command": command, "timeout_seconds": _LONGEST_SECONDS}
        call = ToolCall(SHELL, "run_command", json.dumps(fields))
        self._wire.emit(ShellBegan(command))
        running = RunningCall(self._tell)
        try:
            outcome = await self._toolset.carry_out(
                call, Approvals(_ignore, yolo=True), running=running, cause="shell"
            )
        except asyncio.CancelledError:
            if running.has_ended:
                await settle(self._keep_result(command, running.left))
            else:
                output = "\n".join(filter(None, [running.left.output, SHELL_INTERRUPTED]))
                await settle(self._keep(command, output, None))
            raise
        await settle(self._keep_result(command, outcome.result))

    def _tell(self, text: str) -> None:
        self._wire.emit(ShellOutput(text))

    async def _keep_result(self, command: str, result: ToolResult) -> None:
        code = result.display.exit_code if isinstance(result.display, CommandDisplay) else 1
        await self._keep(command, result.output, code)

    async def _keep(self, command: str, output: str, exit_code: int | None) -> None:
        message = UserMessage(
            shell_text(command, output),
            origin=SHELL,
            turn=self._context.last_turn,
            display=CommandDisplay(reveal(command), exit_code=exit_code),
        )
        await self._context.append(message, durability=Durability.D1)
        self._wire.emit(ShellEnded(command, output, exit_code))


def _ignore(_event: Event) -> None:
    pass
