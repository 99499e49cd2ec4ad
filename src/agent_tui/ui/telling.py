"""The faces of what can say a sentence to the person, and of what knows the last one."""

from __future__ import annotations

from typing import Protocol, runtime_checkable


@runtime_checkable
class Teller(Protocol):
    """A screen that says sentences in a place of its own."""

    def tell(self, sentence: str, *, is_error: bool = False) -> None:
        """Show a sentence for some seconds."""


@runtime_checkable
class LastTold(Protocol):
    """An app that knows what it said a moment ago."""

    @property
    def just_told(self) -> str:
        """That sentence, for a screen that opens over it; else nothing."""
        ...
