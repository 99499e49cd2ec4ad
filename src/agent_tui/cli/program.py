"""Runs the command line: a first argument that names a command is one, everything else a prompt."""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent_tui import __version__
from agent_tui.cli.switches import read_switches
from agent_tui.core.output import complain, say

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Coroutine
    from types import SimpleNamespace

    from agent_tui.runtime.starting.launch import Launch

    Options = Namespace | SimpleNamespace

_INTERRUPTED = 130
_PIPE_SECONDS = 3.0


def main(argv: list[str] | None = None) -> None:
    """Run the command line and exit with its code."""
    arguments = sys.argv[1:] if argv is None else argv
    for stream in (sys.stdout, sys.stderr):
        _forgive_encoding(stream, "backslashreplace")
    try:
        code = _answer(arguments)
    except BrokenPipeError:  # nobody reads any longer
        code = 1
    except OSError as error:
        code = _fail_for_system(error)
    sys.exit(_flush(code))


def _answer(arguments: list[str]) -> int:
    try:
        if switches := read_switches(arguments):
            return _chat(switches)
        return _parse(arguments)
    except SystemExit as ended:  # how argparse ends after help and mistakes
        return ended.code if isinstance(ended.code, int) else 0
    except KeyboardInterrupt:
        return _INTERRUPTED


def _parse(arguments: list[str]) -> int:
    from agent_tui.cli.parsers import chat_parser, refuse_words
    from agent_tui.cli.table import GROUPS

    if arguments[0] in GROUPS:
        return _run_command(arguments)
    parser = chat_parser()
    options, left = parser.parse_known_args(arguments)
    if refusal := refuse_words(options.prompt, left, arguments):
        return _fail(refusal, 2)
    if left:
        parser.error(f"unrecognized arguments: {' '.join(left)}")
    return _chat(options)


def _flush(code: int) -> int:
    """Write what is still buffered; an exit code that says whether all went well."""
    try:
        sys.stdout.flush()
    except OSError as error:
        # What cannot be written must not fail again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = code or (1 if isinstance(error, BrokenPipeError) else _fail_for_system(error))
    return code


def _launch(options: Options, **more: Any) -> Launch:
    from agent_tui.runtime.starting.launch import Launch

    if not hasattr(options, "cwd"):  # a command that needs no engine
        return Launch(cwd=_working_folder())
    cwd = options.cwd.absolute() if options.cwd else _working_folder()
    return Launch(
        cwd=cwd,
        demo=options.demo or options.scenario is not None or options.stress is not None,
        scenario=options.scenario,
        stress=options.stress,
        model=options.model,
        flags=_flags(options),
        assigned=_assigned(options),
        debug=options.debug,
        agent=options.agent,
        trust=options.trust,
        **more,
    )


def _flags(options: Options) -> tuple[tuple[tuple[str, ...], Any], ...]:
    """Settings that were given by options of their own, by their names."""
    named: dict[tuple[str, ...], Any] = {
        ("thinking",): options.thinking,
        ("agent", "max_steps"): options.max_steps,
        ("agent", "max_cost"): options.max_cost,
        ("agent", "max_seconds"): options.max_time,
        ("commands", "sandbox"): options.sandbox,
        ("approvals", "mode"): getattr(options, "mode", None),
    }
    return tuple((names, value) for names, value in named.items() if value is not None)


def _assigned(options: Options) -> tuple[tuple[tuple[str, ...], Any], ...]:
    """Settings that were given as ``--set KEY=VALUE``, by their names."""
    if not options.set:
        return ()
    from agent_tui.config.writing import parse_assignment

    return tuple(map(parse_assignment, options.set))


