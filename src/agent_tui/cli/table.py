"""Every option and command, declared once: parsers, help, man page and completion read this."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple


class Argument(NamedTuple):
    """One argument as argparse takes it: its names, and the rest by keyword."""

    names: tuple[str, ...]
    options: Mapping[str, Any]


class Command(NamedTuple):
    """One command. ``engine`` says whether it knows the options of the engine."""

    name: str
    summary: str
    arguments: tuple[Argument, ...] = ()
    json: bool = True
    engine: bool = True


def _argument(*names: str, **options: Any) -> Argument:
    return Argument(names, options)


STRATEGIES = "last-messages, last-share, recent-tokens, mask or fallback (no model)"
_PLACE = "a checkpoint's number, or an entry's id as tree --json shows it (default: the end)"
_ID = _argument("id", metavar="ID", help="a session's id, or the beginning of it")
_ID_OR_PATH = _argument("id", metavar="ID", help="a session's id, or the path of any session")
_KEY = _argument("key", metavar="KEY", help="a setting's name, such as context.ratio")
_SERVER = _argument("name", metavar="NAME", help="the server's name")

EXPORT_FORMATS = ("markdown", "html", "json", "kimi", "pi")
STATISTICS = ("day", "model", "project", "agent", "tool")
_PART = (
    _argument("--max-tokens", type=int, default=0, metavar="N", help="only the newest N tokens"),
    _argument(
        "--max-messages", type=int, default=0, metavar="N", help="only the newest N messages"
    ),
    _argument(
        "--since",
        default="",
        metavar="TIME",
        help="only messages from this time on, such as 2026-03-21",
    ),
)
"""Which part of a conversation is wanted."""

_LIMIT = _argument("--limit", type=int, default=20, metavar="N", help="how many (default: 20)")

CHAT_OPTIONS: tuple[Argument, ...] = (
    _argument("prompt", nargs="?", default="", metavar="PROMPT", help="the first message"),
    _argument("-p", "--print", action="store_true", help="run PROMPT without a screen and print"),
    _argument("-C", "--command", metavar="TEXT", help="run TEXT as the prompt, print, and exit"),
    _argument(
        "--output-format",
        choices=("text", "json", "stream-json"),
        default="text",
        help="what --print prints (default: text)",
    ),
    _argument(
        "--output-schema",
        type=Path,
        metavar="FILE",
        help="have the answer fit a JSON schema, and print only the value",
    ),
    _argument(
        "-d",
        "--daemon",
        action="store_true",
        help="serve prompts from standard input as JSON lines, many sessions at once",
    ),
    _argument(
        "--plain",
        action="store_true",
        help="talk in plain lines instead of a screen: for screen readers and dumb terminals",
    ),
    _argument(
        "-c",
        "--continue",
        action="store_true",
        dest="latest",
        help="continue the latest session in this folder",
    ),
    _argument(
        "-r",
        "--resume",
        nargs="?",
        const="",
        metavar="ID",
        help="open a session; without ID, choose from the list",
    ),
    _argument("-y", "--yolo", action="store_true", help="allow every action without asking"),
    _argument(
        "--mode",
        choices=("ask", "accept-edits", "plan", "auto"),
        help="how much is allowed without asking (default: ask)",
    ),
    _argument(
        "--allow",
        action="append",
        default=[],
        metavar="RULE",
        help="allow without asking, such as 'edits(src/)' or 'run_command(git diff *)'",
    ),
    _argument(
        "--ephemeral",
        action="store_true",
        help="keep the session in memory only; nothing of it is written",
    ),
    _argument("-V", "--version", action="store_true", help="print the version and exit"),
)
"""What ``agent-tui [PROMPT]`` takes beside the engine's options."""

