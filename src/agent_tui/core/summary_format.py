"""The text that stands for what was compacted: written here, and read here, wherever it is shown.

It has up to four parts: a word to the model, the summary, files as they are now, and an index of
names that the summary may not mention.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import field

from agent_tui.core.dataclass import dataclass
from agent_tui.core.messages import Content, TextPart, text_of

HEADINGS = (
    "Current focus",
    "Environment",
    "Completed work",
    "Errors and how each was solved",
    "Code state",
    "Decisions",
    "Open issues",
)
"""What a summary tells, in order of priority."""

_COMPACTED = (
    "<system>Earlier messages were compacted into this summary. Those that follow it are kept "
    "word for word; what they ask may be done already.</system>\n\n"
)
_CUT_OFF = (
    "<system>Earlier messages were cut off and could not be summarised. "
    "Those that follow are kept word for word.</system>\n\n"
)
_BRANCH = (
    "<system>Another branch of this conversation was left. This is what was done there; the "
    "files are as that branch left them.</system>\n\n"
)
_FILES = ("\n\n<files>\n", "\n</files>")
_INDEX = ("\n\n<index>\n", "\n</index>")

_OPENINGS = (
    "<system>Previous context has been compacted",  # kimi's
    "<system>Earlier messages were compacted",
    "<system>Earlier messages were cut off",
)
_PREFACE = re.compile(r"\A\s*<system>[^<]*</system>\s*")
_FILE = re.compile(r'^<file path="([^"\n]+)"', re.MULTILINE)
_INDEX_LINE = re.compile(r"^([A-Z][a-z]+): (.+)$", re.MULTILINE)
_BETWEEN_NAMES = " · "


@dataclass(frozen=True, slots=True)
class SummaryText:
    """What such a message says, taken apart.

    Attributes:
        summary: the text that a model or the fallback wrote.
        files: the paths of the files whose contents follow it.
        index: names by their kind, such as ``Files``.
    """

    summary: str
    files: tuple[str, ...] = ()
    index: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def write_summary(
    summary: str,
    files: Sequence[str] = (),
    index: Mapping[str, Sequence[str]] | None = None,
    *,
    fallback: bool = False,
) -> tuple[TextPart, ...]:
    """The parts of the message; ``files`` are written whole, each under its path."""
    parts = [TextPart(_CUT_OFF if fallback else _COMPACTED), TextPart(summary.strip())]
    if files:
        parts.append(TextPart("\n".join(files).join(_FILES)))
    if index:
        parts.append(TextPart(write_index(index).join(_INDEX)))
    return tuple(parts)


def write_branch_summary(summary: str) -> tuple[TextPart, ...]:
    """The parts of the message that says on one branch what was done on another."""
    return TextPart(_BRANCH), TextPart(summary)


def write_index(index: Mapping[str, Sequence[str]]) -> str:
    """An index as it stands in the message: one line for each kind of name."""
    return "\n".join(f"{kind}: {_BETWEEN_NAMES.join(names)}" for kind, names in index.items())


def read_summary(content: Content) -> SummaryText:
    """What a message says that stands for what was compacted, ours or another agent's.

    A message that stands for a branch is read in the same way.
    """
    texts = (
        [content]
        if isinstance(content, str)
        else [part.text for part in content if isinstance(part, TextPart)]
    )
    said, files, index = [], "", ""
    for place, text in enumerate(texts):
        if place and text.startswith(_FILES[0]):
            files = text
        elif place and text.startswith(_INDEX[0]):
            index = text
        elif place or len(texts) == 1 or not _PREFACE.fullmatch(text):
            said.append(text)
    named = {kind: tuple(line.split(_BETWEEN_NAMES)) for kind, line in _INDEX_LINE.findall(index)}
    summary = "".join(said).strip()
    body = _PREFACE.sub("", summary) or summary
    return SummaryText(body.strip(), tuple(_FILE.findall(files)), named)


def with_preface(content: Content) -> Content:
    """A summary with the words by which it is known as one, for logs that tell no origins."""
    parts = (TextPart(content),) if isinstance(content, str) else content
    return content if text_of(parts).startswith("<system>") else (TextPart(_COMPACTED), *parts)


def without_index(text: str) -> str:
    """What such a message tells in words and files: a name in its index is not told of."""
    return text.partition(_INDEX[0])[0]


def told_in_summary(texts: Sequence[str]) -> list[str]:
    """What the texts of such a message tell: without the word to the model and the index."""
    told = (_PREFACE.sub("", without_index(text)) for text in texts)
    return list(filter(None, told))


def opens_summary(text: str) -> bool:
    """Whether a text stands for what was compacted, in a log of kimi's form: it tells no origins.

    Such logs hold kimi's summaries, and ours where a session of ours was exported.
    """
    return text.lstrip().startswith(_OPENINGS)