def _working_folder() -> Path:
    """The folder this was started in; its old name where it has been deleted since."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        return Path(os.environ.get("PWD", "/"))


def _chat(options: Options) -> int:
    if options.version:
        say(f"agent-tui {__version__}")
        return 0
    if options.command is not None:
        if options.prompt:
            return _fail("--command already gives the prompt; leave PROMPT out.", 2)
        options.prompt, options.print = options.command, True
    launch = _guard(
        lambda: _launch(
            options,
            yolo=options.yolo,
            allow=tuple(options.allow),
            resume=options.resume or None,
            latest=options.latest,
            prompt=options.prompt,
            pick=options.resume == "",
            ephemeral=options.ephemeral,
        )
    )
    if isinstance(launch, int):
        return launch
    if not launch.cwd.is_dir():
        return _fail(f"--cwd expects a folder, and {launch.cwd} is not one.", 2)
    if options.print and launch.pick:
        return _fail("--resume needs an ID with --print; agent-tui sessions list shows them.", 2)
    if launch.ephemeral and not launch.is_new:
        return _fail("--ephemeral starts a new session; leave out --resume and --continue.", 2)
    if options.daemon:
        from agent_tui.headless.daemon import serve

        return _run(serve(launch))
    if options.print or options.output_schema:
        return _print_turn(launch, options.output_format, options.output_schema)
    if options.output_format != "text":
        return _fail("--output-format needs --print.", 2)
    if options.plain:
        if launch.pick:
            return _fail("--resume needs an ID with --plain; see agent-tui sessions list.", 2)
        from agent_tui.headless.plain.conversation import converse

        return _run(converse(launch))
    return _run_screen(launch)


def _run_screen(launch: Launch) -> int:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return _fail("the screen needs a terminal; use --print or --plain to run without one.", 2)
    # Collections while modules load cost 10 to 15 ms of the first frame; the app turns them on.
    gc.disable()
    # A key waits for the next tick of the screen: at 60 a second that is half of its way back.
    os.environ.setdefault("TEXTUAL_FPS", "120")
    from agent_tui.runtime.machine.terminal_link import escape_milliseconds

    os.environ.setdefault("ESCDELAY", str(escape_milliseconds()))
    from agent_tui.ui.app import run_app

    return run_app(launch)


def _print_turn(launch: Launch, form: Any, schema_path: Path | None) -> int:
    import dataclasses

    given = _read_piped(patient=not launch.prompt.strip())
    prompt = "\n\n".join(text for text in (launch.prompt.strip(), given) if text)
    if not prompt:
        return _fail("--print expects a PROMPT, as an argument or on standard input.", 2)
    from agent_tui.headless.schema_answer import AnswerSchema
    from agent_tui.headless.turn import print_turn

    schema = _guard(lambda: AnswerSchema.read(schema_path)) if schema_path else None
    if isinstance(schema, int):
        return schema
    return _run(print_turn(dataclasses.replace(launch, prompt=prompt), form, schema))


def _read_piped(*, patient: bool) -> str:
    """What stands on standard input where it is a pipe or a file; never waits for a terminal.

    A pipe that somebody left open says nothing forever: beside a prompt it is soon given up.
    """
    import select
    import stat

    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
    except (OSError, ValueError, AttributeError):
        return ""
    if not (stat.S_ISFIFO(mode) or stat.S_ISREG(mode) or stat.S_ISSOCK(mode)):
        return ""
    if not patient and not select.select([sys.stdin], [], [], _PIPE_SECONDS)[0]:
        return ""
    _forgive_encoding(sys.stdin, "replace")
    return sys.stdin.read().strip()


def _run_command(arguments: list[str]) -> int:
    from agent_tui.cli.parsers import UnknownVerb, command_parser, group_parser, split_command

    asks_for_help = not {"-h", "--help"}.isdisjoint(arguments)
    if asks_for_help and (group := group_parser(arguments)):
        group.print_help()
        return 0
    try:
        command, rest = split_command(arguments)
    except UnknownVerb as error:
        return _fail(str(error), 2)
    options = command_parser(command).parse_args(rest)
    match command.name:
        case "help":
            return _show_help(options)
        case "man":
            from agent_tui.cli.manual import man_page

            say(man_page(), end="")
            return 0
        case "doctor":
            from agent_tui.headless.doctor import print_findings

            return print_findings(as_json=options.json)
        case "completion":
            from agent_tui.cli.completion import completion_script

            say(completion_script(options.shell), end="")
            return 0
        case "open" if not options.json and sys.stdout.isatty():
            return _run_screen(_launch(options, path=options.path.absolute()))
    if command.name.startswith("config "):
        code: int = _guard(lambda: _run_settings(command.name, options))
        return code
    launch = _guard(lambda: _launch(options))
    if isinstance(launch, int):
        return launch
    if command.name.startswith("mcp "):
        from agent_tui.headless.tool_servers import run_tool_servers_command

        return _run(run_tool_servers_command(command.name, launch, options))
    if command.name == "models":
        from agent_tui.headless.models import print_models

        return _run(print_models(launch, options))
    from agent_tui.headless.library_commands import LIBRARY_COMMANDS, run_library_command

    if command.name in LIBRARY_COMMANDS:
        return _run(run_library_command(command.name, launch, options))
    from agent_tui.headless.commands import run_command

    return _run(run_command(command.name, launch, options))


def _run_settings(name: str, options: Namespace) -> int:
    from agent_tui.headless.settings import run_settings_command

    return run_settings_command(name, _launch(options), options)


def _show_help(options: Namespace) -> int:
    from agent_tui.cli.parsers import (
        UnknownVerb,
        chat_parser,
        command_parser,
        group_parser,
        split_command,
    )
    from agent_tui.cli.table import GROUPS

    if options.all:
        from agent_tui.cli.manual import full_help

        say(full_help(), end="")
        return 0
    if not options.words:
        chat_parser().print_help()
        return 0
    if options.words == ["stream-json"]:
        from agent_tui.headless.event_lines import describe_events

        say(describe_events(), end="")
        return 0
    if options.words == ["daemon"]:
        from agent_tui.headless import daemon

        say((daemon.__doc__ or "").strip())
        return 0
    if options.words[0] not in GROUPS:
        return _fail(f"there is no command {options.words[0]!r}; see agent-tui --help.", 2)
    if group := group_parser(options.words):
        group.print_help()
        return 0
    try:
        command, _ = split_command(options.words)
    except UnknownVerb as error:
        return _fail(str(error), 2)
    command_parser(command).print_help()
    return 0


def _guard(work: Any) -> Any:
    """Do something now; a known error is one sentence and an exit code."""
    from agent_tui.core.errors import AgentTuiError

    try:
        return work()
    except AgentTuiError as error:
        return _fail(str(error), error.exit_code)


def _run(work: Coroutine[Any, Any, int]) -> int:
    """Run to an exit code; a signal interrupts cleanly, a known error is one sentence."""
    import asyncio

    from agent_tui.core.errors import AgentTuiError

    try:
        return asyncio.run(_interruptible(work))
    except AgentTuiError as error:
        return _fail(str(error), error.exit_code)
    except (KeyboardInterrupt, asyncio.CancelledError):
        return _INTERRUPTED


async def _interruptible(work: Coroutine[Any, Any, int]) -> int:
    """Let a terminal that closes, or a system that shuts down, interrupt as Ctrl+C does."""
    import asyncio
    import signal

    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    if task is not None:
        for number in (signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, task.cancel)
    return await work


def _forgive_encoding(stream: Any, errors: str) -> None:
    """Never fail on a character that a stream's encoding does not know."""
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors=errors)


def _fail_for_system(error: OSError) -> int:
    return _fail(f"{error.filename or 'the system'}: {error.strerror or error}.", 1)


def _fail(sentence: str, code: int) -> int:
    from agent_tui.core.words import say_how
    from agent_tui.headless.ways import WAYS

    complain(say_how(sentence, WAYS))
    return code
