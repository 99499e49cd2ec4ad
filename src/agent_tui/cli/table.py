"""Every command, declared once: parsers, help, man page and completion read this."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from agent_tui.cli.options import Argument, argument, positive
from agent_tui.core.search_filters import FILTERS


class Command(NamedTuple):
    """One command.

    ``engine`` says whether it knows the options of the engine; ``notes`` what its arguments can
    hold, below them.
    """

    name: str
    summary: str
    arguments: tuple[Argument, ...] = ()
    json: bool = True
    engine: bool = True
    notes: tuple[tuple[str, str], ...] = ()


STRATEGIES = "last-messages, last-share, recent-tokens, mask or fallback (no model)"
_PLACE = (
    "a checkpoint's number (a message's where the session has no checkpoints), or an entry's id as "
    "tree --json shows it (default: the end)"
)
_ID = argument("id", metavar="ID", help="a session's id, or its first characters")
_ID_OR_PATH = argument("id", metavar="ID", help="a session's id, or the path of a session file")
_KEY = argument("key", metavar="KEY", help="a setting's name, such as context.ratio")
_SERVER = argument("name", metavar="NAME", help="the server's name")

EXPORT_FORMATS = ("markdown", "html", "json", "kimi", "pi")
STATISTICS = ("day", "model", "project", "agent", "tool")
_PART = (
    argument(
        "--max-tokens", type=positive, default=0, metavar="N", help="only the newest N tokens"
    ),
    argument(
        "--max-messages", type=positive, default=0, metavar="N", help="only the newest N messages"
    ),
    argument(
        "--since",
        default="",
        metavar="TIME",
        help="only messages from this time on: 2026-03-21, 2026-03-21T14:05 or 7d",
    ),
)
"""Which part of a conversation is wanted."""

_LIMIT = argument(
    "--limit", type=positive, default=20, metavar="N", help="show at most N (default: 20)"
)

COMMANDS: tuple[Command, ...] = (
    Command(
        "sessions list",
        "list every session of every project",
        (argument("--all-agents", action="store_true", help="list other agents' sessions too"),),
    ),
    Command("sessions show", "show what a session holds", (_ID,)),
    Command(
        "sessions rename",
        "rename a session",
        (_ID, argument("title", metavar="TITLE", help="its new title")),
    ),
    Command("sessions delete", "move a session to the trash", (_ID,)),
    Command("sessions undelete", "restore a deleted session", (_ID,)),
    Command("checkpoints", "list a session's checkpoints", (_ID_OR_PATH,)),
    Command(
        "revert",
        "go back to a checkpoint: the conversation, the files, or both",
        (
            _ID,
            argument(
                "checkpoint",
                type=int,
                metavar="CHECKPOINT",
                help="its number, as agent-tui checkpoints ID lists it",
            ),
            argument(
                "--files", action="store_true", help="revert the files, keep the conversation"
            ),
            argument(
                "--conversation",
                action="store_true",
                help="revert the conversation, keep the files (default)",
            ),
            argument("--both", action="store_true", help="revert the conversation and the files"),
            argument(
                "--dry-run", action="store_true", help="show what would be done, and change nothing"
            ),
        ),
    ),
    Command(
        "changes",
        "show what changed on disk, and who changed it",
        (
            _ID_OR_PATH,
            argument(
                "--since", type=int, metavar="CHECKPOINT", help="only changes after this checkpoint"
            ),
            argument("--patch", action="store_true", help="print them as a patch for git apply"),
        ),
    ),
    Command("archives", "list a session's archived logs", (_ID_OR_PATH,)),
    Command(
        "archives prune",
        "permanently delete old archives",
        (
            _ID,
            argument(
                "--keep",
                type=int,
                required=True,
                metavar="N",
                help="how many of the newest to keep",
            ),
        ),
    ),
    Command(
        "restore",
        "restore an archived log",
        (_ID, argument("number", type=int, metavar="N", help="the archive's number")),
    ),
    Command(
        "compact",
        "compact a session's context",
        (
            _ID,
            argument("--focus", default="", metavar="TEXT", help="what the summary should stress"),
            argument("--strategy", default="", help=f"one of {STRATEGIES}"),
        ),
    ),
    Command(
        "tree",
        "show every branch, archive and fork of a session",
        (
            _ID_OR_PATH,
            argument(
                "--detail",
                choices=("turns", "steps", "records"),
                default="turns",
                help="how much to show (default: turns)",
            ),
        ),
    ),
    Command(
        "fork",
        "start a new session from any point of another",
        (_ID_OR_PATH, argument("--at", default="", metavar="PLACE", help=_PLACE), *_PART),
    ),
    Command(
        "open",
        "view a log or another agent's session, read-only",
        (
            argument(
                "path",
                type=Path,
                metavar="PATH",
                help="a session file of any known agent, an archived log, or a folder",
            ),
        ),
    ),
    Command(
        "export",
        "write a session in another format",
        (
            _ID_OR_PATH,
            argument(
                "--format",
                choices=EXPORT_FORMATS,
                default="markdown",
                help="the format (default: markdown)",
            ),
            argument(
                "-o",
                "--output",
                type=Path,
                metavar="FILE",
                help="the file to write (default: standard output)",
            ),
            *_PART,
        ),
    ),
    Command(
        "search",
        "search all sessions of all agents",
        (
            argument(
                "words",
                nargs="+",
                metavar="QUERY",
                help='words, "phrases", -without, and the filters below',
            ),
            _LIMIT,
        ),
        notes=tuple((f"{name}:", meaning) for name, meaning in FILTERS.items()),
    ),
    Command(
        "why",
        "show which session wrote a file or a line, and for which prompt",
        (argument("target", metavar="FILE[:LINE]", help="a file, or a line of it"), _LIMIT),
    ),
    Command(
        "statistics",
        "show tokens, cost, tools, errors and compactions of all sessions",
        (
            argument(
                "--by", choices=STATISTICS, default="day", help="what to group by (default: day)"
            ),
            argument(
                "--since",
                default="",
                metavar="DAY",
                help="only from this day on, such as 2026-03-21 or 7d",
            ),
        ),
    ),
    Command(
        "ship",
        "write every session as flat rows, for a database or OTLP",
        (
            argument("folder", type=Path, metavar="DIR", help="the folder to write to"),
            argument(
                "--format",
                choices=("jsonl", "parquet", "otlp"),
                default="jsonl",
                help="the format (default: jsonl)",
            ),
            argument(
                "--content",
                action="store_true",
                help="include the text of messages, without secrets",
            ),
            argument("--endpoint", default="", metavar="URL", help="send OTLP to this collector"),
        ),
    ),
    Command(
        "index",
        "bring the search index up to date",
        (
            argument("--rebuild", action="store_true", help="rebuild it from the sessions"),
            argument("--check", action="store_true", help="compare it with the sessions"),
        ),
    ),
    Command("repair", "copy everything readable in a session into a new one", (_ID_OR_PATH,)),
    Command(
        "config show",
        "show the settings in force",
        (
            argument("key", nargs="?", default="", metavar="KEY", help="show only this setting"),
            argument("--origin", action="store_true", help="show where each value was set"),
        ),
    ),
    Command(
        "config set",
        "change a setting in your config file",
        (_KEY, argument("value", metavar="VALUE", help="a TOML value, or plain text")),
        json=False,
    ),
    Command("config unset", "remove a setting from your config file", (_KEY,), json=False),
    Command("config edit", "edit your config file, and check it", json=False),
    Command(
        "config schema",
        "write the JSON schema of the settings, for editors",
        (
            argument(
                "-o",
                "--output",
                type=Path,
                metavar="FILE",
                help="the file to write (default: standard output)",
            ),
        ),
        engine=False,
    ),
    Command("config path", "print the path of your config file", engine=False),
    Command(
        "models",
        "list the available models, with window and price",
        (
            argument(
                "words",
                nargs="*",
                metavar="WORD",
                help="show only models whose names contain these words",
            ),
            argument(
                "--test",
                action="store_true",
                help="send a test request to each model that WORD chooses, or to the default one",
            ),
        ),
    ),
    Command("mcp list", "list MCP servers and whether they work"),
    Command("mcp get", "show what an MCP server offers", (_SERVER,)),
    Command(
        "mcp add",
        "add an MCP server: the command that starts it, or its URL",
        (
            _SERVER,
            argument(
                "-e",
                "--env",
                action="append",
                default=[],
                metavar="NAME=VALUE",
                help="set an environment variable of the command",
            ),
            argument(
                "-H",
                "--header",
                action="append",
                default=[],
                metavar="NAME:VALUE",
                help="send this HTTP header",
            ),
            argument(
                "target",
                nargs="...",
                metavar="COMMAND|URL",
                help="a command with its arguments, or a URL",
            ),
        ),
        json=False,
        engine=False,
    ),
    Command("mcp remove", "remove an MCP server", (_SERVER,), json=False, engine=False),
    Command(
        "mcp test",
        "start an MCP server, and call one of its tools",
        (
            _SERVER,
            argument("tool", nargs="?", default="", metavar="TOOL", help="the tool to call"),
            argument("arguments", nargs="?", default="", metavar="JSON", help="its arguments"),
        ),
        json=False,
    ),
    Command("mcp accept", "accept the changed tools of an MCP server", (_SERVER,), json=False),
    Command("doctor", "check the setup, and show what to fix", engine=False),
    Command(
        "help",
        "show the help of a command",
        (
            argument(
                "words",
                nargs="*",
                metavar="COMMAND",
                help="a command, or a format of lines: stream-json, daemon",
            ),
            argument(
                "--all", action="store_true", help="show every option and command on one page"
            ),
        ),
        json=False,
        engine=False,
    ),
    Command(
        "completion",
        "print a completion script for a shell",
        (argument("shell", choices=("bash", "zsh", "fish"), help="the shell"),),
        json=False,
        engine=False,
    ),
    Command("man", "print the man page (troff)", json=False, engine=False),
)
"""Every command; a group such as ``sessions`` has one for each of its verbs."""

DEFAULT_VERBS = {"sessions": "list", "config": "show", "mcp": "list", "archives": ""}
"""The verb of a group where none was given; empty: the group's name is a command itself."""

GROUPS = tuple(dict.fromkeys(command.name.split()[0] for command in COMMANDS))
"""The first words of all commands."""

EXIT_CODES = (
    (0, "done"),
    (1, "error"),
    (2, "wrong usage or settings"),
    (3, "a limit of steps, cost or time was reached"),
    (5, "an action was rejected"),
    (130, "interrupted"),
)
"""What the exit codes mean."""


def verbs_of(group: str) -> tuple[str, ...]:
    """The verbs of a group, in the order of the table; empty for a command of one word."""
    return tuple(
        command.name.split()[1] for command in COMMANDS if command.name.startswith(f"{group} ")
    )


def find_command(name: str) -> Command | None:
    """The command of this whole name."""
    return next((command for command in COMMANDS if command.name == name), None)


def summary_of(group: str) -> str:
    """What a first word stands for: what it does, and the verbs that it has."""
    verbs = verbs_of(group)
    command = find_command(group)
    if command is None:
        return ", ".join(verbs)
    return f"{command.summary}; {', '.join(verbs)}" if verbs else command.summary
