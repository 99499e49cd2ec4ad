"""Every command, declared once: keys, slash completion, palette and help are read from this table.

The screen of the conversation takes a binding of each command with a key and implements
``action_command(name)``; nothing else names a key.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from agent_tui.ui.commands import Command, key_label, label_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from textual.app import App

COMMANDS: tuple[Command, ...] = (
    Command(
        "help",
        "general:show_help",
        "Help",
        "Show keys and commands",
        "General",
        key="f1",
        opens_screen=True,
    ),
    Command(
        "palette",
        "general:show_palette",
        "Command palette",
        "Find a command by a few letters",
        "General",
        key="ctrl+p",
        opens_screen=True,
    ),
    Command("suspend", "general:suspend", "Suspend", "Pause; fg resumes", "General", key="ctrl+z"),
    Command(
        "sessions",
        "sessions:choose_session",
        "Session list",
        "Browse the sessions of every project",
        "Session",
        key="f2",
        footer="sessions",
        opens_screen=True,
        requires_idle=True,
    ),
    Command(
        "search",
        "sessions:search_sessions",
        "Search all sessions",
        "Search the text of every session of every agent",
        "Session",
        "[query]",
        key="alt+s",
        opens_screen=True,
        requires_idle=True,
    ),
    Command(
        "new",
        "sessions:start_session",
        "New session",
        "Start a new session here",
        "Session",
        key="ctrl+n",
        requires_idle=True,
    ),
    Command(
        "retry",
        "sessions:retry_turn",
        "Retry",
        "Retry a turn that ended without an answer",
        "Session",
        key="alt+a",
        requires_idle=True,
    ),
    Command(
        "fork",
        "sessions:fork_session",
        "Fork session",
        "Continue in a copy of this session",
        "Session",
        key="alt+n",
        requires_idle=True,
    ),
    Command(
        "rename",
        "sessions:rename_session",
        "Rename session",
        "Name this session",
        "Session",
        argument="<title>",
    ),
    Command(
        "revert",
        "past:revert",
        "Revert",
        "Revert to a checkpoint, after a preview",
        "Time",
        argument="[checkpoint]",
        key="f3",
        footer="revert",
        opens_screen=True,
    ),
    Command(
        "changes",
        "files:browse_changes",
        "File changes",
        "See who changed which file; revert any of it",
        "Time",
        key="alt+c",
        opens_screen=True,
    ),
    Command(
        "branch",
        "past:branch",
        "Branch",
        "Branch from an earlier prompt; both are kept",
        "Time",
        argument="[number|label]",
        opens_screen=True,
        requires_idle=True,
    ),
    Command("undo", "past:undo", "Undo", "Undo the last operation", "Time", key="alt+u"),
    Command("redo", "past:redo", "Redo", "Redo what was undone", "Time", key="alt+r"),
    Command(
        "tree",
        "past:show_tree",
        "Tree of branches",
        "See and switch branches, archives and forks",
        "Time",
        key="ctrl+t",
        opens_screen=True,
    ),
    Command(
        "scrub",
        "past:scrub",
        "Replay",
        "Replay the session as the model saw each step",
        "Time",
        key="f9",
        opens_screen=True,
    ),
    Command(
        "archives",
        "past:show_archives",
        "Archives",
        "List archived logs; open or restore one",
        "Time",
        key="f5",
        opens_screen=True,
    ),
    Command(
        "clear",
        "past:clear",
        "Clear the context",
        "Empty the context; the old log is archived",
        "Time",
        opens_screen=True,
    ),
    Command(
        "compact",
        "context:compact",
        "Compact the context",
        "Preview what a summary keeps and loses; apply it",
        "Context",
        argument="[focus]",
        key="f4",
        footer="compact",
        opens_screen=True,
        requires_idle=True,
    ),
    Command(
        "compactions",
        "context:show_compactions",
        "Past compactions",
        "Open a compaction, before and after side by side",
        "Context",
        opens_screen=True,
    ),
    Command(
        "tokens",
        "context:show_tokens",
        "What fills the context",
        "Show where the tokens are and what frees them",
        "Context",
        key="f8",
        opens_screen=True,
    ),
    Command(
        "model",
        "models:change_model",
        "Model",
        "Choose a model for this session",
        "Session",
        argument="[name]",
        opens_screen=True,
        requires_idle_with_argument=True,
    ),
    Command(
        "connect",
        "models:connect_model",
        "Connect a model",
        "Find and connect a model provider",
        "Session",
        opens_screen=True,
    ),
    Command(
        "thinking",
        "models:set_thinking",
        "Thinking",
        "Choose how hard models think",
        "Session",
        argument="[level]",
        opens_screen=True,
    ),
    Command(
        "agent",
        "models:change_agent",
        "Choose an agent",
        "Start a new session with another agent",
        "Session",
        argument="[name]",
        opens_screen=True,
        requires_idle=True,
    ),
    Command(
        "btw",
        "prompt:ask_aside",
        "Side question",
        "Ask on the side; the session keeps no trace",
        "Session",
        argument="<question>",
        opens_screen=True,
    ),
    Command(
        "init",
        "prompt:write_instructions",
        "Write AGENTS.md",
        "Have the agent write AGENTS.md for this project",
        "Session",
        requires_idle=True,
    ),
    Command(
        "usage",
        "models:show_usage",
        "Usage and cost",
        "Show what this session used and cost",
        "Session",
        opens_screen=True,
    ),
    Command(
        "why",
        "sessions:explain_line",
        "Who wrote this line",
        "Show which session wrote a file or line",
        "Session",
        argument="<file[:line]>",
        opens_screen=True,
        requires_idle=True,
    ),
    Command(
        "statistics",
        "sessions:show_statistics",
        "Statistics",
        "Show tokens, cost, tools and errors over time",
        "Session",
        key="alt+i",
        opens_screen=True,
    ),
    Command("keys", "general:show_keys", "Keys", "List every key and what it does", "General"),
    Command(
        "tools",
        "servers:show_tools",
        "Tools",
        "List the tools that the agent has",
        "General",
        opens_screen=True,
    ),
    Command(
        "mcp",
        "servers:show_tool_servers",
        "MCP servers",
        "List, restart and review MCP servers",
        "General",
        opens_screen=True,
    ),
    Command(
        "export",
        "sessions:export",
        "Export session",
        "Write this session to a file",
        "Session",
        argument="[format]",
    ),
    Command(
        "mode",
        "general:change_mode",
        "Approval mode",
        "Cycle approval: ask, accept edits, plan, auto",
        "General",
        argument="[mode]",
        key="shift+tab",
        priority=True,
    ),
    Command(
        "plan",
        "general:plan_first",
        "Plan first",
        "Change nothing until you approve a plan",
        "General",
        argument="[task]",
    ),
    Command(
        "yolo",
        "general:allow_all",
        "Allow everything",
        "Allow every action, or go back to asking",
        "General",
    ),
    Command(
        "todo", "general:fold_todo", "To do", "Fold or unfold the agent's to-do list", "General"
    ),
    Command(
        "panel",
        "general:switch_panel",
        "Side panel",
        "Show or hide the side panel of a wide screen",
        "General",
        key="alt+p",
    ),
    Command(
        "approvals",
        "general:show_approvals",
        "Approvals",
        "List what is allowed without asking; revoke it",
        "General",
        opens_screen=True,
    ),
    Command(
        "background",
        "background:show",
        "Background commands",
        "List commands in the background, and stop one",
        "General",
    ),
    Command(
        "debug",
        "general:show_debug",
        "Cache statistics",
        "Show cache statistics of this run",
        "General",
    ),
    Command(
        "theme",
        "general:change_theme",
        "Change theme",
        "Choose colours",
        "General",
        argument="[name]",
    ),
    Command(
        "find",
        "prompt:find_text",
        "Find in this session",
        "Find text in the conversation, folded parts too",
        "Session",
        argument="[text]",
        key="ctrl+f,alt+f",
        priority=True,
        opens_line=True,
    ),
    Command(
        "goto",
        "past:go_to",
        "Go to a place",
        "Go to a checkpoint (7), turn 3, message 4, 14:05",
        "Session",
        argument="[place]",
        key="alt+g",
        opens_screen=True,
    ),
    Command(
        "fold",
        "prompt:fold",
        "Fold or unfold tool output",
        "Show or hide tool output",
        "General",
        key="ctrl+o",
        slash=False,
    ),
    Command(
        "picture",
        "prompt:paste_picture",
        "Attach a picture",
        "Attach the picture in the clipboard",
        "General",
        key="alt+v",
    ),
    Command(
        "editor",
        "prompt:edit_prompt",
        "Write in $EDITOR",
        "Edit the prompt in your editor",
        "General",
        key="ctrl+g",
    ),
    Command(
        "interrupt",
        "general:interrupt",
        "Interrupt the agent",
        "Interrupt the turn; what it did so far stays",
        "Session",
        key="escape",
        slash=False,
    ),
    Command(
        "exit", "general:leave", "Quit", "Leave agent-tui; sessions are saved as you go", "General"
    ),
)

BY_NAME = {command.name: command for command in COMMANDS}
ALIASES = {
    "c": "compact",
    "quit": "exit",
    "resume": "sessions",
    "?": "help",
    "rewind": "revert",
    "branches": "tree",
    "cost": "usage",
    "context": "tokens",
    "stats": "statistics",
}

_KEY = re.compile(r"\{(?P<name>[a-z-]+)(?::(?P<own>[^}]+))?\}")
"""A placeholder for a key in a text: ``{undo}``, or ``{timeline-copy:y}`` for a screen's own."""


