"""Commands that run in the background: started, waited for, stopped, and ended with the session."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import field
from threading import Event, Lock

from agent_tui.core.dataclass import dataclass
from agent_tui.core.errors import ToolError
from agent_tui.tools.blobs import BlobFolder
from agent_tui.tools.child import Ended
from agent_tui.tools.output import BoundedOutput

MOST_AT_ONCE = 8

Run = Callable[[Event, BoundedOutput], Ended]
"""Runs a command to its end, or until the event is set; blocks."""
Tell = Callable[[tuple[str, ...], str], None]
"""Is told which commands are running now, each in one line, and which one has ended by itself."""


class SharedOutput(BoundedOutput):
    """Output that is read while more of it comes, from another thread."""

    def __init__(self, limit: int, blobs: BlobFolder | None = None) -> None:
        super().__init__(limit, blobs)
        self._lock = Lock()

    def feed(self, data: bytes) -> bool:
        with self._lock:
            return super().feed(data)

    def text(self) -> str:
        with self._lock:
            return super().text()

    def finish(self) -> None:
        with self._lock:
            super().finish()


@dataclass(slots=True)
class RunningCommand:
    """One command in the background; ``ended`` is done when it has ended and nothing is left.

    ``is_told``: the agent knows that it ended; ``by_user``: a person stopped it.
    """

    number: int
    title: str
    output: BoundedOutput
    stop: Event = field(default_factory=Event)
    is_told: bool = False
    by_user: bool = False
    ended: asyncio.Future[Ended] = field(init=False)


class RunningCommands:
    """The background commands of one session.

    Args:
        tell: is told which of them run, whenever one starts or ends.
    """

    def __init__(self, tell: Tell = lambda *_: None) -> None:
        self._tell = tell
        self._commands: dict[int, RunningCommand] = {}
        self._last = self._before = 0
        self._threads = ThreadPoolExecutor(MOST_AT_ONCE, thread_name_prefix="background")

    def start(self, title: str, output: BoundedOutput, run: Run) -> RunningCommand:
        """Start a command.

        Raises:
            ToolError: too many run already.
        """
        if len(self.running) >= MOST_AT_ONCE:
            raise ToolError(f"{MOST_AT_ONCE} commands run in the background: stop one of them.")
        self._last += 1
        command = RunningCommand(self._last, title, output)
        loop = asyncio.get_running_loop()

        def work() -> Ended:
            try:
                return run(command.stop, output)
            finally:
                output.finish()

        command.ended = loop.run_in_executor(self._threads, work)
        command.ended.add_done_callback(lambda _: self._tell_ended(command))
        self._commands[command.number] = command
        self._tell(self.titles, "")
        return command

    def continue_behind(self, last: int) -> None:
        """Count on behind the commands of a session that was opened again: they have ended."""
        self._before, self._last = last, max(last, self._last)

    def find(self, number: int) -> RunningCommand:
        """A command by its number, running or ended; raises ToolError."""
        if 0 < number <= self._before:
            raise ToolError(
                f"Background command {number} is gone: it ended before this session was opened "
                "again."
            )
        if number not in self._commands:
            known = ", ".join(map(str, self._commands)) or "none"
            raise ToolError(f"There is no background command {number}; there are: {known}.")
        return self._commands[number]

    async def wait(self, number: int, seconds: float) -> RunningCommand:
        """Wait until a command has ended, for so long at most; it continues after that."""
        command = self.find(number)
        await asyncio.wait([command.ended], timeout=seconds)
        command.is_told |= command.ended.done()
        return command

    async def stop(self, number: int, *, by_user: bool = False) -> RunningCommand:
        """End a command with all that it started; of a person's stop the agent is told later."""
        command = self.find(number)
        command.is_told |= not by_user
        command.by_user |= by_user and not command.ended.done()
        command.stop.set()
        await asyncio.wait([command.ended])
        return command

    def take_ended(self) -> list[RunningCommand]:
        """Those that ended since this was asked last, and of which the agent does not know."""
        ended = [each for each in self._commands.values() if each.ended.done() and not each.is_told]
        for command in ended:
            command.is_told = True
        return ended

    async def close(self) -> None:
        """End them all: nothing outlives the session."""
        running = self.running
        for command in running:
            command.stop.set()
        if running:
            await asyncio.wait([command.ended for command in running])
        self._threads.shutdown(wait=False)

    @property
    def titles(self) -> tuple[str, ...]:
        """Those that run now, each in one line."""
        return tuple(command.title for command in self.running)

    @property
    def running(self) -> list[RunningCommand]:
        """Those that run now."""
        return [each for each in self._commands.values() if not each.ended.done()]

    def _tell_ended(self, command: RunningCommand) -> None:
        self._tell(self.titles, "" if command.stop.is_set() else command.title)
