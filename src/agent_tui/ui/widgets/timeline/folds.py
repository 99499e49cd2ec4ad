"""Which blocks are open: as all of them are, but for those that were opened or folded by one."""

from __future__ import annotations

from collections.abc import Callable, Mapping


class Folds:
    """What a reader opened and folded, by entry, so that it outlives the list that was shown.

    What has no entry (it happens now, or its log has no ids) is known by its index instead.

    Args:
        entry_at: the id of the entry that an index shows; empty where it has none.

    Attributes:
        all_open: whether blocks are open, except those that were folded one by one.
        changes: how often something was decided for an entry, or for all.
    """

    def __init__(self, entry_at: Callable[[int], str]) -> None:
        self._entry_at = entry_at
        self.all_open = False
        self.changes = 0
        self._chosen: dict[str, bool] = {}
        self._here: dict[int, bool] = {}
        self._looked_up: dict[int, bool] = {}

    @property
    def chosen(self) -> Mapping[str, bool]:
        """Whether an entry is open that is not as all are; what was decided last comes last."""
        return self._chosen

    def remember(self, chosen: Mapping[str, bool]) -> None:
        """What was decided another time, of the session that is to be shown."""
        self._chosen = dict(chosen)
        self._looked_up.clear()

    def is_open(self, index: int) -> bool:
        """Whether a block is opened up, by itself or with all others."""
        if index in self._here:
            return self._here[index]
        if not self._chosen:
            return self.all_open
        known = self._looked_up.get(index)
        if known is None:
            entry = self._entry_at(index)
            known = self._chosen.get(entry, self.all_open) if entry else self.all_open
            if entry:  # what happens now gets one later
                self._looked_up[index] = known
        return known

    def choose(self, index: int, *, shown: bool) -> None:
        """A reader opens or folds a block."""
        self._here.pop(index, None)
        entry = self._entry_at(index)
        if not entry:
            self._here[index] = shown
            return
        self.changes += 1
        self._looked_up.clear()  # an entry may be shown in two places
        self._chosen.pop(entry, None)
        if shown != self.all_open:
            self._chosen[entry] = shown

    def open_for_now(self, index: int) -> None:
        """Open a block until another list is shown: no reader asked for it."""
        self._here[index] = True

    def set_all(self, *, shown: bool) -> None:
        """Open all blocks, or fold them: nothing that was decided for one holds any longer."""
        self.changes += 1
        self._chosen.clear()
        self.set_usual(shown=shown)

    def set_usual(self, *, shown: bool) -> None:
        """Have blocks open or folded for which nothing else was decided."""
        self.all_open = shown
        self.forget_places()

    def forget_places(self) -> None:
        """Another list is shown: what is known by an index alone is forgotten."""
        self._here.clear()
        self._looked_up.clear()

    def forget_from(self, first: int) -> None:
        """The blocks from an index on are others."""
        self._here = {index: shown for index, shown in self._here.items() if index < first}
        self._looked_up.clear()

    def move(self, count: int) -> None:
        """So many blocks came before all others."""
        self._here = {index + count: shown for index, shown in self._here.items()}
        self._looked_up.clear()
