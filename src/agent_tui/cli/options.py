"""Every option of the program itself, declared once; the commands have theirs in the table."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple


class Argument(NamedTuple):
    """One argument as argparse takes it: its names, and the rest by keyword."""

    names: tuple[str, ...]
    options: Mapping[str, Any]


def argument(*names: str, **options: Any) -> Argument:
    """An argument, written as for argparse."""
    return Argument(names, options)


def positive(text: str) -> int:
    """A number from 1 on, as argparse reads it."""
    if text.isdecimal() and int(text) > 0:
        return int(text)
    import argparse

    raise argparse.ArgumentTypeError(f"expected a number from 1 on, got {text!r}")


CHAT_OPTIONS: tuple[Argument, ...] = (
    argument("prompt", nargs="?", default="", metavar="PROMPT", help="the first message"),
    argument(
        "-p",
        "--print",
        action="store_true",
        help="answer PROMPT without a screen and exit",
    ),
    argument("-C", "--command", metavar="TEXT", help="answer TEXT without a screen and exit"),
    argument(
        "--output-format",
        choices=("text", "json", "stream-json"),
        default="text",
        help="what --print prints (default: text)",
    ),
    argument(
        "--output-schema",
        type=Path,
        metavar="FILE",
        help="make the answer match a JSON schema, and print only the value",
    ),
    argument(
        "-d",
        "--daemon",
        action="store_true",
        help="serve prompts from standard input as JSON lines, many sessions at once",
    ),
    argument(
        "--plain",
        action="store_true",
        help="use plain lines instead of a screen: for screen readers and dumb terminals",
    ),
    argument(
        "-c",
        "--continue",
        action="store_true",
        dest="latest",
        help="continue the latest session in this folder",
    ),
    argument(
        "-r",
        "--resume",
        nargs="?",
        const="",
        metavar="ID",
        help="continue a session; without ID, choose from the list",
    ),
    argument("-y", "--yolo", action="store_true", help="allow every action without asking"),
    argument(
        "--mode",
        choices=("ask", "accept-edits", "plan", "auto"),
        help="what is allowed without asking (default: ask)",
    ),
    argument(
        "--allow",
        action="append",
        default=[],
        metavar="RULE",
        help="allow actions without asking, such as 'edits(src/)' or 'run_command(git diff *)'",
    ),
    argument(
        "--ephemeral",
        action="store_true",
        help="keep the session in memory only; write nothing to disk",
    ),
    argument("-V", "--version", action="store_true", help="print the version and exit"),
)
"""What ``agent-tui [PROMPT]`` takes beside the engine's options."""

ENGINE_OPTIONS: tuple[Argument, ...] = (
    argument("--demo", action="store_true", help="run the built-in demo: no key, no network"),
    argument("--scenario", type=Path, metavar="FILE", help="run the demo from this scenario"),
    argument(
        "--stress",
        type=positive,
        metavar="N",
        help="run the demo with answers of N chunks",
    ),
    argument("-m", "--model", default="", help="the model to ask, or PROVIDER/MODEL"),
    argument(
        "--thinking", choices=("off", "low", "medium", "high"), help="how hard the model thinks"
    ),
    argument(
        "-a",
        "--agent",
        default="",
        metavar="SPEC",
        help="default, explorer, security-reviewer, time-traveller, or the path of a spec",
    ),
    argument("--max-steps", type=positive, metavar="N", help="stop a turn after N steps"),
    argument("--max-cost", type=float, metavar="USD", help="stop a turn at this cost"),
    argument("--max-time", type=float, metavar="SECONDS", help="stop a turn after this time"),
    argument(
        "--trust",
        action="store_true",
        help="use the instructions, skills and settings that come with the folder",
    ),
    argument(
        "--sandbox",
        choices=("auto", "off", "strict"),
        help="confine commands: where possible, never, or always (default: auto)",
    ),
    argument("--debug", action="store_true", help="write logs/debug.log in the data folder"),
    argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="change a setting for this run",
    ),
    argument("--cwd", type=Path, metavar="DIR", help="the workspace (default: this folder)"),
)
"""What every command that uses the engine takes."""
