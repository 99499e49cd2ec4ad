"""A guess at how many tokens a text is, without ranks: a linear model over classes of bytes.

Every byte is put into a class (lower case, digit, punctuation, first byte of a CJK character, …);
what counts are the bytes of a class and the places where a run of a class begins, each with a
weight. The weights were fitted against o200k_base on English prose, Python and other code, JSON,
logs, columns of numbers and results of real tool calls (non-negative least squares on the relative
error, each kind weighing the same); those of other scripts were measured on prose. The benchmark
``tests/benchmarks/context.py`` prints how far off it is.
"""

from __future__ import annotations


def _class_of(byte: int) -> str:
    if byte < 0x80:
        return _class_of_ascii(chr(byte))
    if byte < 0xC0:
        return "c"
    if byte < 0xE0:
        return "2"
    if 0xE3 <= byte <= 0xE9:
        return "J"
    if byte < 0xF0:
        return "3"
    return "4"


def _class_of_ascii(char: str) -> str:
    if char.isalpha():
        return "a" if char.islower() else "A"
    if char.isdigit():
        return "0"
    if char in " \t":
        return " "
    return "\n" if char in "\r\n" else "."


def _marking(classes: str) -> bytes:
    """A translation of classes that leaves only some of them, as one letter, and x for the rest."""
    return bytes(ord("y") if chr(code) in classes else ord("x") for code in range(256))


_CLASSES = bytes(ord(_class_of(byte)) for byte in range(256))
_WORDS, _DIGITS, _MARKS = _marking("aA"), _marking("0"), _marking(".")
_SPACES, _LINES = _marking(" "), _marking("\n")

_ASCII = (
    (b"A", 0.085),
    (b"aA", 1.29),  # aCamelHump
    (b".", 0.076),
    (b". ", 0.387),
    (b" .", 0.387),
)
_OTHER = ((b"J", 0.72), (b"3", 0.75), (b"2", 0.45), (b"4", 1.6))
_RUNS = (
    (_WORDS, b"xy", 1.031),
    (_DIGITS, b"xy", 1.202),
    (_DIGITS, b"yyy", 0.946),
    (_MARKS, b"xy", 0.496),
    (_SPACES, b"xyy", 0.477),  # indentation and columns; a single space costs nothing
    (_LINES, b"xy", 0.597),
)
_SAMPLE_CHARS = 600
_SAMPLES = 3
_PER_CHAR, _PER_FOREIGN_CHAR = 0.177, 0.55
_MARKS_AT_A_GLANCE = (
    (" ", 0.233),
    ("\n", 0.817),
    ('"', 0.683),
    (".", 0.685),
    ("_", 0.559),
    ("(", 1.054),
    ("0", 3.024),
    ("  ", -0.783),
)


def estimate_tokens(text: str) -> int:
    """About how many tokens a text is: within some 10 % on prose, code, JSON, logs and Chinese."""
    if not text:
        return 0
    classes = b"x" + text.encode("utf-8", "replace").translate(_CLASSES)
    count = classes.count
    total = 0.0
    for mark, weight in _ASCII:
        total += weight * count(mark)
    if not text.isascii():
        for mark, weight in _OTHER:
            total += weight * count(mark)
    for table, start, weight in _RUNS:
        total += weight * classes.translate(table).count(start)
    return max(1, round(total))


def quick_token_count(text: str) -> int:
    """A quicker and rougher guess: of a long text it sees three samples, of any a few marks.

    Right within a few percent over many texts; one alone may be a fifth off. Fitted like the other.
    """
    length = len(text)
    if length > _SAMPLES * _SAMPLE_CHARS:
        middle = (length - _SAMPLE_CHARS) // 2
        parts = text[:_SAMPLE_CHARS], text[middle : middle + _SAMPLE_CHARS], text[-_SAMPLE_CHARS:]
        return round(quick_token_count("".join(parts)) * length / (_SAMPLES * _SAMPLE_CHARS))
    total = length * _PER_CHAR
    count = text.count
    for mark, weight in _MARKS_AT_A_GLANCE:
        total += weight * count(mark)
    if not text.isascii():
        extra = len(text.encode("utf-8", "replace")) - length
        total += extra / 2 * _PER_FOREIGN_CHAR
    return max(1, round(total)) if length else 0
