"""Sequences whose items are made or read when they are looked at."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import TypeVar, overload

from agent_tui.core.records import Record

Item_co = TypeVar("Item_co", covariant=True)


class LazySequence(Sequence[Item_co]):
    """A sequence that knows its length and the item at a place; it may grow between two looks."""

    def roles(self, first: int, stop: int) -> Sequence[str] | None:
        """The roles of a slice, where items are read from the disk when they are asked for.

        A role is empty where it is not known; None where items can be looked at instead.
        """
        return None

    def errors(self, first: int, stop: int) -> Sequence[int]:
        """The places of a slice that tell of an error, where ``roles`` gives roles."""
        return ()

    @abstractmethod
    def at(self, place: int) -> Item_co:
        """The item at a place from 0 up to the length."""

    def some(self, places: range) -> list[Item_co]:
        """The items at a few places."""
        return [self.at(place) for place in places]

    def __iter__(self) -> Iterator[Item_co]:
        return map(self.at, range(len(self)))

    @overload
    def __getitem__(self, index: int) -> Item_co: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Item_co]: ...
    def __getitem__(self, index: int | slice) -> Item_co | Sequence[Item_co]:
        length = len(self)
        if isinstance(index, slice):
            return self.some(range(*index.indices(length)))
        place = index + length if index < 0 else index
        if not 0 <= place < length:
            raise IndexError(index)
        return self.at(place)


class RecordsOnDisk(LazySequence[Record]):
    """Records that are read when they are looked at; their roles are known before."""

    @property
    @abstractmethod
    def message_count(self) -> int:
        """How many of them are messages."""
