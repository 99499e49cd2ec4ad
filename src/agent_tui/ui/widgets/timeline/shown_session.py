"""A session in a timeline: its records, what happens now below them, and the frames it comes in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from textual.timer import Timer

from agent_tui.core.records import Record
from agent_tui.ui.blocks import Block
from agent_tui.ui.widgets.timeline.found_text import FoundText

_FRAMES_PER_SECOND = 25


class ShownSession(FoundText):
    """Shows the records of a session and live blocks, and draws what streams in once a frame."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self._soon: dict[int, Callable[[], Block]] = {}
        self._frames: Timer | None = None

    @property
    def folds(self) -> Mapping[str, bool]:
        """Which entries are open, or folded, that are not as all others are."""
        return self._blocks.folds.chosen

    def remember_folds(self, folds: Mapping[str, bool]) -> None:
        """Which entries of the session that is loaded next were opened or folded before."""
        self._blocks.folds.remember(folds)

    def load(self, records: Sequence[Record], earlier: Sequence[Record] = ()) -> None:
        """Show a session's records, the end in view. The sequence is kept and may grow.

        ``earlier``: what a compaction took out of the context; it stands above them, folded.
        """
        self._blocks.load(records, earlier)
        self._cursor = self._hovered = self._found = None
        self._soon.clear()
        self._reading.follows = True
        self.lines_below = 0
        self.show_change()

    def load_compacted(self, records: Sequence[Record], earlier: Sequence[Record]) -> None:
        """Show the log that a compaction made of the one that is shown, as ``load`` does.

        Who is not at the end stays where they are. If that is in what was taken out, it is folded
        once they go to the end.
        """
        self.settle()
        known = [] if self.at_end else self._entries_in_view()
        cursor = None if self._cursor is None else self._entry_at(self._cursor)
        self._blocks.load(records, earlier)
        found = ((self._blocks.find_entry(*entry), above) for entry, above in known)
        place = next(((index, above) for index, above in found if index is not None), None)
        self._cursor = self._hovered = self._found = None
        self._soon.clear()
        if place is None:
            self.action_last()
            return
        index, above = place
        if index < self._blocks.first_of_log:
            self._blocks.fold_earlier()
            self._blocks.is_left_open = True
        moved = self._blocks.find_entry(*cursor) if cursor else None
        if moved is not None and self._blocks.block(moved) is not None:
            self._cursor = moved
        self.place(self._blocks.walk((index, 0), -above))

    def _entry_at(self, index: int) -> tuple[str, int]:
        """The entry of a block, and how far it is from the last record."""
        return self._blocks.entry(index), self._blocks.recorded - index

    def _entries_in_view(self) -> list[tuple[tuple[str, int], int]]:
        """The entries in view, from above, and how many rows each begins below the first row."""
        rows = {index: y - offset for y, (index, offset) in enumerate(self._reading.view)}
        return [(self._entry_at(index), above) for index, above in rows.items()]

    def watch_is_followed(self, is_followed: bool) -> None:
        """Who reads what is not in the context any longer has left it."""
        if is_followed and self._blocks.is_left_open:
            if self._cursor is not None and self._cursor < self._blocks.first_of_log:
                self._cursor = None
            self._blocks.fold_earlier()
            self.show_change()

    def load_whole(self, records: Sequence[Record]) -> None:
        """Show the session whose end is shown: what is in view stays where it is."""
        moved = self._blocks.load_whole(records)
        if moved is None:
            self.load(records)
        else:
            self._move_down(moved)

    def load_earlier(self, records: Sequence[Record], earlier: Sequence[Record]) -> bool:
        """Show above a session's records, folded, what a compaction took out of them.

        What is in view stays where it is. False while something happens, or a text is looked for
        whose places would be others: nothing is shown then.
        """
        if self._wanted and not self._marks_match:
            return False
        moved = self._blocks.load_earlier(records, earlier)
        self._move_down(moved)
        return bool(moved)

    def _move_down(self, count: int) -> None:
        """So many blocks came before all others."""
        self._reading.move_blocks(count)
        if self._cursor is not None:
            self._cursor += count
        self._hovered = self._found = None
        self.show_change()

    def tell_losses(self, archive: int, count: int) -> None:
        """Show in the row of a compaction how much its summary does not mention."""
        self._blocks.tell_losses(archive, count)
        self.show_change()

    def clear(self) -> None:
        """Remove everything."""
        self.load(())

    def settle(self, records: Sequence[Record] | None = None) -> None:
        """Show the records that were written meanwhile in place of the live blocks.

        ``records``: where the sequence given to ``load`` does not grow by itself, its longer form.
        """
        first = self._blocks.recorded
        moved = self._blocks.settle(records)
        self._reading.renumber(moved)
        self._hovered = None
        if self._cursor is not None and self._cursor >= first != self._blocks.recorded:
            self._cursor = moved.get(self._cursor)
        self._soon.clear()
        self.show_change()

    def append(self, block: Block) -> int:
        """Add a live block at the end; returns the index by which it can be replaced."""
        before = self._blocks.heights.total
        index = self._blocks.append(block)
        self.show_change(came=self._blocks.heights.total - before)
        return index

    def replace_soon(self, index: int, make: Callable[[], Block]) -> None:
        """Change a live block with the next frame; ``make`` is called once for many changes."""
        self._soon[index] = make
        self._wake()

    def replace(self, index: int, block: Block) -> None:
        """Change a live block."""
        self._soon.pop(index, None)
        self._blocks.replace(index, block)
        self.show_change()

    def discard(self, index: int) -> None:
        """Remove a live block; the indexes of those after it go down by one."""
        self._soon.clear()
        self._blocks.remove(index)
        self._hovered = self._found = None
        if self._cursor is not None and self._cursor >= index:
            self._cursor = self._cursor - 1 if self._cursor > index else None
        self.show_change()

    def block(self, index: int) -> Block | None:
        """The block at an index; None where a record shows nothing."""
        return self._blocks.block(index)

    def stream_text(self, text: str) -> None:
        """More of the answer; drawn with the next frame."""
        self._blocks.open_answer().add_text(text)
        self._wake()

    def stream_thinking(self, text: str) -> None:
        """More of the reasoning; drawn with the next frame."""
        self._blocks.open_answer().add_thinking(text)
        self._wake()

    def close_answer(self) -> None:
        """The answer is complete."""
        if self._blocks.answer is not None:
            self._draw_frame()
            self._blocks.close_answer()
            self.show_change()

    def keep_unsaved(self) -> None:
        """The last answer is not in the log: it stays when the records take over."""
        self._blocks.keep_unsaved()

    def on_mount(self) -> None:
        self._frames = self.set_interval(1 / _FRAMES_PER_SECOND, self._draw_frame, pause=True)

    def _wake(self) -> None:
        if self._frames is not None:
            self._frames.resume()

    def _draw_frame(self) -> None:
        """Draw what streamed in since the last frame; sleep when nothing did."""
        if self._soon:
            changes, self._soon = self._soon, {}
            for index, make in changes.items():
                self._blocks.replace(index, make())
            self.show_change()
            return
        answer = self._blocks.answer
        if answer is None or not answer.advance():
            if self._frames is not None:
                self._frames.pause()
            return
        self.show_change(came=self._blocks.measure_open())
