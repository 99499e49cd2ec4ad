"""Long pastes as short tokens in the prompt, ``[paste #1: 240 lines]``; whole when sent."""

from __future__ import annotations

import re
from urllib.parse import unquote

from agent_tui.core.text import clean, format_count, late_pattern

FOLD_LINES = 10
FOLD_CHARACTERS = 2_000
_LONGEST_QUESTION = 300
_TOKEN = late_pattern(r"\[paste #(\d+): [\d,]+ (?:lines|characters)\]")


def literal_paste(text: str) -> str:
    """A paste as plain text: newlines unified, control characters made visible."""
    return clean(text.replace("\r\n", "\n").replace("\r", "\n"))


_PICTURE = late_pattern(r"(?:file://)?((?:/|~/).*\.(?:png|jpe?g|gif|webp))", re.IGNORECASE)


def mention_pictures(text: str) -> str:
    """Mentions of the pictures whose paths were dropped on the terminal; empty for other text."""
    if "\n" in text.strip() or not text.strip().startswith(("/", "~/", "'", '"', "file://")):
        return ""
    import shlex  # not for the first frame

    try:
        found = [(_PICTURE.fullmatch(each), each) for each in shlex.split(text)]
    except ValueError:
        return ""
    paths = [unquote(m[1]) if each.startswith("file:") else m[1] for m, each in found if m]
    if not paths or len(paths) < len(found):
        return ""
    return "".join(f'@"{path}" ' if " " in path else f"@{path} " for path in paths)


class Pastes:
    """The long pastes of one prompt, by number; a token that was edited stays what it says."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def fold(self, text: str) -> str:
        """The text itself, or a token for what is long in it; a question around it stays.

        The paths of pictures, as a terminal pastes what is dropped on it, become mentions.
        """
        if mention := mention_pictures(text):
            return mention
        if not _is_long(text):
            return text
        before, body, after = _split(text)
        if "\n" in body and not after:
            after = "\n"  # what is typed next does not belong to the last line of the paste
        return f"{before}{self._fold(body)}{after}"

    def _fold(self, text: str) -> str:
        if not _is_long(text):
            return text
        lines = _count_lines(text)
        size = (
            format_count(lines, "line")
            if lines > FOLD_LINES
            else format_count(len(text), "character")
        )
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


def _count_lines(text: str) -> int:
    return len(text.rstrip("\n").split("\n"))


def _is_long(text: str) -> bool:
    return _count_lines(text) > FOLD_LINES or len(text) > FOLD_CHARACTERS


def _split(text: str) -> tuple[str, str, str]:
    """What asks in a paste, before and after what it asks about."""
    lines = text.rstrip("\n").split("\n")
    before = after = ""
    if len(lines) > 2 and _asks(lines[0], ("?", ":")):
        before = f"{lines.pop(0)}\n"
    if len(lines) > 2 and _asks(lines[-1], ("?",)):
        after = f"\n{lines.pop()}"
        while len(lines) > 1 and not lines[-1].strip():
            after = f"\n{after}"
            lines.pop()
    return before, "\n".join(lines), after


def _asks(line: str, ends: tuple[str, ...]) -> bool:
    """Whether a line is a sentence of a person rather than a part of what was pasted."""
    words = line.strip()
    is_prose = words[:1].isupper() and " " in words and len(words) <= _LONGEST_QUESTION
    return is_prose and words.endswith(ends)
