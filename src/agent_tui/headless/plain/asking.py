"""What the agent asks of a person, as plain lines: a request whole and bare, and how to answer."""

from __future__ import annotations

from agent_tui.core.arguments import show_arguments
from agent_tui.core.events import ApprovalRequest, Question
from agent_tui.core.messages import CommandDisplay, DiffDisplay
from agent_tui.core.text import format_count, hides_characters, reveal
from agent_tui.headless.plain.telling import quote_action

_LONGEST_RULE = 160
_MUCH_LINES = 20
_MUCH_CHARS = 1_500
"""Of an action larger than this, the beginning may stand above what can be seen."""


def ask_lines(asked: ApprovalRequest | Question) -> list[str]:
    """A request or a question as a person reads it, and how it is answered."""
    return _ask_question(asked) if isinstance(asked, Question) else _ask_approval(asked)


def _ask_approval(request: ApprovalRequest) -> list[str]:
    """What is to be approved, whole and with nothing hidden in it."""
    where, text = _action_of(request)
    action = quote_action(text)
    much = len(action) > _MUCH_LINES or len(text) > _MUCH_CHARS
    size = f"{format_count(len(action), 'line')}, {format_count(len(text), 'character')}"
    above = [
        f"The action is long: {size}. "
        "Scroll up to the line that begins with Approve to read all of it."
    ]
    hidden = ["It contains invisible characters, shown as codes such as <U+200B>."]
    return [
        f"Approve? {reveal(request.title)}",
        *where,
        *action,
        *(above if much else []),
        *(hidden if hides_characters(text) else []),
        f"Type yes to allow it once{_always(request)}, or no to reject it. "
        "Text after no is sent to the agent.",
    ]


def _action_of(request: ApprovalRequest) -> tuple[list[str], str]:
    """Where an action happens, for people, and what it is, whole."""
    match request.display:
        case DiffDisplay(path, diff):
            return [f"File {reveal(path)}"], diff
        case CommandDisplay(command, cwd):
            return [f"In {reveal(cwd)}"] if cwd else [], command
        case None:
            fields = show_arguments(request.call.arguments)
            return [], "\n".join(f"{name}: {text}" for name, text in fields.items())


def _always(request: ApprovalRequest) -> str:
    if not request.offers:
        return ""
    rule = reveal(request.offers[0])
    if len(rule) > _LONGEST_RULE or "\n" in rule:
        rule = "exactly this action"
    return f", always to allow {rule} for this session"


def _ask_question(question: Question) -> list[str]:
    choices = [f"{number}. {text}" for number, text in enumerate(question.choices, 1)]
    how = "Type a number, or an answer." if choices else "Type an answer."
    return [f"The agent asks: {question.text}", *choices, how]
