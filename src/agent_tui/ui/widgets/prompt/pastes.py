"""Long pastes as short tokens in the prompt, ``[paste #1: 240 lines]``; whole when sent."""

from __future__ import annotations

import re

from agent_tui.core.text import clean

FOLD_LINES = 10
FOLD_CHARACTERS = 2_000
_TOKEN = re.compile(r"\[paste #(\d+): [\d,]+ (?:lines|characters)\]")


def literal_paste(text: str) -> str:
    """A paste as plain text: newlines unified, control characters made visible."""
    return clean(text.replace("\r\n", "\n").replace("\r", "\n"))


class Pastes:
    """The long pastes of one prompt, by number; a token that was edited stays what it says."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def fold(self, text: str) -> str:
        """The text itself, or a token for it when it is long."""
        lines = len(text.rstrip("\n").split("\n"))
        if lines <= FOLD_LINES and len(text) <= FOLD_CHARACTERS:
            return text
        size = f"{lines:,} lines" if lines > FOLD_LINES else f"{len(text):,} characters"
        token = f"[paste #{len(self._texts) + 1}: {size}]"
        self._texts[token] = text
        return token

    def expand(self, prompt: str) -> str:
        """The prompt with every token replaced by what was pasted."""
        return _TOKEN.sub(lambda match: self._texts.get(match.group(), match.group()), prompt)

    def token_before(self, line: str, column: int) -> str:
        """The token that ends just before ``column`` of a line, or an empty string."""
        for match in _TOKEN.finditer(line):
            if match.end() == column and match.group() in self._texts:
                return match.group()
        return ""
