"""Which commands a pattern such as ``git diff *`` allows: known programs with harmless flags.

A pattern is the words with which a command begins. The words behind them may be any that name
something inside the workspace, globs too where no file's name could be taken for a flag; flags
only those that stand in the pattern, or that are known here to change nothing. Programs that run
other programs, or whose words are code, are allowed only word for word, and only as they stood
alone: in the workspace, and with nothing piped into them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set

from agent_tui.tools.commands.places import ANYWHERE, Places
from agent_tui.tools.commands.programs import ACTING, INSTALLERS, READERS, RUNNERS, Known
from agent_tui.tools.commands.shell_words import Command, Words, read_commands

ANYTHING = "*"

_ENDINGS = {"python3": "-m pytest", "python": "-m pytest", "make": "test", "git": "fetch"}

_MOVERS = frozenset({"cd", "pushd", "popd"})
_VERSION = re.compile(r"[\d.-]+$")
_ASKS_GNUPG = re.compile(r"%[-+ ]?G")
_GLOB_OF_HIDDEN = re.compile(r"(?:^|/)\.[^/]*[*?[]")
_TAKES_GLOB = re.compile(r"--(?:include|exclude|exclude-dir|glob)=")
_SUBCOMMAND = re.compile(r"[a-z][a-z0-9:_-]*")


def offer_patterns(command: str, places: Places = ANYWHERE) -> tuple[str, ...]:
    """What could be allowed for a command: the widest pattern that is safe, then word for word.

    Not word for word where that would read like a pattern.
    """
    whole = () if command.endswith(ANYTHING) else (command,)
    commands = read_commands(command)
    if commands is None:
        return whole
    exact = " ".join(command.split("\n")).strip()
    rest = [each for each in commands if len(commands) == 1 or each.words[0] != "cd"]
    wide = _widen(rest[0].words) if len(rest) == 1 else ""
    if wide and wide != exact and command_is_allowed((wide,), command, places):
        return (wide, *whole)
    return whole


def _widen(words: Words) -> str:
    known = _known(words)
    if known is not None:
        return " ".join((*known[0], ANYTHING))
    if _only_word_for_word(words):
        return ""
    start = [words[0]]
    for word in words[1:3]:
        if not _SUBCOMMAND.fullmatch(word):
            break
        start.append(word)
    flags = [word for word in words[len(start) :] if word.startswith("-")]
    return " ".join((*start, *dict.fromkeys(flags), ANYTHING))


def allows(
    pattern: str, words: Words, places: Places = ANYWHERE, globs: Set[str] = frozenset()
) -> bool:
    """Whether a pattern allows a simple command of such words, some of them globs."""
    parts = pattern.split()
    if not parts or parts[-1] != ANYTHING:
        return False
    start = tuple(part for part in parts[:-1] if not part.startswith("-"))
    flags = {part for part in parts[:-1] if part.startswith("-")}
    if not start or words[: len(start)] != start:
        return False
    known = _known(words)
    if known is None and _only_word_for_word(words):
        return False
    rest = words[len(start) :]
    harmless = known[1] if known is not None else Known()
    if words[0] == "cd" and (len(words) != 2 or words[1].startswith("-")):
        return False  # home, or where it came from
    if known is None and any(word.startswith("@") for word in rest):
        return False  # many programs read more words, flags too, from the file behind @
    if any(_ASKS_GNUPG.search(word) for word in rest):
        return False  # git runs the program that its settings name
    if sum(word == "-" or not word.startswith("-") for word in rest) > harmless.most_words:
        return False
    if not harmless.anywhere and any(word in places.outside for word in rest):
        return False
    if globs and not (
        harmless.most_words == Known().most_words
        and globs.isdisjoint((*start, *flags))
        and all(_is_harmless_glob(word) for word in globs)
    ):
        return False
    if known is not None and "--" in rest:  # only what is no flag either way
        place = rest.index("--")
        if any(word.startswith("-") for word in rest[place + 1 :]):
            return False
        rest = (*rest[:place], *rest[place + 1 :])
    return all(_is_harmless(word, flags, harmless, places) for word in rest)


def _is_harmless_glob(word: str) -> bool:
    """Whether no file's name could make it a flag, or lead out of the folder: ``.*`` finds ...

    Nor the value of a flag where that could be more than a pattern: a file may be called
    ``--format=%G?``.
    """
    if word.startswith(("*", "?", "[")) or _GLOB_OF_HIDDEN.search(word):
        return False
    return not word.startswith("-") or bool(_TAKES_GLOB.match(word))


def pattern_mistake(pattern: str) -> str:
    """Why a pattern can never allow a command, and what would; empty when it can."""
    *start, last = pattern.split()
    if not last.endswith(ANYTHING):
        return ""
    if not start or last != ANYTHING:
        whole = "run_command alone allows every command"
        return f"* must be a word of its own, the last one, as in run_command(git diff *); {whole}."
    words = tuple(start)
    names = tuple(word for word in start if not word.startswith("-"))
    if read_commands(" ".join(start)) != (Command(words),):
        return "only plain words can stand before *, as in run_command(git diff *)."
    begins_reader = names in {known[: len(names)] for known in READERS}
    if not begins_reader and _known(words) is None and _only_word_for_word(words):
        return (
            f"{' '.join(words)} can run or change anything, so it is allowed only word for word, "
            f"as in run_command({_example(words)})."
        )
    if not names or words[: len(names)] != names:
        return "its words come first and its flags after them, as in run_command(ls -la *)."
    return ""


def _example(words: Words) -> str:
    """A whole command that begins so."""
    return " ".join(words if len(words) > 1 else (*words, _ENDINGS.get(words[0], "ARGUMENTS")))


def command_is_allowed(patterns: Sequence[str], command: str, places: Places = ANYWHERE) -> bool:
    """Whether every simple command of a line is allowed, or the line is, word for word.

    Moving inside of the workspace needs no pattern of its own in front of what only reads.

    Args:
        patterns: what was allowed.
        command: the whole line.
        places: where its words lead.
    """
    if not command.endswith(ANYTHING) and command in patterns:
        return True
    commands = read_commands(command)
    if commands is None:
        return False
    while len(commands) > 1 and _stays(commands[0], places):
        commands = commands[1:]
    if _runs_git_elsewhere(commands):
        return False
    exact = {words for each in patterns if (words := _whole_command(each))}
    only_reads = any(each.words[0] != "cd" for each in commands) and all(
        _known(each.words) for each in commands
    )
    free = (*patterns, f"cd {ANYTHING}") if only_reads else patterns
    has_moved = False
    for each in commands:
        stands_alone = not (has_moved or each.fed or each.globs)
        if not (stands_alone and each.words in exact) and not any(
            allows(pattern, each.words, places, each.globs) for pattern in free
        ):
            return False
        has_moved = has_moved or each.words[0] in _MOVERS
    return True


def _stays(command: Command, places: Places) -> bool:
    """Whether a command does nothing but go to the workspace, where every command starts."""
    program, *words = command.words
    return program == "cd" and len(words) == 1 and places.is_root(words[0])


def _whole_command(pattern: str) -> Words:
    """The words of a simple command that is allowed as it stands; none for any other pattern."""
    commands = None if pattern.endswith(ANYTHING) else read_commands(pattern)
    return commands[0].words if commands and len(commands) == 1 and not commands[0].globs else ()


def _runs_git_elsewhere(commands: Sequence[Command]) -> bool:
    """Whether git would run in another folder, which may be a repository with programs to run."""
    programs = {each.words[0] for each in commands}
    return bool(programs & _MOVERS) and "git" in programs


def _known(words: Words) -> tuple[Words, Known] | None:
    for length in (2, 1):
        start = words[:length]
        if start in READERS:
            return start, READERS[start]
    return None


def _only_word_for_word(words: Words) -> bool:
    program = words[0]
    acting = any(word in ACTING for word in words[1:3])
    plain = _VERSION.sub("", program.lower())
    runs = bool({program, plain} & (RUNNERS | INSTALLERS | {"git"}))
    return runs or "/" in program or acting


def _is_harmless(word: str, flags: set[str], known: Known, places: Places) -> bool:
    if not word.startswith("-") or word in ("-", "--"):
        return word != "--" and (known.anywhere or not places.looks_outside(word))
    if word in flags or word[1:] in known.words.split():
        return True
    deep = () if places is ANYWHERE else known.deep.split()
    if word.startswith("--"):
        name, _, value = word[2:].partition("=")
        is_known = name in known.names.split() or name in deep
        return is_known and (known.anywhere or not places.looks_outside(value))
    letters = word[1:].rstrip("0123456789")
    return set(letters) <= {*known.letters, *deep} and bool(letters or known.letters)
