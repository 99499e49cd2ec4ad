"""Our frozen dataclasses are those of the standard library, made faster."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from typing import Any

import pytest

from agent_tui.core import dataclass as ours
from agent_tui.core.records import Stamp, ToolMessage, UserMessage


def make(decorator: Any) -> Any:
    """One class, made by the decorator given."""

    @decorator(frozen=True, slots=True)
    class Tide:
        """Something with every kind of field that is plain."""

        place: str
        height: float = 1.5
        marks: tuple[int, ...] = ()
        notes: dict[str, Any] = dataclasses.field(default_factory=dict)
        seen: int = dataclasses.field(default=0, compare=False, repr=False)

        @property
        def is_high(self) -> bool:
            return self.height > 2

    return Tide


OURS, THEIRS = make(ours.dataclass), make(dataclasses.dataclass)


@pytest.mark.every_python
@pytest.mark.parametrize("values", [{}, {"height": 3.0, "seen": 4}, {"notes": {"a": 1}}])
def test_it_holds_shows_and_compares_what_the_standard_one_does(values: dict[str, Any]) -> None:
    mine, theirs = OURS("pier", **values), THEIRS("pier", **values)
    assert repr(mine) == repr(theirs)
    assert dataclasses.asdict(mine) == dataclasses.asdict(theirs)
    assert mine == OURS("pier", **{**values, "seen": 9})
    assert (mine == OURS("pier", height=9.0)) is False
    assert mine != theirs
    assert dataclasses.replace(mine, place="bay") == OURS("bay", **values)
    assert mine.is_high == theirs.is_high
    assert OURS.__match_args__ == THEIRS.__match_args__
    assert OURS.__slots__ == THEIRS.__slots__
    assert copy.copy(mine) == mine == copy.deepcopy(mine)


@pytest.mark.every_python
def test_nothing_of_it_can_be_changed() -> None:
    tide = OURS("pier")
    with pytest.raises(dataclasses.FrozenInstanceError):
        tide.height = 2.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        del tide.height
    with pytest.raises((AttributeError, TypeError)):
        tide.other = 1
    with pytest.raises(TypeError):
        OURS()
    assert OURS("a").notes is not OURS("a").notes


@pytest.mark.every_python
def test_records_are_hashed_pickled_and_told_apart() -> None:
    stamp = Stamp("u", "p", "2026-01-01T00:00:00Z")
    record = ToolMessage("c", "text", is_error=True, stamp=stamp)
    assert pickle.loads(pickle.dumps(record)) == record
    assert len({record, dataclasses.replace(record), ToolMessage("c", "text")}) == 2
    with pytest.raises(TypeError):
        hash(UserMessage("x", display=[]))  # type: ignore[arg-type]  # what cannot be hashed says so


@pytest.mark.every_python
def test_one_that_can_be_changed_is_no_key_of_a_dictionary() -> None:
    @ours.dataclass(slots=True)
    class Counter:
        count: int = 0
        notes: list[str] = dataclasses.field(default_factory=list)

    counter = Counter()
    counter.count += 1
    counter.notes.append("a")
    assert counter == Counter(1, ["a"]) == copy.deepcopy(counter) != Counter(1)
    with pytest.raises(AttributeError):
        counter.other = 1  # type: ignore[attr-defined]
    with pytest.raises(TypeError):
        hash(counter)


@pytest.mark.every_python
def test_a_constructor_is_compiled_when_the_first_object_is_made() -> None:
    tide = make(ours.dataclass)
    first = tide.__init__
    assert tide("pier", height=2.5) == tide("pier", 2.5)
    assert tide.__init__ is not first
    assert tide.__init__.__code__.co_argcount == 6
    with pytest.raises(TypeError, match="unexpected keyword argument 'depth'"):
        make(ours.dataclass)("pier", depth=1)


@pytest.mark.every_python
def test_whatever_is_not_plain_is_left_to_the_standard_library() -> None:
    @ours.dataclass(frozen=True, slots=True)
    class Longer(OURS):  # type: ignore[misc, valid-type]  # a class that was made by a function
        more: int = 0

        def __post_init__(self) -> None:
            assert self.more >= 0

    assert Longer("a", more=2).more == 2
    with pytest.raises(AssertionError):
        Longer("a", more=-1)
