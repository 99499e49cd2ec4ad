"""Run a shell command in the workspace."""

from __future__ import annotations

import signal
from contextlib import suppress
from pathlib import Path
from threading import Event

from pydantic import Field

from agent_tui.core.errors import ToolError
from agent_tui.core.messages import CommandDisplay, Display, ToolResult
from agent_tui.core.text import first_line, reveal
from agent_tui.tools.background import run_off_loop
from agent_tui.tools.base import Arguments, Subject, Tool, ToolContext
from agent_tui.tools.child import Ended, run_child
from agent_tui.tools.output import ToldOutput
from agent_tui.tools.sandbox import confine


class RunCommandArguments(Arguments):
    """What to run, and for how long at most."""

    command: str = Field(description="The shell command. It starts in the workspace folder.")
    timeout_seconds: int = Field(
        default=120, ge=1, le=3600, description="End the command after this many seconds."
    )


class RunCommand(Tool[RunCommandArguments]):
    """Runs a shell command and tells what it printed and how it ended."""

    name = "run_command"
    description = (
        "Run a shell command in the workspace and return its output (stdout and stderr together) "
        "and exit code. It has no terminal and cannot ask questions: pass flags such as --yes. "
        "Processes left in the background are ended when the command ends. Long output keeps its "
        "beginning and its end. Prefer read_file, find_files and search_files for reading."
    )
    parameters = RunCommandArguments
    acts = True

    def title(self, arguments: RunCommandArguments) -> str:
        return first_line(reveal(arguments.command))

    def subject(self, arguments: RunCommandArguments) -> Subject:
        return Subject("command", arguments.command)

    async def preview(self, arguments: RunCommandArguments, context: ToolContext) -> Display:
        _check(arguments.command)
        return CommandDisplay(reveal(arguments.command), str(context.workspace))

    async def run(self, arguments: RunCommandArguments, context: ToolContext) -> ToolResult:
        _check(arguments.command)
        if not context.workspace.is_dir():
            raise ToolError(f"The workspace {context.workspace} does not exist any more.")
        output = ToldOutput(context.output_limit, context.tell, context.blobs)

        def work(stop: Event) -> Ended:
            shell = [_shell(), "-c", arguments.command]
            launch = confine(shell, context.confinement, context.workspace, context.protected)
            return run_child(
                launch.command,
                folder=context.workspace,
                sink=output,
                stop=stop,
                timeout_seconds=arguments.timeout_seconds,
                finds_strays=True,
                supervised=launch.supervised,
            )

        try:
            ended = await run_off_loop(work)
        finally:
            output.close()
        told = _tell(ended, arguments.timeout_seconds)
        text = output.text().rstrip("\n")
        display = CommandDisplay(reveal(arguments.command), str(context.workspace), ended.exit_code)
        failed = ended.ending != "exited" or ended.exit_code != 0
        return ToolResult(f"{text}\n{told}" if text else told, failed, display)


def _check(command: str) -> None:
    if not command.strip():
        raise ToolError("The command is empty.")
    if "\0" in command:
        raise ToolError("A command cannot contain a NUL character.")


def _shell() -> str:
    return "/bin/bash" if Path("/bin/bash").exists() else "/bin/sh"


def _tell(ended: Ended, timeout_seconds: int) -> str:
    if ended.ending == "timed_out":
        return f"[ended after {timeout_seconds} s: time ran out]"
    left = "; processes it left in the background were ended" if ended.left_children else ""
    if ended.exit_code >= 0:
        return f"[exit code {ended.exit_code}{left}]"
    name = str(-ended.exit_code)
    with suppress(ValueError):
        name = signal.Signals(-ended.exit_code).name
    return f"[ended by signal {name}{left}]"
