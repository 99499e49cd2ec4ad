"""A letter that answers, and one that belongs to a sentence: the times tell them apart."""

from __future__ import annotations

import itertools

import pytest

from agent_tui.ui.screens.dialogs.answer_guard import (
    GUARD_SECONDS,
    TYPING_GUARD_SECONDS,
    AnswerGuard,
)
from agent_tui.ui.screens.dialogs.typed_answers import (
    ALLOW_HOLD_SECONDS,
    ENTER_PAUSE_SECONDS,
    REJECT_HOLD_SECONDS,
    TICK_SECONDS,
    WIDE_HOLD_SECONDS,
    Counts,
    Dropped,
    Held,
    Sent,
    Typed,
    TypedAnswers,
    told_of_draft,
)
from tests.ui.stage import Note

KEYS = {key: index for index, pair in enumerate(("1y", "2a", "3n", "4w", "5e")) for key in pair}
HOLDS = (
    ALLOW_HOLD_SECONDS,
    WIDE_HOLD_SECONDS,
    REJECT_HOLD_SECONDS,
    REJECT_HOLD_SECONDS,
    ALLOW_HOLD_SECONDS,
)
SENTENCES = [
    "and also say what a yes 1 2 would mean",
    "yes",
    "a second thing",
    "always run every test after",
    "2 more files need a look",
    "1 thing",
    "y and n are keys",
    "now wait, everything else can stay",
    "why",
    "as a rule",
    "please add a test as well",
]
SPEEDS = (5, 10, 20)
UNEVEN = (1.0, 0.7, 1.3, 0.8, 1.25, 0.6, 1.4, 1.0, 0.9)


class Person:
    """Types at a question that is painted at 100.0, on a clock of its own."""

    def __init__(self, draft: str = "") -> None:
        self.note = Note(draft)
        guard = AnswerGuard(TYPING_GUARD_SECONDS if draft else GUARD_SECONDS)
        guard.show(100.0)
        self.judge = TypedAnswers(guard, KEYS, HOLDS, lambda: bool(self.note.text))
        self.answers: list[int] = []
        self._held = -1
        self._tick = 0.0

    def press(self, key: str, at: float, character: str | None = None) -> object:
        """Press a key, after the ticks before it; nothing is heard before 100.0."""
        heard = max(at, 100.0)
        self.wait_until(heard)
        verdict = self.judge.take(key, character, at, heard)
        match verdict:
            case Typed():
                verdict.put_into(self.note)
            case Held(index):
                self._held, self._tick = index, heard
            case Sent():
                self.note.send()
            case _:
                pass
        return verdict

    def wait_until(self, now: float) -> None:
        while self.judge.is_holding and (tick := self._tick + TICK_SECONDS) < now:
            self._tick = tick
            if self.judge.settle(tick):
                self.judge.release()
                self.answers.append(self._held)

    def type(self, text: str, start: float, speed: float, *, uneven: bool) -> None:
        paces = itertools.cycle(UNEVEN if uneven else (1.0,))
        at = start
        for letter in text:
            self.press(letter, at, letter)
            at += next(paces) / speed
        self.press("enter", at)
        self.press("enter", at + 0.3)
        self.wait_until(at + 10)


def test_no_sentence_answers_whenever_it_begins() -> None:
    tried = 0
    for sentence, speed, uneven, draft in itertools.product(
        SENTENCES, SPEEDS, (False, True), ("", "half a ")
    ):
        for step in range(-60, 80):
            person = Person(draft)
            person.type(sentence, 100.0 + step * 0.05, speed, uneven=uneven)
            assert person.answers == [], (sentence, speed, step, draft)
            written = "".join((*person.note.sent, person.note.text))
            typed = sentence[0] == written[len(draft) :][:1]
            assert typed, "what was typed is in the prompt"
            tried += 1
    print(f"S4 sentences typed at 5, 10 and 20 keys/s around the paint: {tried}, 0 answers")


@pytest.mark.parametrize(("key", "index"), KEYS.items())
def test_one_key_of_a_person_who_looks_answers(key: str, index: int) -> None:
    person = Person()
    assert person.press(key, 101.0, key) == Held(index)
    person.wait_until(101.0 + HOLDS[index] - TICK_SECONDS)
    assert person.answers == []
    person.wait_until(101.0 + HOLDS[index] + 2 * TICK_SECONDS)
    assert person.answers == [index]


def test_escape_rejects_at_once_also_while_an_answer_is_held() -> None:
    person = Person()
    person.press("y", 101.0, "y")
    assert person.press("escape", 101.1) == Counts()
    person.wait_until(110)
    assert person.answers == []


def test_escape_pressed_again_and_again_gets_out_as_soon_as_a_look_was_possible() -> None:
    person = Person()
    pressed = [person.press("escape", 100.0 + step * 0.1) for step in range(6)]
    assert pressed.index(Counts()) == round(GUARD_SECONDS * 10)


def test_escape_counts_behind_what_was_typed_and_however_late_it_is_read() -> None:
    person = Person()
    person.press("h", 101.0, "h")
    assert person.press("escape", 101.1) == Dropped(), "the hand may not have looked"
    assert person.press("escape", 101.0 + TYPING_GUARD_SECONDS) == Counts()
    assert Person().judge.take("escape", None, 101.0, 109.0) == Counts()


def test_enter_right_behind_another_key_is_dropped() -> None:
    person = Person()
    person.press("up", 101.0)
    assert person.press("enter", 101.0 + ENTER_PAUSE_SECONDS / 2) == Dropped(is_quick=True)
    assert person.press("enter", 102.0) == Counts()


def test_while_the_prompt_holds_text_only_digits_and_arrows_answer() -> None:
    person = Person("half a sentence")
    assert person.press("y", 105.0, "y") == Typed("y")
    assert person.press("1", 115.0, "1") == Held(0)
    person.wait_until(120.0)
    assert person.answers == [0]
    assert person.press("down", 125.0) == Counts()
    assert person.press("enter", 126.0) == Counts()


def test_enter_sends_the_prompt_and_no_second_one_answers() -> None:
    person = Person("half a sentence")
    assert person.press("enter", 100.1) == Sent()
    assert person.note.sent == ["half a sentence"]
    for at in (100.2, 100.9, 101.9):
        assert person.press("enter", at) == Dropped()
    assert person.press("enter", 104.0) == Counts()


def test_keys_made_while_the_program_stood_still_are_heard_before_an_answer_counts() -> None:
    person = Person()
    person.press("a", 101.0, "a")
    # Nothing ran for four seconds; then the tick comes first, and the keys of that time behind it.
    assert not person.judge.settle(105.0)
    assert person.judge.take("n", "n", 101.2, 105.01) == Typed("an")
    person.wait_until(120.0)
    assert person.answers == []


def test_pasted_text_is_no_answer() -> None:
    person = Person()
    assert person.judge.take_paste("y", 101.0) == Typed("y")
    person.wait_until(110.0)
    assert person.answers == []


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("short", "short"),
        ("the next thing while it waits for me", "…t thing while it waits for me"),
    ],
)
def test_a_long_draft_is_told_by_its_end_and_said_to_be_cut(text: str, told: str) -> None:
    words = told_of_draft(Note(text), "digits answer", 120)
    assert words.startswith(f"In the prompt: {told} · ")


def test_the_key_that_tells_the_keys_need_not_wait() -> None:
    guard = AnswerGuard(GUARD_SECONDS)
    guard.show(100.0)
    judge = TypedAnswers(guard, KEYS, HOLDS, lambda: False)
    assert judge.take("f1", None, 100.01, 100.01) == Counts()
