"""Completion scripts for shells, written from the table of commands."""

from __future__ import annotations

from collections.abc import Iterable

from agent_tui.cli.options import CHAT_OPTIONS, ENGINE_OPTIONS, Argument
from agent_tui.cli.table import COMMANDS, GROUPS, Command, summary_of, verbs_of

_BASH = """\
# bash completion for agent-tui: source this, or put it into your completions folder
_agent_tui() {{
    local word="${{COMP_WORDS[COMP_CWORD]}}" previous="${{COMP_WORDS[COMP_CWORD-1]}}"
    case "${{COMP_WORDS[1]}} $previous" in
{values}
    esac
    case "${{COMP_WORDS[1]}} ${{COMP_WORDS[2]}}" in
{commands}
    esac
    local words="{options}"
    [ "$COMP_CWORD" = 1 ] && words="{groups} $words"
    COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o default -F _agent_tui agent-tui
"""
_ZSH = """\
#compdef agent-tui
# zsh completion for agent-tui: put this into a folder of $fpath as _agent-tui
autoload -U +X bashcompinit && bashcompinit
{bash}"""


def completion_script(shell: str) -> str:
    """The script for bash, zsh or fish."""
    match shell:
        case "bash":
            return _bash()
        case "zsh":
            return _ZSH.format(bash=_bash())
        case _:
            return "\n".join(_fish()) + "\n"


def _bash() -> str:
    # Two commands may have options of one name with other values, such as --format.
    values = _values("*", (*CHAT_OPTIONS, *ENGINE_OPTIONS))
    for command in COMMANDS:
        values += _values(f'"{command.name.split()[0]}"', command.arguments)
    commands = []
    for group in sorted(GROUPS, key=lambda group: -len(verbs_of(group))):
        verbs = verbs_of(group)
        commands += [
            _bash_case(f"{group} {verb}", " ".join(_words_of(f"{group} {verb}"))) for verb in verbs
        ]
        words = [*verbs, *_words_of(group)]
        commands.append(_bash_case(f"{group} ", " ".join(words), then="*"))
    return _BASH.format(
        values="\n".join(values),
        commands="\n".join(commands),
        options=" ".join(_options((*CHAT_OPTIONS, *ENGINE_OPTIONS))),
        groups=" ".join(GROUPS),
    )


def _values(group: str, arguments: Iterable[Argument]) -> list[str]:
    return [
        _bash_case(f" {name}", " ".join(argument.options["choices"]), first=group)
        for argument in arguments
        if "choices" in argument.options
        for name in _options((argument,))
    ]


def _bash_case(pattern: str, words: str, *, first: str = "", then: str = "") -> str:
    offered = f'COMPREPLY=($(compgen -W "{words}" -- "$word"))'
    return f'        {first}"{pattern}"{then}) {offered}; return ;;'


def _words_of(name: str) -> list[str]:
    found = [command for command in COMMANDS if command.name == name]
    return [word for command in found for word in _command_words(command)]


def _command_words(command: Command) -> list[str]:
    words = _options((*command.arguments, *(ENGINE_OPTIONS if command.engine else ())))
    words += _choices(command)
    return [*words, "--json", "--help"] if command.json else [*words, "--help"]


def _choices(command: Command) -> list[str]:
    """What can stand in the place of a word that is no option."""
    if command.name == "help":
        return [*GROUPS, "stream-json", "daemon"]
    positional = (a for a in command.arguments if not a.names[0].startswith("-"))
    return [word for a in positional for word in a.options.get("choices", ())]


def _options(arguments: Iterable[Argument]) -> list[str]:
    return [name for a in arguments for name in a.names if name.startswith("-")]


def _fish() -> Iterable[str]:
    yield "# fish completion for agent-tui: save as ~/.config/fish/completions/agent-tui.fish"
    for group in GROUPS:
        yield _fish_line("__fish_use_subcommand", f"-a {group}", summary_of(group))
    for argument in (*CHAT_OPTIONS, *ENGINE_OPTIONS):
        if argument.names[0].startswith("-"):
            yield _fish_line("", _fish_option(argument), str(argument.options.get("help", "")))
    for command in COMMANDS:
        group, _, verb = command.name.partition(" ")
        inside = f"__fish_seen_subcommand_from {group}"
        if verb:
            yield _fish_line(inside, f"-a {verb}", command.summary)
            inside = f"{inside}; and __fish_seen_subcommand_from {verb}"
        if command.json:
            yield _fish_line(inside, "-l json", "print JSON")
        if choices := _choices(command):
            yield _fish_line(inside, f"-fa '{' '.join(choices)}'", command.summary)
        for argument in command.arguments:
            if argument.names[0].startswith("-"):
                yield _fish_line(
                    inside, _fish_option(argument), str(argument.options.get("help", ""))
                )


def _fish_line(condition: str, what: str, about: str) -> str:
    when = f" -n '{condition}'" if condition else ""
    said = about.replace("'", "\\'")
    return f"complete -c agent-tui{when} {what} -d '{said}'"


def _fish_option(argument: Argument) -> str:
    words = [
        f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in argument.names
    ]
    if argument.options.get("action") != "store_true":
        words.append("-r")
    if "choices" in argument.options:
        words.append(f"-fa '{' '.join(argument.options['choices'])}'")
    return " ".join(words)
