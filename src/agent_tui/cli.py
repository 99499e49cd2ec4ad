"""The command line: ``agent-tui [PROMPT]`` to chat, subcommands to browse without a screen.

argparse, not a richer library, because it is on the way to the first frame and costs 10 ms. A first
argument that names a command is parsed as one; everything else is a prompt.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent_tui import __version__

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from agent_tui.runtime.launch import Launch

_INTERRUPTED = 130
COMMANDS = {
    "sessions": "list, show, rename, delete and undelete sessions",
    "checkpoints": "list the places a session can return to",
    "revert": "go back to a checkpoint; the old log is kept as an archive",
    "archives": "list a session's archives, or prune them",
    "restore": "make an archive the live log again",
    "compact": "compact a session's context",
    "tree": "show every branch, archive and fork of a session",
    "fork": "go on in a new session from any point of another",
    "open": "look at a log or at another agent's session, read-only",
    "export": "write a session in another format",
    "repair": "copy what can be read of a damaged session into a new one",
}

_SESSION_VERBS = ("list", "show", "rename", "delete", "undelete")


def main(argv: list[str] | None = None) -> None:
    """Run the command line and exit with its code."""
    arguments = sys.argv[1:] if argv is None else argv
    try:
        if arguments and arguments[0] in COMMANDS:
            sys.exit(_run_command(arguments))
        sys.exit(_chat(_chat_parser().parse_args(arguments)))
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)


def _chat_parser() -> argparse.ArgumentParser:
    commands = "\n".join(f"  {name:<12} {what}" for name, what in COMMANDS.items())
    parser = argparse.ArgumentParser(
        prog="agent-tui",
        usage="agent-tui [options] [PROMPT]\n       agent-tui COMMAND [arguments]",
        description="A full-screen front-end for AI agents; without PROMPT, an empty session.",
        epilog=f"commands (each with --help and --json):\n{commands}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("prompt", nargs="?", default="", metavar="PROMPT", help="a first message to the agent")
    add("-p", "--print", action="store_true", help="run PROMPT without a screen and print")
    add(
        "--output-format",
        choices=("text", "json", "stream-json"),
        default="text",
        help="what --print prints (default: text)",
    )
    add("-c", "--continue", action="store_true", dest="latest", help="go on in the newest here")
    add(
        "-r",
        "--resume",
        nargs="?",
        const="",
        metavar="ID",
        help="open a session; without ID, choose from the list",
    )
    add("--yolo", action="store_true", help="allow every action without asking")
    add("-V", "--version", action="version", version=f"agent-tui {__version__}")
    _add_engine_options(parser)
    return parser


def _add_engine_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--demo", action="store_true", help="play the embedded scenario: no key, no network")
    add("--scenario", type=Path, metavar="FILE", help="play another scenario than the embedded one")
    add("-m", "--model", default="", help="the model to ask")
    add("--cwd", type=Path, metavar="DIR", help="the workspace (default: this folder)")


def _launch(options: argparse.Namespace, **more: Any) -> Launch:
    from agent_tui.runtime.launch import Launch

    cwd = options.cwd.absolute() if options.cwd else _working_folder()
    return Launch(
        cwd=cwd,
        demo=options.demo or options.scenario is not None,
        scenario=options.scenario,
        model=options.model,
        **more,
    )


def _working_folder() -> Path:
    """The folder this was started in; its old name where it has been deleted since."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        return Path(os.environ.get("PWD", "/"))


def _chat(options: argparse.Namespace) -> int:
    launch = _launch(
        options,
        yolo=options.yolo,
        resume=options.resume or None,
        latest=options.latest,
        prompt=options.prompt,
        pick=options.resume == "",
    )
    if not launch.cwd.is_dir():
        return _fail(f"--cwd expects a folder, and {launch.cwd} is not one.", 2)
    if options.print and launch.pick:
        return _fail("--resume needs an ID with --print; agent-tui sessions list shows them.", 2)
    if options.print:
        return _print_turn(launch, options.output_format)
    if options.output_format != "text":
        return _fail("--output-format needs --print.", 2)
    return _run_screen(launch)


