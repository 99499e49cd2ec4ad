"""A screen that closes once, however often and however early it is asked to."""

from __future__ import annotations

from typing import Any, TypeVar

from textual.await_complete import AwaitComplete
from textual.screen import Screen
from textual.worker import Worker

Result = TypeVar("Result")


class DismissedOnce(Screen[Result]):
    """Ignores a second dismissal: two keys may arrive before the first has closed it.

    One that comes while the screen is composed waits until it is: what a screen does when it is
    mounted needs its widgets, which Textual no longer adds to one that is being removed.

    Attributes:
        is_left: whether it was dismissed. Its widgets go before what it still reads or does ends.
    """

    is_left = False
    _is_composed = False
    _early: tuple[Result | None] | None = None

    def dismiss(self, result: Result | None = None) -> AwaitComplete:
        """Close it with an answer; where it is not on top, or was closed before, nothing.

        What is on top by then is what would be closed.
        """
        if not self.is_active:
            return AwaitComplete()
        if not self._is_composed:
            self._early = self._early or (result,)
            return AwaitComplete()
        self.is_left = True
        for worker in self.workers:
            if worker.node is self:  # it may look for a widget that is gone, and nobody misses it
                worker.exit_on_error = False
        return super().dismiss(result)

    def run_worker(self, *work: Any, **options: Any) -> Worker[Any]:
        worker = super().run_worker(*work, **options)
        if self.is_left:  # one that ran at the end has started another
            worker.exit_on_error = False
        return worker

    def _post_mount(self) -> None:
        super()._post_mount()  # type: ignore[no-untyped-call]
        self._is_composed = True
        if self._early is not None:
            self.dismiss(*self._early)