ENGINE_OPTIONS: tuple[Argument, ...] = (
    _argument("--demo", action="store_true", help="run the built-in demo: no key, no network"),
    _argument("--scenario", type=Path, metavar="FILE", help="run the demo from this scenario"),
    _argument(
        "--stress",
        type=int,
        metavar="N",
        help="run the demo with answers of N chunks",
    ),
    _argument("-m", "--model", default="", help="the model to ask, or PROVIDER/MODEL"),
    _argument(
        "--thinking", choices=("off", "low", "medium", "high"), help="how hard the model thinks"
    ),
    _argument(
        "-a",
        "--agent",
        default="",
        metavar="SPEC",
        help="the agent: default, explorer, security-reviewer, time-traveller, or a spec's file",
    ),
    _argument("--max-steps", type=int, metavar="N", help="stop a turn after N steps"),
    _argument("--max-cost", type=float, metavar="USD", help="stop a turn that costs more"),
    _argument("--max-time", type=float, metavar="SECONDS", help="stop a turn that takes longer"),
    _argument(
        "--trust",
        action="store_true",
        help="use the instructions, skills and settings that the folder ships",
    ),
    _argument("--sandbox", choices=("auto", "off", "strict"), help="how commands are confined"),
    _argument("--debug", action="store_true", help="log named events to logs/debug.log"),
    _argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="change a setting for this run",
    ),
    _argument("--cwd", type=Path, metavar="DIR", help="the workspace (default: this folder)"),
)
"""What every command that uses the engine takes."""

