"""Of what was said a preview takes the beginning, however long the whole is."""

from __future__ import annotations

import pytest

from agent_tui.core.messages import ToolCall
from agent_tui.core.records import AssistantMessage, Message, ToolMessage, UserMessage
from agent_tui.core.text import clean
from agent_tui.core.tree import Comparison
from agent_tui.history.exchanges import Exchange
from agent_tui.history.records.compare import compare_branches
from agent_tui.ui.screens.time.compare import CompareScreen
from agent_tui.ui.widgets.panes import exchange_lines
from agent_tui.ui.widgets.panes.exchange_lines import (
    Answer,
    Part,
    Prompt,
    exchange_parts,
    message_parts,
)
from tests.ui.stage import Stage
from tests.waiting import settle

BIG = "a word\r\n" * 1_250_000
LOOKED_AT = 20_000
"""Far more than a preview shows, and far less than is there."""


@pytest.fixture
def cleaned(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was cleaned, which is what was read of a text."""
    texts: list[str] = []

    def look(text: str) -> str:
        texts.append(text)
        return clean(text)

    monkeypatch.setattr(exchange_lines, "clean", look)
    return texts


def length(texts: list[str]) -> int:
    return sum(map(len, texts))


def plain(part: Part) -> str:
    return part.text if isinstance(part, Prompt | Answer) else part.plain


@pytest.mark.parametrize(
    "message",
    [
        UserMessage(BIG),
        AssistantMessage(BIG),
        ToolMessage("c", BIG),
        AssistantMessage("", (ToolCall("c", BIG, f'{{"command": "{"x" * len(BIG)}"}}'),)),
    ],
    ids=["prompt", "answer", "result", "call"],
)
def test_of_a_big_message_only_the_beginning_is_read(message: Message, cleaned: list[str]) -> None:
    parts = list(message_parts(message))
    assert 0 < length(cleaned) < LOOKED_AT
    assert 0 < sum(len(plain(part)) for part in parts) < LOOKED_AT
    assert "\r" not in "".join(map(plain, parts))


def test_of_a_big_exchange_only_the_beginning_is_read(cleaned: list[str]) -> None:
    prompt, answer, _ = exchange_parts([Exchange(BIG, BIG)])
    assert 0 < length(cleaned) < LOOKED_AT
    assert plain(prompt) == "a word\na word\na word\na word…"
    assert plain(answer).startswith("a word\na word")
    assert plain(answer).endswith("…")


def test_no_word_or_two_of_a_paragraph_are_left_where_an_answer_is_cut_off() -> None:
    text = f"{'word ' * 238}end.\n\nI changed nothing else in all of it."
    _, answer, _ = exchange_parts([Exchange("ask", text)])
    assert plain(answer).endswith("end.\n\n…")


def test_a_message_of_many_calls_is_told_by_the_first() -> None:
    calls = tuple(ToolCall(str(n), "read_file", f'{{"path": "{n}.py"}}') for n in range(10_000))
    *told, more = map(plain, message_parts(AssistantMessage("", calls)))
    assert len(told) == 20
    assert told[-1].split() == ["read_file", "19.py"]
    assert more.strip() == "9,980 more calls"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", ""),
        (" \n\t ", ""),
        ("\n\n hello \x1b[2J\n", "hello ␛[2J"),
        ("\n" * 5_000 + "late", "late"),
        ("x" * 1_200, "x" * 1_200),
        ("x" * 1_201, "x" * 1_200 + "…"),
        ("many words " * 200, ("many words " * 200)[:1_199].rpartition(" ")[0] + "…"),
        ("\r\n".join("abc" for _ in range(300)), "\n".join("abc" for _ in range(300))),
    ],
)
def test_a_text_is_cut_where_a_word_ends(text: str, shown: str) -> None:
    parts = [plain(part) for part in message_parts(AssistantMessage(text))]
    assert parts == ([shown] if shown else [])


async def test_a_side_that_is_not_shown_is_not_read(cleaned: list[str]) -> None:
    async def load() -> Comparison:
        left = [UserMessage(f"left {number}", "human") for number in range(9)]
        right = [UserMessage(f"right {number}", "human") for number in range(9)]
        return compare_branches(("l", left), ("r", right), lambda _message: 1)

    def sides() -> set[str]:
        return {text.partition(" ")[0] for text in cleaned}

    app = Stage(screen=CompareScreen(load))
    async with app.run_test(size=(60, 24)) as pilot:
        await settle(pilot)
        cleaned.clear()
        await pilot.press("down")
        await settle(pilot)
        assert sides() == {"right"}
        cleaned.clear()
        await pilot.press("left")
        await settle(pilot)
        assert sides() == {"left"}
        await pilot.resize_terminal(100, 24)
        await settle(pilot)
        cleaned.clear()
        await pilot.press("down")
        await settle(pilot)
        assert sides() == {"left", "right"}
        assert app.text.count("right 2") == 2, "in its row and below"