def find_command(name: str) -> Command | None:
    """The command that a user means by ``name``, which may be an alias."""
    return BY_NAME.get(ALIASES.get(name, name))


def slash_commands() -> tuple[Command, ...]:
    """The commands that can be typed after a slash, in the order of the table."""
    return tuple(command for command in COMMANDS if command.slash)


def footer_commands() -> tuple[Command, ...]:
    """The commands whose keys the status line shows; the prompt itself names F1."""
    return tuple(command for command in COMMANDS if command.footer)


def name_keys(app: App[Any], sentence: str) -> str:
    """A sentence with the keys in force; a command that has none is named by its slash form."""
    return _KEY.sub(lambda found: _key_of(app, found) or f"/{found['name']}", sentence)


def name_keys_of_hint(app: App[Any], hint: str) -> str:
    """A hint such as ``{help} help · {find} find`` with the keys in force; a part needs a key."""
    return " · ".join(_parts_with_keys(app, hint))


def _parts_with_keys(app: App[Any], hint: str) -> Iterator[str]:
    for part in hint.split(" · "):
        found = _KEY.search(part)
        if found is None or _key_of(app, found):
            yield name_keys(app, part)


def _key_of(app: App[Any], found: re.Match[str]) -> str:
    name, own = found["name"], found["own"]
    return label_of(app, name, own) if own else key_label(app, BY_NAME[name])