def _run_screen(launch: Launch) -> int:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return _fail("the screen needs a terminal; use --print to run without one.", 2)
    # Collections while modules load cost 10 to 15 ms of the first frame; the app turns them on.
    gc.disable()
    # A key waits for the next tick of the screen: at 60 a second that is half of its way back.
    os.environ.setdefault("TEXTUAL_FPS", "120")
    from agent_tui.ui.app import run_app

    return run_app(launch)


def _print_turn(launch: Launch, form: Any) -> int:
    import dataclasses

    if not launch.prompt and not sys.stdin.isatty():
        _forgive_encoding(sys.stdin, "replace")
        launch = dataclasses.replace(launch, prompt=sys.stdin.read())
    if not launch.prompt.strip():
        return _fail("--print expects a PROMPT, as an argument or on standard input.", 2)
    from agent_tui.headless.turn import print_turn

    return _run(print_turn(launch, form))


def _run_command(arguments: list[str]) -> int:
    name, *rest = arguments
    if name == "archives" and rest[:1] == ["prune"]:
        name, rest = "archives prune", rest[1:]
    elif name == "sessions":
        verb = next((word for word in rest if not word.startswith("-")), "list")
        if verb in _SESSION_VERBS:
            name = f"sessions {verb}"
            rest = [word for index, word in enumerate(rest) if index != _index_of(rest, verb)]
        else:
            return _fail(f"sessions expects {', '.join(_SESSION_VERBS)}, not {verb!r}.", 2)
    options = _command_parser(name).parse_args(rest)
    if name == "open" and not options.json and sys.stdout.isatty():
        return _run_screen(_launch(options, path=options.path.absolute()))
    from agent_tui.headless.commands import run_command

    return _run(run_command(name, _launch(options), options))


def _index_of(words: list[str], word: str) -> int:
    return words.index(word) if word in words else -1


def _command_parser(name: str) -> argparse.ArgumentParser:
    """The arguments of one command; every command knows --json and the engine's options."""
    what = COMMANDS[name.partition(" ")[0]]
    parser = argparse.ArgumentParser(prog=f"agent-tui {name}", description=what)
    add = parser.add_argument
    if name == "open":
        add("path", type=Path, metavar="PATH", help="a context.jsonl, a rotation, or a folder")
    elif name != "sessions list":
        add("id", metavar="ID", help="a session's id, or the beginning of it")
    match name:
        case "sessions rename":
            add("title", metavar="TITLE")
        case "revert":
            add("checkpoint", type=int, metavar="CHECKPOINT")
        case "restore":
            add("number", type=int, metavar="N", help="the archive's number")
        case "archives prune":
            add(
                "--keep",
                type=int,
                required=True,
                metavar="N",
                help="how many of the newest to keep",
            )
        case "compact":
            add("--focus", default="", metavar="TEXT", help="what the summary should dwell on")
            add(
                "--strategy",
                default="",
                help="last-messages, last-share, recent-tokens, or fallback: no model",
            )
        case "tree":
            add("--detail", choices=("turns", "steps", "records"), default="turns")
        case "fork":
            where = (
                "a checkpoint's number, or an entry's id as tree --json tells it (default: the end)"
            )
            add("--at", default="", metavar="PLACE", help=where)
        case "export":
            add("--format", choices=("kimi", "markdown"), default="markdown")
            add("-o", "--output", type=Path, metavar="FILE", help="default: standard output")
    add("--json", action="store_true", help="print JSON")
    _add_engine_options(parser)
    return parser


def _run(work: Coroutine[Any, Any, int]) -> int:
    """Run to an exit code; a signal interrupts cleanly, a known error is one sentence."""
    import asyncio

    from agent_tui.core.errors import AgentTuiError

    for stream in (sys.stdout, sys.stderr):
        _forgive_encoding(stream, "backslashreplace")
    try:
        return asyncio.run(_interruptible(work))
    except AgentTuiError as error:
        return _fail(str(error), error.exit_code)
    except (KeyboardInterrupt, asyncio.CancelledError):
        return _INTERRUPTED
    except BrokenPipeError:
        # Nobody reads any more; what is still buffered must not fail again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        return _fail(f"{error.filename or 'the system'}: {error.strerror or error}.", 1)


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


def _fail(sentence: str, code: int) -> int:
    from agent_tui.core.text import clean

    print(f"agent-tui: {clean(sentence)}", file=sys.stderr)
    return code
