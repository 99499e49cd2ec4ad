"""The commands of a plain conversation: one row each, with what it does."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from itertools import islice
from typing import NamedTuple

from agent_tui.core.errors import UsageError
from agent_tui.core.format import format_minute, format_tokens
from agent_tui.core.messages import text_of
from agent_tui.core.modes import MODE_WORDS, MODES
from agent_tui.core.records import ToolMessage
from agent_tui.core.text import first_line, format_count
from agent_tui.core.words import describe_archive
from agent_tui.headless.plain.telling import quote, tell
from agent_tui.runtime.live_session import LiveSession


class PlainCommand(NamedTuple):
    """One command: its argument and help for people, and what carries it out."""

    name: str
    argument: str
    help: str
    run: Callable[[LiveSession, str], Awaitable[None]]


async def run_plain_command(session: LiveSession, line: str) -> None:
    """Carry out a line that begins with ``/``; raises UsageError where there is no such command."""
    name, _, argument = line[1:].partition(" ")
    for command in PLAIN_COMMANDS:
        if command.name == name:
            await command.run(session, argument.strip())
            return
    raise UsageError(f"There is no command /{name} here. See /help.")


async def _help(_session: LiveSession, _argument: str) -> None:
    for command in PLAIN_COMMANDS:
        usage = f"/{command.name} {command.argument}".rstrip()
        tell(f"{usage}: {command.help}")
    tell("!COMMAND: run a shell command and share its output with the agent")
    tell("Ctrl+C: interrupt, and do not send messages that wait; Ctrl+D: quit")


async def _status(session: LiveSession, _argument: str) -> None:
    gauge, approvals = session.gauge, session.approvals
    tell(f"Session {session.session_id}: {session.view.title or 'untitled'}")
    tell(f"Model {session.model}; mode {MODE_WORDS[approvals.mode]}")
    count = format_count(session.view.message_count, "message")
    used = format_tokens(gauge.tokens, estimated=gauge.estimated)
    tell(f"{count}; {used} of {format_tokens(gauge.window)} tokens of context used")


async def _checkpoints(session: LiveSession, _argument: str) -> None:
    found = session.view.checkpoints()
    for each in found:
        prompt = first_line(each.prompt) or "(no prompt)"
        tell(f"Checkpoint {each.id}, {format_minute(each.at)}: {prompt}")
    if not found:
        tell("This session has no checkpoint yet.")


async def _revert(session: LiveSession, argument: str) -> None:
    await session.operations.revert(
        _number(argument, "/revert needs a checkpoint's number; see /checkpoints.")
    )


async def _archives(session: LiveSession, _argument: str) -> None:
    found = await session.view.archives()
    for each in found:
        words = describe_archive(each)
        tell(f"Archive {each.number}, {words}: {format_count(each.messages, 'message')}")
    if not found:
        tell("This session has no archives.")


async def _restore(session: LiveSession, argument: str) -> None:
    await session.operations.restore(
        _number(argument, "/restore needs an archive's number; see /archives.")
    )


async def _undo(session: LiveSession, _argument: str) -> None:
    await session.operations.undo()


async def _redo(session: LiveSession, _argument: str) -> None:
    await session.operations.redo()


async def _compact(session: LiveSession, argument: str) -> None:
    await session.operations.compact(argument)


async def _retry(session: LiveSession, _argument: str) -> None:
    await session.retry_turn()


async def _output(session: LiveSession, argument: str) -> None:
    wanted = _number(argument, "/output expects a number: 1 is the last.") if argument else 1
    records = session.view.records
    results = (each for each in reversed(records) if isinstance(each, ToolMessage))
    found = next(islice(results, wanted - 1, None), None) if wanted > 0 else None
    if found is None:
        raise UsageError(
            "No tool was called yet." if wanted == 1 else f"There is no result {wanted}."
        )
    for line in quote(text_of(found.content)):
        tell(line)


async def _mode(session: LiveSession, argument: str) -> None:
    for mode in MODES:
        if argument == mode:
            session.approvals.set_mode(mode)
            return
    raise UsageError(f"Expected one of {', '.join(MODES)}, got {argument or 'nothing'}.")


async def _model(session: LiveSession, argument: str) -> None:
    if argument:
        await session.operations.use_model(argument)
    tell(f"Model: {session.model}")


def _number(argument: str, expected: str) -> int:
    if not argument.isascii() or not argument.isdigit():
        raise UsageError(expected)
    return int(argument)


PLAIN_COMMANDS = (
    PlainCommand("help", "", "list the commands", _help),
    PlainCommand("status", "", "show session, model, mode, and how full the context is", _status),
    PlainCommand("checkpoints", "", "list the checkpoints to go back to", _checkpoints),
    PlainCommand("revert", "N", "revert the conversation to a checkpoint", _revert),
    PlainCommand("undo", "", "undo the last operation", _undo),
    PlainCommand("redo", "", "redo what was undone", _redo),
    PlainCommand("archives", "", "list archived logs", _archives),
    PlainCommand("restore", "N", "restore an archived log", _restore),
    PlainCommand("compact", "[FOCUS]", "summarise old messages to make room", _compact),
    PlainCommand("retry", "", "retry a turn that ended without an answer", _retry),
    PlainCommand(
        "output", "[N]", "show the whole output of the last tool, or of the N-th last", _output
    ),
    PlainCommand("mode", "NAME", f"change the approval mode: {', '.join(MODES)}", _mode),
    PlainCommand("model", "[NAME]", "show or change the model", _model),
)
"""Every command of a plain conversation, in the order of its help."""
