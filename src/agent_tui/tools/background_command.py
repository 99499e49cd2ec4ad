"""Wait for a command in the background, read what it printed so far, or stop it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Literal

from pydantic import Field, ValidationError

from agent_tui.core.errors import ToolError
from agent_tui.core.messages import CommandDisplay, ToolCall, ToolResult
from agent_tui.core.records import AssistantMessage, Record, ToolMessage, UserMessage
from agent_tui.core.text import first_line
from agent_tui.tools.base import Arguments, Tool, ToolContext
from agent_tui.tools.run_command import STARTED, describe_end
from agent_tui.tools.running_commands import RunningCommand, RunningCommands

STARTED_MARK = STARTED.partition("{")[0].encode()
"""What stands in every log in which a command was left in the background."""

_RUNS = "[still running]"
_TELLS = "Background command {number} ("
_STARTED = re.compile(re.escape(STARTED).replace(r"\{number\}", r"(\d+)"))
_TOLD = re.compile(re.escape(f"<system>{_TELLS}").replace(r"\{number\}", r"(\d+)"))


class EndedCommands:
    """Finds the background commands that ended and of which the agent does not know yet.

    Args:
        commands: those of this session, since it was opened.
        messages: gives what ``pick_command_messages`` picks of all that was ever in its
            context, also what a compaction took out; it may block. What ran when the session was
            closed or killed has ended.
    """

    def __init__(self, commands: RunningCommands, messages: Callable[[], Iterable[Record]]) -> None:
        self._commands = commands
        self._messages: Callable[[], Iterable[Record]] | None = messages

    async def tell(self) -> list[str]:
        """A sentence for each of them, once."""
        gone: list[str] = []
        if self._messages is not None:
            messages = self._messages
            last, left = await asyncio.to_thread(lambda: _read_log(messages()))
            self._messages = None
            self._commands.continue_behind(last)
            gone = [_tell_gone(number, title) for number, title in left.items()]
        return gone + [_tell(command) for command in self._commands.take_ended()]


def pick_command_messages(messages: Iterable[Record]) -> Iterator[Record]:
    """Those that start, ask for, or tell of a command in the background."""
    asked = set[str]()
    for record in messages:
        match record:
            case ToolMessage(tool_call_id=call_id, content=str(text)):
                if call_id in asked or _STARTED.fullmatch(text):
                    yield record
            case AssistantMessage(tool_calls=calls):
                if about := {call.id for call in calls if _number_in(call)}:
                    asked |= about
                    yield record
            case UserMessage(content=str(text), origin="reminder"):
                if _TOLD.match(text):
                    yield record
            case _:
                pass


def _read_log(messages: Iterable[Record]) -> tuple[int, dict[int, str]]:
    """The last number of a background command, and those of which the end was never told."""
    last, left = 0, dict[int, str]()
    asked: dict[str, int] = {}
    for record in messages:
        match record:
            case ToolMessage(content=str(text), display=CommandDisplay(command=command)):
                if found := _STARTED.fullmatch(text):
                    last = int(found[1])
                    left[last] = first_line(command)
            case ToolMessage(tool_call_id=call_id, content=str(text)):
                if not (record.interrupted or record.masked or text.endswith(_RUNS)):
                    left.pop(asked.get(call_id, 0), None)
            case AssistantMessage(tool_calls=calls) if left:
                asked |= {call.id: _number_in(call) for call in calls}
            case UserMessage(content=str(text), origin="reminder"):
                if found := _TOLD.match(text):
                    left.pop(int(found[1]), None)
            case _:
                pass
    return last, left


def _number_in(call: ToolCall) -> int:
    """Which command a call is about; 0 for a call of another tool, or one that cannot be read."""
    if call.name != BackgroundCommand.name:
        return 0
    try:
        return BackgroundCommandArguments.model_validate_json(call.arguments).number
    except ValidationError:
        return 0


def _tell_gone(number: int, title: str) -> str:
    return (
        f"{_TELLS.format(number=number)}{title}) is gone: it ended before this session was opened "
        "again. Run it again if it is still needed."
    )


def _tell(command: RunningCommand) -> str:
    failure = command.ended.exception()
    how = f"[failed: {failure}]"
    if failure is None:
        ended = command.ended.result()
        by_user = f"[stopped by the user]{ended.warning}"
        how = by_user if command.by_user else describe_end(ended, 0)
    return (
        f"{_TELLS.format(number=command.number)}{command.title}) ended {how}. "
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
            told, failed = _RUNS, False
        else:
            ended = command.ended.result()
            told = describe_end(ended, 0)
            failed = ended.ending != "stopped" and ended.exit_code != 0
        text = command.output.text().rstrip("\n")
        return ToolResult(f"{text}\n{told}" if text else told, failed)
