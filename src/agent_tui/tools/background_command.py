"""Wait for a command in the background, read what it printed so far, or stop it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from agent_tui.core.errors import ToolError
from agent_tui.core.messages import ToolResult
from agent_tui.tools.base import Arguments, Tool, ToolContext
from agent_tui.tools.run_command import describe_end
from agent_tui.tools.running_commands import RunningCommand, RunningCommands


def tell_ended(commands: RunningCommands) -> list[str]:
    """A sentence for each command that ended and of which the agent does not know yet."""
    return [_tell(command) for command in commands.take_ended()]


def _tell(command: RunningCommand) -> str:
    failure = command.ended.exception()
    how = f"[failed: {failure}]"
    if failure is None:
        ended = command.ended.result()
        by_user = f"[stopped by the user]{ended.warning}"
        how = by_user if command.by_user else describe_end(ended, 0)
    return (
        f"Background command {command.number} ({command.title}) ended {how}. "
        "background_command reads its output."
    )


class BackgroundCommandArguments(Arguments):
    """Which command, and what to do about it."""

    number: int = Field(ge=1, description="The number that run_command gave it.")
    action: Literal["wait", "stop"] = Field(
        description="'wait' until it ends or the time is over; 'stop' ends it."
    )
    seconds: int = Field(default=30, ge=0, le=3600, description="How long to wait; 0 only looks.")


class BackgroundCommand(Tool[BackgroundCommandArguments]):
    """Gives the output of a background command so far, and how it ended where it did."""

    name = "background_command"
    description = (
        "Wait for a command that run_command started in the background, or stop it. Returns what "
        "it printed so far, and its exit code once it has ended."
    )
    parameters = BackgroundCommandArguments

    def may_repeat(self, arguments: BackgroundCommandArguments) -> bool:
        return arguments.action == "wait" and arguments.seconds > 0

    def queue(self, arguments: BackgroundCommandArguments) -> str:
        return f"{self.name} {arguments.number}"

    def title(self, arguments: BackgroundCommandArguments) -> str:
        return f"{arguments.action} {arguments.number}"

    async def run(self, arguments: BackgroundCommandArguments, context: ToolContext) -> ToolResult:
        if context.commands is None:
            raise ToolError("No command runs in the background here.")
        if arguments.action == "stop":
            command = await context.commands.stop(arguments.number)
        else:
            command = await context.commands.wait(arguments.number, arguments.seconds)
        if not command.ended.done():
            told, failed = "[still running]", False
        else:
            ended = command.ended.result()
            told = describe_end(ended, 0)
            failed = ended.ending != "stopped" and ended.exit_code != 0
        text = command.output.text().rstrip("\n")
        return ToolResult(f"{text}\n{told}" if text else told, failed)
