"""Run a shell command in the workspace."""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from threading import Event

from pydantic import Field

from agent_tui.core.errors import ToolError
from agent_tui.core.messages import CommandDisplay, Display, ToolResult
from agent_tui.core.shell import exit_line
from agent_tui.core.text import first_line, reveal
from agent_tui.tools.background import run_off_loop
from agent_tui.tools.base import Arguments, Subject, Tool, ToolContext
from agent_tui.tools.child import Ended, run_child
from agent_tui.tools.output import BoundedOutput, ToldOutput
from agent_tui.tools.running_commands import SharedOutput
from agent_tui.tools.sandbox import confine, require_sandbox
from agent_tui.tools.workspace import git_settings, read_only_folders

STARTED = "[background command {number} started; use background_command to wait for it or stop it]"
"""What the agent is told of a command that it left in the background."""

_SECONDS = 120
_DAY_SECONDS = 86_400


_MADE = (
    "\n[Created {names}: hooks and settings there run outside the sandbox. The user should "
    "check them first]"
)
_CHANGED = (
    "\n[.git/config or a hook in .git/hooks was changed: both run outside the sandbox. The user "
    "should check them before using git here]"
)


class RunCommandArguments(Arguments):
    """What to run, and for how long at most."""

    command: str = Field(description="The shell command. It starts in the workspace folder.")
    timeout_seconds: int | None = Field(
        default=None,
        ge=1,
        le=86_400,
        description="End the command after this many seconds; default 120. In the background it "
        "ends with the session.",
    )
    background: bool = Field(
        default=False,
        description="Return at once and let it run, as servers and watchers do; use "
        "background_command to wait for it, read its output or stop it.",
    )


class RunCommand(Tool[RunCommandArguments]):
    """Runs a shell command and tells what it printed and how it ended."""

    name = "run_command"
    description = (
        "Run a shell command in the workspace and return its output (stdout and stderr together) "
        "and exit code. It has no terminal and cannot ask questions: pass flags such as --yes. "
        "Processes that it leaves behind are ended with it, so use background instead of '&'. Long "
        "output keeps its beginning and its end. Prefer read_file, find_files and search_files for "
        "reading."
    )
    parameters = RunCommandArguments
    acts = True

    def title(self, arguments: RunCommandArguments) -> str:
        return first_line(reveal(arguments.command))

    def subject(self, arguments: RunCommandArguments) -> Subject:
        return Subject("command", arguments.command)

    async def preview(self, arguments: RunCommandArguments, context: ToolContext) -> Display:
        _check(arguments.command)
        if context.confinement.sandbox == "strict":  # nobody is asked about what cannot run
            await asyncio.to_thread(require_sandbox, context.confinement)
        return CommandDisplay(reveal(arguments.command), str(context.workspace))

    async def run(self, arguments: RunCommandArguments, context: ToolContext) -> ToolResult:
        _check(arguments.command)
        if not context.workspace.is_dir():
            raise ToolError(f"The workspace {context.workspace} no longer exists.")
        if arguments.background:
            await asyncio.to_thread(require_sandbox, context.confinement)
            return _start(arguments, context)
        output = ToldOutput(context.output_limit, context.tell, context.blobs)

        def work(stop: Event) -> ToolResult:
            ended = _run(arguments, context, stop, output)
            result = _result(arguments, context, output, ended)
            if context.leave is not None:  # nobody takes what is returned to a cancelled task
                context.leave(result, ended.ending != "stopped")
            return result

        try:
            return await run_off_loop(work)
        finally:
            output.close()


def _start(arguments: RunCommandArguments, context: ToolContext) -> ToolResult:
    """Start the command in the background and say how to get at it."""
    if context.commands is None:
        raise ToolError("No command can run in the background here: run it without background.")
    command = context.commands.start(
        first_line(reveal(arguments.command)),
        SharedOutput(context.output_limit, context.blobs),
        lambda stop, output: _run(arguments, context, stop, output),
    )
    display = CommandDisplay(reveal(arguments.command), str(context.workspace))
    return ToolResult(STARTED.format(number=command.number), display=display)


def _run(
    arguments: RunCommandArguments, context: ToolContext, stop: Event, output: BoundedOutput
) -> Ended:
    shell = [_shell(), "-c", arguments.command]
    launch = confine(shell, context.confinement, context.workspace, context.protected)
    before, settings = read_only_folders(context.workspace), git_settings(context.workspace)
    ended = run_child(
        launch.command,
        folder=context.workspace,
        sink=output,
        stop=stop,
        timeout_seconds=arguments.timeout_seconds
        or (_DAY_SECONDS if arguments.background else _SECONDS),
        finds_strays=True,
        supervised=launch.supervised,
    )
    if made := read_only_folders(context.workspace) - before:
        return replace(ended, warning=_MADE.format(names=" and ".join(sorted(made))))
    if git_settings(context.workspace) != settings:
        return replace(ended, warning=_CHANGED)
    return ended


def _result(
    arguments: RunCommandArguments, context: ToolContext, output: BoundedOutput, ended: Ended
) -> ToolResult:
    """What it printed and how it ended; whoever interrupted it says so."""
    output.finish()
    interrupted = ended.ending == "stopped"
    told = describe_end(ended, arguments.timeout_seconds or _SECONDS)
    told = ended.warning.lstrip("\n") if interrupted else told
    text = "\n".join(filter(None, [output.text().rstrip("\n"), told]))
    code = None if interrupted else ended.exit_code
    display = CommandDisplay(reveal(arguments.command), str(context.workspace), code)
    return ToolResult(text, ended.ending != "exited" or ended.exit_code != 0, display)


def _check(command: str) -> None:
    if not command.strip():
        raise ToolError("The command is empty.")
    if "\0" in command:
        raise ToolError("A command cannot contain a NUL character.")
    try:
        os.fsencode(command)
    except UnicodeEncodeError:
        raise ToolError("A command cannot contain half a surrogate pair.") from None


def _shell() -> str:
    return "/bin/bash" if Path("/bin/bash").exists() else "/bin/sh"


def describe_end(ended: Ended, timeout_seconds: int) -> str:
    """How a command ended, as the last line of its output; a warning stands behind it."""
    return _describe(ended, timeout_seconds) + ended.warning


def _describe(ended: Ended, timeout_seconds: int) -> str:
    if ended.ending == "stopped":
        return "[stopped]"
    if ended.ending == "timed_out":
        return f"[ended after {timeout_seconds} s: time ran out]"
    left = "; processes it left in the background were ended" if ended.left_children else ""
    if ended.exit_code >= 0:
        return exit_line(ended.exit_code, left)
    name = str(-ended.exit_code)
    with suppress(ValueError):
        name = signal.Signals(-ended.exit_code).name
    return f"[ended by signal {name}{left}]"
