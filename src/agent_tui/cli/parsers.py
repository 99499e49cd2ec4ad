"""Parsers for the table of commands: argparse costs 10 ms, richer libraries 100."""

from __future__ import annotations

import argparse
from collections.abc import Iterable

from agent_tui.cli.options import CHAT_OPTIONS, ENGINE_OPTIONS, Argument
from agent_tui.cli.table import DEFAULT_VERBS, GROUPS, Command, find_command, summary_of, verbs_of
from agent_tui.core.output import say


class UnknownVerb(Exception):
    """A group was named with a verb that it does not have."""


class Parser(argparse.ArgumentParser):
    """A parser whose help fails where it cannot be written; argparse would keep quiet."""

    def print_help(self, file: object = None) -> None:
        say(self.format_help(), end="")


def chat_parser() -> argparse.ArgumentParser:
    """The parser of ``agent-tui [options] [PROMPT]``."""
    width = max(map(len, GROUPS))
    commands = "\n".join(f"  {group:<{width}}  {summary_of(group)}" for group in GROUPS)
    parser = Parser(
        prog="agent-tui",
        usage="agent-tui [options] [PROMPT]\n       agent-tui COMMAND [arguments]",
        description="A full-screen front-end for AI agents; without PROMPT, an empty session.",
        epilog=f"commands (agent-tui COMMAND --help; agent-tui help --all):\n{commands}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _add(parser, CHAT_OPTIONS)
    _add(parser, ENGINE_OPTIONS)
    return parser


def command_parser(command: Command) -> argparse.ArgumentParser:
    """The parser of one command."""
    parser = Parser(prog=f"agent-tui {command.name}", description=_as_sentence(command.summary))
    if command.notes:
        parser.formatter_class = argparse.RawDescriptionHelpFormatter
        parser.epilog = "\n".join(f"  {name:<10}{meaning}" for name, meaning in command.notes)
    elif verbs_of(command.name):
        parser.formatter_class = argparse.RawDescriptionHelpFormatter
        parser.epilog = _list_verbs(command.name)
    _add(parser, command.arguments)
    if command.json:
        parser.add_argument("--json", action="store_true", help="print JSON")
    if command.engine:
        _add(parser, ENGINE_OPTIONS)
    return parser


def group_parser(words: list[str]) -> argparse.ArgumentParser | None:
    """The parser that lists a group's commands; None where the words name one of them.

    Args:
        words: a group, and what was typed behind it.
    """
    group, *rest = words
    verbs = verbs_of(group)
    if not verbs or find_command(group) or _find_verb(rest):
        return None
    return Parser(
        prog=f"agent-tui {group}",
        usage=f"agent-tui {group} [COMMAND] [arguments]",
        epilog=_list_verbs(group),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def split_command(arguments: list[str]) -> tuple[Command, list[str]]:
    """The command that the arguments begin with, and what is left for its parser.

    Raises:
        UnknownVerb: the group has no such verb; says which it has.
    """
    group, *rest = arguments
    verbs = verbs_of(group)
    verb = _find_verb(rest)
    if verb in verbs:
        rest = rest.copy()
        rest.remove(verb)
        name = f"{group} {verb}"
    elif not verbs:
        name = group
    elif group in DEFAULT_VERBS and (not verb or not DEFAULT_VERBS[group]):
        name = f"{group} {DEFAULT_VERBS[group]}".strip()
    else:
        raise UnknownVerb(f"{group} expects {', '.join(verbs)}, not {verb!r}.")
    command = find_command(name)
    assert command is not None, name
    return command, rest


def _find_verb(words: list[str]) -> str:
    """The first word that is no option, nor what one of the engine's options takes."""
    with_value = {
        name
        for each in ENGINE_OPTIONS
        if each.options.get("action") != "store_true"
        for name in each.names
    }
    before = ["", *words]
    return next(
        (
            word
            for word, last in zip(words, before, strict=False)
            if not word.startswith("-") and last not in with_value
        ),
        "",
    )


def refuse_words(prompt: str, left: list[str], arguments: list[str]) -> str:
    """Why words cannot stand behind a prompt, and what to type instead; empty where none do.

    Args:
        prompt: what was taken for the prompt.
        left: what no option took.
        arguments: everything that was typed.
    """
    if not left or any(word.startswith("-") for word in left):
        return ""
    import shlex

    if prompt in GROUPS:
        rest = arguments.copy()
        rest.remove(prompt)
        return f"a command comes before its options: agent-tui {shlex.join([prompt, *rest])}"
    quoted = shlex.quote(" ".join([prompt, *left]))
    return f"expected one prompt, got {len(left) + 1} words; put it in quotes: agent-tui {quoted}"


def _add(parser: argparse.ArgumentParser, arguments: Iterable[Argument]) -> None:
    for argument in arguments:
        parser.add_argument(*argument.names, **argument.options)


def _list_verbs(group: str) -> str:
    verbs = verbs_of(group)
    width = max(map(len, verbs))
    lines = [f"commands (agent-tui {group} COMMAND --help):"]
    for verb in verbs:
        command = find_command(f"{group} {verb}")
        assert command is not None, verb
        mark = " (default)" if DEFAULT_VERBS.get(group) == verb else ""
        lines.append(f"  {verb:<{width}}  {command.summary}{mark}")
    return "\n".join(lines)


def _as_sentence(summary: str) -> str:
    return f"{summary[:1].upper()}{summary[1:]}."