COMMANDS: tuple[Command, ...] = (
    Command(
        "sessions list",
        "list every session of every project",
        (_argument("--all-agents", action="store_true", help="list other agents' sessions too"),),
    ),
    Command("sessions show", "show what a session holds", (_ID,)),
    Command("sessions rename", "name a session", (_ID, _argument("title", metavar="TITLE"))),
    Command("sessions delete", "move a session into the trash", (_ID,)),
    Command("sessions undelete", "restore a deleted session", (_ID,)),
    Command("checkpoints", "list the places a session can return to", (_ID_OR_PATH,)),
    Command(
        "revert",
        "go back to a checkpoint: the conversation, the files, or both",
        (
            _ID,
            _argument("checkpoint", type=int, metavar="CHECKPOINT"),
            _argument("--files", action="store_true", help="only the files the agent changed"),
            _argument("--conversation", action="store_true", help="only the conversation"),
            _argument("--both", action="store_true", help="files and conversation"),
            _argument("--dry-run", action="store_true", help="only show what would be done"),
        ),
    ),
    Command(
        "changes",
        "show what changed on disk, and who changed it; of another agent's log, what it tells",
        (
            _ID_OR_PATH,
            _argument("--since", type=int, metavar="CHECKPOINT", help="only what came after it"),
            _argument("--patch", action="store_true", help="print a patch"),
        ),
    ),
    Command("archives", "list a session's archived logs", (_ID_OR_PATH,)),
    Command(
        "archives prune",
        "delete old archives for good",
        (
            _ID,
            _argument(
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
        "make an archive the live log again",
        (_ID, _argument("number", type=int, metavar="N", help="the archive's number")),
    ),
    Command(
        "compact",
        "compact a session's context",
        (
            _ID,
            _argument("--focus", default="", metavar="TEXT", help="what the summary should stress"),
            _argument("--strategy", default="", help=STRATEGIES),
        ),
    ),
    Command(
        "tree",
        "show every branch, archive and fork of a session",
        (_ID, _argument("--detail", choices=("turns", "steps", "records"), default="turns")),
    ),
    Command(
        "fork",
        "start a new session from any point of another",
        (_ID, _argument("--at", default="", metavar="PLACE", help=_PLACE), *_PART),
    ),
    Command(
        "open",
        "view a log or another agent's session, read-only",
        (
            _argument(
                "path", type=Path, metavar="PATH", help="a context.jsonl, an archive, or a folder"
            ),
        ),
    ),
    Command(
        "export",
        "write a session in another format",
        (
            _ID,
            _argument("--format", choices=EXPORT_FORMATS, default="markdown"),
            _argument("-o", "--output", type=Path, metavar="FILE", help="default: standard output"),
            *_PART,
        ),
    ),
    Command(
        "search",
        "search every session of every agent",
        (
            _argument(
                "words",
                nargs="+",
                metavar="QUERY",
                help='words, "phrases", -without, and filters: agent: project: session: role: '
                "model: tool: file: touched: has:error has:compaction after: before:",
            ),
            _LIMIT,
        ),
    ),
    Command(
        "why",
        "show which session wrote a file or a line, and what was asked then",
        (_argument("target", metavar="FILE[:LINE]", help="a file, or a line of it"), _LIMIT),
    ),
    Command(
        "statistics",
        "show tokens, cost, tools, errors and compactions of every session",
        (
            _argument("--by", choices=STATISTICS, default="day", help="what to group by"),
            _argument("--since", default="", metavar="DAY", help="only from this day on"),
        ),
    ),
    Command(
        "ship",
        "write every session as flat rows for a database or a collector",
        (
            _argument("folder", type=Path, metavar="DIR", help="where the files go"),
            _argument("--format", choices=("jsonl", "parquet", "otlp"), default="jsonl"),
            _argument("--content", action="store_true", help="also what was said, without secrets"),
            _argument("--endpoint", default="", metavar="URL", help="send OTLP to this collector"),
        ),
    ),
    Command(
        "index",
        "bring the search index up to date",
        (
            _argument("--rebuild", action="store_true", help="rebuild it from the sessions"),
            _argument("--check", action="store_true", help="compare it with the sessions"),
        ),
    ),
    Command("repair", "copy what can be read of a session into a new one", (_ID_OR_PATH,)),
    Command(
        "config show",
        "show the settings in force",
        (
            _argument("key", nargs="?", default="", metavar="KEY", help="only this setting"),
            _argument("--origin", action="store_true", help="say where each value was set"),
        ),
    ),
    Command(
        "config set",
        "change a setting in the user's file",
        (_KEY, _argument("value", metavar="VALUE", help="TOML, or plain text")),
        json=False,
    ),
    Command("config unset", "remove a setting from the user's file", (_KEY,), json=False),
    Command("config edit", "open the user's file in an editor, and check it", json=False),
    Command(
        "config schema",
        "write the JSON schema of the settings, for editors",
        (_argument("-o", "--output", type=Path, metavar="FILE", help="default: standard output"),),
        json=False,
        engine=False,
    ),
    Command("config path", "print where the user's file is", json=False, engine=False),
    Command(
        "models",
        "list the available models, with window and price",
        (
            _argument("words", nargs="*", metavar="WORD", help="only names with these words"),
            _argument(
                "--test",
                action="store_true",
                help="send a test request to each match, or to the default",
            ),
        ),
    ),
    Command("mcp list", "list MCP servers and whether they work"),
    Command("mcp get", "show what a server offers", (_SERVER,)),
    Command(
        "mcp add",
        "add a server: a command to start, or the URL of one over HTTP",
        (
            _SERVER,
            _argument("-e", "--env", action="append", default=[], metavar="NAME=VALUE"),
            _argument("-H", "--header", action="append", default=[], metavar="NAME:VALUE"),
            _argument("target", nargs="...", metavar="COMMAND|URL", help="with its arguments"),
        ),
        json=False,
        engine=False,
    ),
    Command("mcp remove", "remove a server", (_SERVER,), json=False, engine=False),
    Command(
        "mcp test",
        "start a server, and call one of its tools",
        (
            _SERVER,
            _argument("tool", nargs="?", default="", metavar="TOOL"),
            _argument("arguments", nargs="?", default="", metavar="JSON"),
        ),
        json=False,
    ),
    Command("mcp accept", "accept changed tools of a server", (_SERVER,), json=False),
    Command("doctor", "check the setup, and say what to fix", engine=False),
    Command(
        "help",
        "show the help of a command",
        (
            _argument("words", nargs="*", metavar="COMMAND", help="or stream-json, daemon"),
            _argument("--all", action="store_true", help="every option and command on one page"),
        ),
        json=False,
        engine=False,
    ),
    Command(
        "completion",
        "print a completion script for a shell",
        (_argument("shell", choices=("bash", "zsh", "fish")),),
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
    (5, "an action was denied"),
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
