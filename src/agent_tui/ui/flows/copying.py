"""Copying text, by every way that there is."""

from __future__ import annotations

from functools import partial
from typing import TypeVar

from textual.app import App

Result = TypeVar("Result")


class CopyingApp(App[Result]):
    """Copies by the terminal and by the desktop's own tool: no terminal says whether it did."""

    def copy_to_clipboard(self, text: str) -> None:
        """Copy a text and say so; the desktop's tool does it a moment later."""
        from agent_tui.runtime.machine.clipboard import copy_text

        super().copy_to_clipboard(text)
        self.run_worker(partial(copy_text, text), thread=True, exit_on_error=False)
        self.notify("Copied")
