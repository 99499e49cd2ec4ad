"""The whole help on one page, and the man page: both written from the table of commands."""

from __future__ import annotations

from collections.abc import Iterator

from agent_tui import __version__
from agent_tui.cli.options import CHAT_OPTIONS, ENGINE_OPTIONS, Argument
from agent_tui.cli.parsers import chat_parser, command_parser
from agent_tui.cli.table import COMMANDS, EXIT_CODES

_DESCRIPTION = (
    "A full-screen terminal front-end for AI agents, and a browser for every session they ever "
    "had. Without a command, a conversation is opened; with --print, one prompt is answered "
    "without a screen."
)
_FILES = (
    (
        "config.toml",
        "settings; agent-tui config path prints where, config schema what is allowed",
    ),
    (".agent-tui/config.toml", "a project's settings; read only when its folder is trusted"),
)
_ENVIRONMENT = (
    ("OPENAI_API_KEY, ANTHROPIC_API_KEY, MOONSHOT_API_KEY", "keys of the providers"),
    ("OPENAI_BASE_URL, ANTHROPIC_BASE_URL", "other servers that speak these APIs"),
    ("AGENT_TUI_MODEL", "the model to ask"),
    ("AGENT_TUI_HOME", "one folder for settings and sessions"),
    ("NO_COLOR", "no colours"),
)


def full_help() -> str:
    """Every option and command on one page."""
    pages = [
        chat_parser().format_help(),
        "Commands that read settings also take the options from --demo to --cwd.\n",
    ]
    for command in COMMANDS:
        parser = command_parser(command._replace(engine=False))
        pages.append(parser.format_help())
    return "\n".join(pages)


def man_page() -> str:
    """The man page, as troff source."""
    return "\n".join(_man_lines()) + "\n"


def _man_lines() -> Iterator[str]:
    yield f'.TH AGENT-TUI 1 "" "agent-tui {__version__}" "User Commands"'
    yield ".SH NAME"
    yield "agent-tui \\- talk to AI agents, and browse every session they ever had"
    yield ".SH SYNOPSIS"
    yield ".B agent-tui\n[options] [PROMPT]\n.br\n.B agent-tui\nCOMMAND [arguments]"
    yield f".SH DESCRIPTION\n{_troff(_DESCRIPTION)}"
    yield ".SH OPTIONS"
    for argument in (*CHAT_OPTIONS, *ENGINE_OPTIONS):
        yield from _man_argument(argument)
    yield ".SH COMMANDS"
    for command in COMMANDS:
        summary = command.summary[0].upper() + command.summary[1:]
        yield f".SS {_troff(f'agent-tui {command.name}')}\n{_troff(summary)}."
        for argument in command.arguments:
            yield from _man_argument(argument)
        if command.json:
            yield ".TP\n.B \\-\\-json\nprint JSON"
        for name, meaning in command.notes:
            yield f".TP\n.B {_troff(name)}\n{_troff(meaning)}"
    for title, rows in (("FILES", _FILES), ("ENVIRONMENT", _ENVIRONMENT)):
        yield f".SH {title}"
        for name, meaning in rows:
            yield f".TP\n.B {_troff(name)}\n{_troff(meaning)}"
    yield ".SH EXIT STATUS"
    for code, meaning in EXIT_CODES:
        yield f".TP\n.B {code}\n{_troff(meaning)}"


def _man_argument(argument: Argument) -> Iterator[str]:
    yield ".TP"
    yield f".B {_troff(argument_words(argument))}"
    yield _troff(str(argument.options["help"]))


def argument_words(argument: Argument) -> str:
    """An argument as a person types it: its names and what follows them."""
    options = argument.options
    value = options.get("metavar") or "|".join(options.get("choices", ()))
    if not argument.names[0].startswith("-"):
        return str(value or argument.names[0].upper())
    names = ", ".join(argument.names)
    if options.get("action") == "store_true":
        return names
    return f"{names} {value or argument.names[-1].lstrip('-').upper()}"


def _troff(text: str) -> str:
    return text.replace("\\", "\\e").replace("-", "\\-").replace("\n.", "\n\\&.")
