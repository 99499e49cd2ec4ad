# mypy: disable-error-code="import-untyped"
"""The languages that code can be coloured in, loaded off the event loop when first asked for.

Nothing of Pygments is imported before a code block has been seen: until its lexer is there, code is
drawn plain, in exactly the rows it will keep.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pygments.lexer import Lexer

_NAME = re.compile(r"[\w+#.-]{1,32}")


def language_of(path: str) -> str:
    """What ``Languages.find`` knows the language of a file by: its ending, or its whole name."""
    name = PurePosixPath(path).name
    return PurePosixPath(name).suffix or name


class Languages:
    """Lexers by name. ``find`` answers at once and remembers what it did not have."""

    def __init__(self) -> None:
        self._lexers: dict[str, Lexer | None] = {}
        self.missing: set[str] = set()

    def find(self, name: str) -> Lexer | None:
        """The lexer for a fence's info word or a file's ending, as ``.py``.

        None where it is unknown, or not loaded yet (``missing``).
        """
        key = name.lower()
        if key in self._lexers:
            return self._lexers[key]
        if _NAME.fullmatch(key):
            self.missing.add(key)
        return None

    def load_missing(self) -> bool:
        """Load what ``find`` did not have; slow, for a thread. True when colours can be added."""
        from pygments.lexers import get_lexer_by_name, get_lexer_for_filename
        from pygments.util import ClassNotFound

        gained = False
        for name in tuple(self.missing):
            try:
                find, key = get_lexer_by_name, name
                if name.startswith("."):
                    find, key = get_lexer_for_filename, f"file{name}"
                self._lexers[name] = find(key, stripnl=False, ensurenl=False)
                gained = True
            except ClassNotFound:
                self._lexers[name] = None
            self.missing.discard(name)
        return gained


def tokenise(lexer: Lexer, text: str, stack: list[str]) -> Iterator[tuple[Any, str]]:
    """Tokens of the next piece of a text; ``stack`` is read, and left as the piece ends.

    This is ``RegexLexer.get_tokens_unprocessed`` of Pygments with its state handed in and out, so
    that a long text can be coloured as it arrives. Other lexers start each piece again.
    """
    from pygments.lexer import ExtendedRegexLexer, RegexLexer
    from pygments.token import Error, Whitespace, _TokenType

    if not isinstance(lexer, RegexLexer) or isinstance(lexer, ExtendedRegexLexer):
        yield from ((kind, value) for _, kind, value in lexer.get_tokens_unprocessed(text))
        return
    states = lexer._tokens
    position, length = 0, len(text)
    while position < length:
        for match_at, action, move in states[stack[-1]]:
            match = match_at(text, position)
            if not match:
                continue
            if isinstance(action, _TokenType):
                yield action, match.group()
            elif action is not None:
                yield from ((kind, value) for _, kind, value in action(lexer, match))
            position = match.end()
            if move is not None:
                _change_state(stack, move)
            break
        else:
            if text[position] == "\n":
                stack[:] = ["root"]
                yield Whitespace, "\n"
            else:
                yield Error, text[position]
            position += 1


def _change_state(stack: list[str], move: Any) -> None:
    if isinstance(move, int):
        if abs(move) >= len(stack):
            del stack[1:]
        else:
            del stack[move:]
        return
    for state in move if isinstance(move, tuple) else (move,):
        if state == "#pop":
            if len(stack) > 1:
                stack.pop()
        elif state == "#push":
            stack.append(stack[-1])
        else:
            stack.append(state)
