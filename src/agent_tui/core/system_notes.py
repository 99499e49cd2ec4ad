"""What the program adds to messages for the model, read again for people: notes and signatures.

Logs of ours name the origin of such a message; plain ones only wrap it in ``<system>``.
"""

from __future__ import annotations

import re

from agent_tui.core.origins import Origin
from agent_tui.core.summary_format import opens_summary

_CHECKPOINT_NOTICE = re.compile(r"\s*<system>CHECKPOINT \d+</system>\s*")
_DMAIL_NOTICE = re.compile(r"\s*<system>You just got a D-Mail")
_FIRST_NOTE = re.compile(r"\s*<system>(.*?)</system>\s*", re.DOTALL)
_TAG = re.compile(r"</?system>")
_CONTENT = "D-Mail content:"
SUBAGENT_SESSION = re.compile(
    r"^\[[^\[\]\n]+, session ([A-Za-z0-9][\w.-]{0,63}), [\d,]+ tokens\]", re.MULTILINE
)
"""How the result of a task names the session of its subagent: ``sign_report`` writes it."""


def is_checkpoint_notice(text: str) -> bool:
    """Whether a message only tells the model the number of a checkpoint."""
    return _CHECKPOINT_NOTICE.fullmatch(text) is not None


def tagged_origin(text: str) -> Origin:
    """Who said a message whose log does not tell, by how it is wrapped."""
    if is_checkpoint_notice(text):
        return "checkpoint"
    if _DMAIL_NOTICE.match(text):
        return "dmail"
    return "compaction" if opens_summary(text) else "human"


def without_tags(text: str) -> str:
    """A note as people read it."""
    return _TAG.sub("", text).strip()


def read_dmail(text: str) -> str:
    """What a D-Mail says, without what is written around it for the model."""
    if (note := _FIRST_NOTE.match(text)) is None:
        return without_tags(text)
    message = text[note.end() :] or note[1].partition(_CONTENT)[2] or note[1]
    return without_tags(message)


def sign_report(agent: str, session_id: str, tokens: int) -> str:
    """The last line of a subagent's report: who made it, where it can be read, what it took."""
    return f"[{agent}, session {session_id}, {tokens:,} tokens]"
