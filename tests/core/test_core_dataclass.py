"""Our frozen dataclasses are those of the standard library, made faster."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from functools import partial
from typing import Any, ClassVar

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


def shapes(decorator: Any, *, frozen: bool) -> list[Any]:
    """Classes of every shape, and for each two objects that are alike and one that is not."""
    options = {"frozen": True, "slots": True} if frozen else {"slots": True}

    @decorator(**options)
    class Empty:
        pass

    @decorator(**options)
    class One:
        only: Any

    @decorator(**options)
    class Inner(One):
        more: int = 3

    @decorator(**options)
    class Named:
        """It has words of its own."""

        KIND: ClassVar[str] = "tide"
        _: dataclasses.KW_ONLY
        height: float = 0.5
        hidden: Any = dataclasses.field(default=None, repr=False)

    @decorator(**options)
    class Odd:
        name: str
        rank: int = dataclasses.field(default=0, hash=False)

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Odd) and self.name == other.name

    @decorator(**options)
    class Late:
        given: dataclasses.InitVar[int]
        name: str = "x"

    @decorator(**options)
    class Kept:
        name: str

        def __repr__(self) -> str:
            return "kept"

        def __hash__(self) -> int:
            return 7

    given: list[tuple[Any, list[Any], dict[str, Any], list[Any], dict[str, Any]]] = [
        (Empty, [], {}, [], {}),
        (One, [[1, {"a": 2}]], {}, ["b"], {}),
        (Inner, [1], {}, [1], {"more": 4}),
        (Named, [], {"height": 2.0}, [], {"hidden": 1}),
        (Odd, ["a", 1], {}, ["b"], {"rank": 2}),
        (Late, [1], {}, [2], {"name": "y"}),
        (Kept, ["a"], {}, [], {"name": "b"}),
    ]
    return [
        (kind, partial(kind, *first, **named), partial(kind, *other, **more))
        for kind, first, named, other, more in given
    ]


def outcome(act: Any) -> Any:
    """What comes of something: a value, or the kind of what is raised."""
    try:
        return act()
    except Exception as error:
        return type(error)


def portrait(shape: Any) -> dict[str, Any]:
    """All that can be seen of a class and of its objects."""
    kind, make, make_other = shape
    one, same, other = make(), make(), make_other()
    names = [field.name for field in dataclasses.fields(kind)]
    return {
        "repr": [outcome(partial(repr, each)) for each in (one, other)],
        "equal": (one == same, one == other, one != same, one == 3),
        "hash": [outcome(partial(hash, each)) for each in (same, other)],
        "copies": [copy.copy(one) == one, copy.deepcopy(other) == other],
        "state": outcome(lambda: pickle_state(other)),
        "replace": outcome(lambda: repr(dataclasses.replace(one, **{names[0]: 5}))),
        "set": outcome(lambda: setattr(one, names[0], 9)),
        "delete": outcome(lambda: delattr(same, names[0])),
        "add": outcome(lambda: setattr(one, "never", 9)) is not None,
        "arguments": [outcome(lambda: kind(1, 2, 3, 4)), outcome(lambda: kind(nothing=1))],
        "slots": (kind.__slots__, kind.__match_args__, kind.__name__, hasattr(one, "__dict__")),
        "fields": [(field.name, field.kw_only, field.repr) for field in dataclasses.fields(kind)],
    }


def pickle_state(value: Any) -> Any:
    """What pickling keeps of it."""
    return value.__reduce_ex__(4)[2]


@pytest.mark.every_python
@pytest.mark.parametrize("frozen", [True, False])
def test_no_shape_can_be_told_from_the_standard_one(frozen: bool) -> None:
    mine, theirs = (
        shapes(ours.dataclass, frozen=frozen),
        shapes(dataclasses.dataclass, frozen=frozen),
    )
    for own, standard in zip(mine, theirs, strict=True):
        assert portrait(own) == portrait(standard), own[0].__name__


@pytest.mark.every_python
def test_one_that_holds_itself_can_be_shown() -> None:
    @ours.dataclass(slots=True)
    class Node:
        children: list[Any]

    node = Node([])
    node.children.append(node)
    assert repr(node).endswith("Node(children=[...])")
