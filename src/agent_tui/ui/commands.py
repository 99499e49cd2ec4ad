"""Every command, declared once: keys, slash completion, palette and help are read from this table.

The screen that holds the conversation takes ``key_bindings()`` as its BINDINGS and implements
``action_command(name)`` and ``run_command(name, argument)``; nothing else names a key.
"""

from __future__ import annotations

from dataclasses import dataclass

from textual.binding import Binding


@dataclass(frozen=True, slots=True)
class Command:
    """One thing a user can ask for.

    Attributes:
        name: what follows the slash, and the argument of ``action_command``.
        title: two or three words for the palette.
        help: one sentence.
        group: heading under which the help screen lists it.
        argument: how the argument is written, in brackets when it may be left out.
        key: Textual keys, the first one shown.
        key_label: how the key is shown to people.
        footer: a word for the status line; empty keeps it out of there.
        priority: whether the key works whatever has the focus.
        slash: whether it can be typed as ``/name``.
    """

    name: str
    title: str
    help: str
    group: str
    argument: str = ""
    key: str = ""
    key_label: str = ""
    footer: str = ""
    priority: bool = False
    slash: bool = True

    @property
    def usage(self) -> str:
        """The slash form with its argument, for example ``/compact [focus]``."""
        return f"/{self.name} {self.argument}".rstrip()

    @property
    def needs_argument(self) -> bool:
        """Whether the command makes no sense without its argument."""
        return bool(self.argument) and not self.argument.startswith("[")


COMMANDS: tuple[Command, ...] = (
    Command("help", "Help", "Show keys and commands", "General", "", "f1", "F1", "help"),
    Command("debug", "Cache statistics", "Show how the caches of this run do", "General"),
    Command(
        "sessions",
        "Session list",
        "Browse the sessions of every project",
        "Session",
        "",
        "f2",
        "F2",
        "sessions",
    ),
    Command("new", "New session", "Start a new session here", "Session", "", "ctrl+n", "Ctrl+N"),
    Command(
        "fork",
        "Fork session",
        "Continue in a copy of this session",
        "Session",
        "",
        "alt+n",
        "Alt+N",
    ),
    Command("rename", "Rename session", "Name this session", "Session", "<title>"),
    Command(
        "revert",
        "Revert to a checkpoint",
        "Revert to a checkpoint, after a preview of what will be removed",
        "Time",
        "[checkpoint]",
        "f3",
        "F3",
        "revert",
    ),
    Command(
        "changes",
        "Changes of files",
        "See what changed on disk, and who changed it; revert a file or a tool call",
        "Time",
        "",
        "alt+c",
        "Alt+C",
    ),
    Command(
        "undo",
        "Undo",
        "Undo the last operation",
        "Time",
        "",
        "alt+u",
        "Alt+U",
    ),
    Command("redo", "Redo", "Redo what was undone", "Time", "", "alt+r", "Alt+R"),
    Command(
        "tree",
        "Tree of branches",
        "See every branch, archive and fork; branch, switch, compare, label",
        "Time",
        "",
        "ctrl+t",
        "Ctrl+T",
    ),
    Command(
        "scrub",
        "Scrub through the session",
        "Replay the session, showing the model's context at each step",
        "Time",
        "",
        "f9",
        "F9",
    ),
    Command(
        "archives",
        "Archives",
        "List archived logs; open or restore one",
        "Time",
        "",
        "f5",
        "F5",
    ),
    Command(
        "clear",
        "Clear the context",
        "Empty the context; the old log is kept as an archive",
        "Time",
    ),
    Command(
        "compact",
        "Compact the context",
        "Preview what a summary would keep and lose, then apply it",
        "Context",
        "[focus]",
        "f4",
        "F4",
        "compact",
    ),
    Command(
        "compactions",
        "Past compactions",
        "Open a compaction of this session, before and after side by side",
        "Context",
    ),
    Command(
        "tokens",
        "What fills the context",
        "Show where the tokens are and what would free them",
        "Context",
        "",
        "f8",
        "F8",
    ),
    Command("model", "Choose a model", "Choose the model that is asked", "Session", "[name]"),
    Command("connect", "Connect a model", "Find and connect a provider of models", "Session"),
    Command("usage", "Usage and cost", "Show what this session used and cost", "Session"),
    Command("mcp", "MCP servers", "List, restart and review servers of tools", "General"),
    Command("export", "Export session", "Write this session to a file", "Session", "[format]"),
    Command(
        "mode",
        "Approval mode",
        "Cycle what runs without asking: ask, accept edits, plan, auto",
        "General",
        "[mode]",
        "shift+tab",
        "Shift+Tab",
        priority=True,
    ),
    Command(
        "approvals", "Approvals", "List what is allowed in this session, and revoke it", "General"
    ),
    Command("theme", "Change theme", "Choose colours", "General", "[name]"),
    Command(
        "fold",
        "Fold or unfold tool output",
        "Show or hide the output of tools",
        "General",
        "",
        "ctrl+o",
        "Ctrl+O",
        slash=False,
    ),
    Command(
        "editor",
        "Write in $EDITOR",
        "Continue the prompt in your editor",
        "General",
        "",
        "ctrl+g",
        "Ctrl+G",
        slash=False,
    ),
    Command(
        "interrupt",
        "Interrupt the agent",
        "Stop the running turn; what it did so far stays",
        "Session",
        "",
        "escape",
        "Esc",
        slash=False,
    ),
    Command("exit", "Quit", "Leave agent-tui; sessions are always saved", "General"),
)

BY_NAME = {command.name: command for command in COMMANDS}
ALIASES = {
    "quit": "exit",
    "resume": "sessions",
    "?": "help",
    "rewind": "revert",
    "branches": "tree",
    "cost": "usage",
}

TYPING_KEYS: tuple[tuple[str, str], ...] = (
    ("Enter", "send; while the agent runs it joins at the next step"),
    ("Shift+Enter, Ctrl+J", "new line"),
    ("Up, Down", "earlier and later prompts"),
    ("Ctrl+R", "search earlier prompts"),
    ("PgUp, PgDn", "scroll the conversation"),
    ("Tab", "into the conversation: arrows move, Enter opens, y copies"),
    ("/", "commands"),
    ("@", "files of this project"),
    ("!", "run a shell command yourself"),
    ("Ctrl+P", "command palette"),
    ("Up, with prompts waiting", "take the last one back to edit it"),
    ("Ctrl+C", "clear the prompt, withdraw what waits, interrupt; twice quits"),
    ("Ctrl+D", "quit, when the prompt is empty"),
)
"""Keys of the prompt and of the app, for the help screen."""


def find_command(name: str) -> Command | None:
    """The command that a user means by ``name``, which may be an alias."""
    return BY_NAME.get(ALIASES.get(name, name))


def slash_commands() -> tuple[Command, ...]:
    """The commands that can be typed after a slash, in the order of the table."""
    return tuple(command for command in COMMANDS if command.slash)


def key_bindings() -> list[Binding]:
    """A binding for every command that has a key; the action is ``command('<name>')``."""
    return [
        Binding(
            command.key,
            f"command('{command.name}')",
            command.footer or command.title,
            show=bool(command.footer),
            key_display=command.key_label,
            priority=command.priority,
            id=f"command.{command.name}",
        )
        for command in COMMANDS
        if command.key
    ]


def footer_commands() -> tuple[Command, ...]:
    """The commands whose key deserves a place in the status line."""
    return tuple(command for command in COMMANDS if command.footer)
