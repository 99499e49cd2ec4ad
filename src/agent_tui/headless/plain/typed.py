"""Lines as a person types them, told from those that were pasted together."""

from __future__ import annotations

import asyncio
import math

from agent_tui.headless.input_lines import InputLine

_TOGETHER_SECONDS = 0.1
"""Nobody types two lines within this time."""


class TypedLines:
    """The lines of the input, one by one."""

    def __init__(self, lines: asyncio.Queue[InputLine]) -> None:
        self._lines = lines
        self._ahead: InputLine | None = None
        self._before = -math.inf
        self._current = -math.inf

    async def next(self) -> InputLine:
        """The next line; one without text at the end of the input."""
        line, self._ahead = self._ahead or await self._lines.get(), None
        self._before, self._current = self._current, line.read_at
        return line

    async def is_alone(self, line: InputLine) -> bool:
        """Whether the last line came by itself; waits a moment for another one behind it."""
        if line.read_at - self._before < _TOGETHER_SECONDS:
            return False
        if self._ahead is None:
            try:
                self._ahead = await asyncio.wait_for(self._lines.get(), _TOGETHER_SECONDS)
            except TimeoutError:
                return True
        return self._ahead.read_at - line.read_at >= _TOGETHER_SECONDS or not self._ahead.text
