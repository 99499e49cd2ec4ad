"""Reading a shell command strictly: the literal words of simple commands, or nothing at all.

Whatever could make the shell do more than run these words (expansions, redirections, assignments,
functions, control flow, background jobs, escapes) makes the reading fail. Two parsers of different
make have to agree on the words.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, TypeAlias

from agent_tui.core.dataclass import dataclass

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

Words: TypeAlias = tuple[str, ...]

_LONGEST = 4_000
_GLOB = re.compile(r"(?:[\w@%+=:,./^*?-]|\[!?[\w-]+\]|(?<=\w)~)+")
_WILD = frozenset("*?[")
_BARE = re.compile(r"(?:[\w@%+=:,./^-]|(?<=\w)~)+")
_QUOTED = re.compile(r"[^\\$`!\"\x00-\x1f\x7f-\x9f]*")
_RAW = re.compile(r"[^'\x00-\x1f\x7f-\x9f]*")
_HARMLESS_REDIRECT = re.compile(r"2>&1|[12]?>\s?/dev/null|</dev/null")
_OPERATORS = frozenset({"&&", "||", ";", "|", "\n", ";;"})
_HALF_A_PAIR = re.compile("[\ud800-\udfff]")
_FORBIDDEN = re.compile(r"[\\`$\r\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029]")


@dataclass(frozen=True, slots=True)
class Command:
    """A simple command.

    Attributes:
        words: what it is called, and what it is given.
        fed: what another one prints is what it reads.
        globs: those of its words in whose place the shell puts the names of files.
    """

    words: Words
    fed: bool = False
    globs: frozenset[str] = frozenset()


class _Refused(Exception):
    """The command holds something besides literal words."""


def read_commands(command: str) -> tuple[Command, ...] | None:
    """Every simple command of a line, in order; None if the line is anything else."""
    text = command.strip(" \n")  # other blanks are part of a word for the shell
    if not text or len(text) > _LONGEST or _HALF_A_PAIR.search(text):
        return None
    if _FORBIDDEN.search(_without_raw(text)):
        return None
    tree = _parser().parse(text.encode())
    if tree.root_node.has_error:
        return None
    try:
        commands = tuple(_commands(tree.root_node))
    except _Refused:
        return None
    return commands if commands and _agrees(text, commands) else None


@cache
def _parser() -> Parser:
    import tree_sitter_bash
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_bash.language()))


def _without_raw(text: str) -> str:
    """The text without what stands in single quotes, where nothing has a meaning."""
    return re.sub(r"'[^'\x00-\x1f\x7f-\x9f]*'", "''", text)


def _commands(node: Node, *, fed: bool = False) -> Iterator[Command]:
    match node.type:
        case "program" | "list" | "pipeline":
            for number, child in enumerate(node.children):
                if child.is_named:
                    is_later = node.type == "pipeline" and number > 0
                    yield from _commands(child, fed=fed or is_later)
                elif child.type not in _OPERATORS:
                    raise _Refused
        case "redirected_statement":
            for child in node.children:
                if child.type != "file_redirect":
                    yield from _commands(child, fed=fed)
                elif not _HARMLESS_REDIRECT.fullmatch(_text(child)):
                    raise _Refused
        case "command":
            globs = frozenset(_text(child) for child in node.children if _is_glob(child))
            yield Command(tuple(_words(node)), fed, globs)
        case _:
            raise _Refused


def _words(command: Node) -> Iterator[str]:
    for child in command.children:
        if child.type == "command_name":
            (name,) = child.children
            yield _word(name)
        elif child.type == "file_redirect":
            if not _HARMLESS_REDIRECT.fullmatch(_text(child)):
                raise _Refused
        else:
            yield _text(child) if _is_glob(child) else _word(child)


def _is_glob(node: Node) -> bool:
    """Whether a word as a whole stands for names of files: a bare ``*``, ``?``, ``[ab]`` is in it.

    Of brackets only those that hold plain letters, digits and ranges of them.
    """
    text = _text(node)
    is_bare = node.type == "word" or (
        node.type == "concatenation" and all(child.type == "word" for child in node.children)
    )
    return is_bare and not _WILD.isdisjoint(text) and bool(_GLOB.fullmatch(text))


def _word(node: Node) -> str:
    text = _text(node)
    match node.type:
        case "word" | "number" if _BARE.fullmatch(text):
            return text
        case "raw_string" if _RAW.fullmatch(text[1:-1]):
            return text[1:-1]
        case "string" if _QUOTED.fullmatch(text[1:-1]):
            return text[1:-1]
        case "concatenation":
            return "".join(_word(child) for child in node.children)
    raise _Refused


def _text(node: Node) -> str:
    return (node.text or b"").decode()


def _agrees(text: str, commands: tuple[Command, ...]) -> bool:
    """Whether another reader finds the same words, and nothing but known operators between."""
    lexer = shlex.shlex(text.replace("\n", " ; "), posix=True, punctuation_chars=";&|<>()")
    lexer.whitespace_split = True
    lexer.commenters = ""
    plain = re.sub(r"(?<=\s)(2>&1|[12]?>\s?/dev/null|</dev/null)(?=\s|$|[;|&])", " ", text)
    if plain != text:
        return _agrees(plain, commands)
    try:
        found = [word for word in lexer if word not in _OPERATORS]
    except ValueError:
        return False
    return found == [word for each in commands for word in each.words]
