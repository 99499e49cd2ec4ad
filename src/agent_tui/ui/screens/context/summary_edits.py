"""What a person changed in a summary, line by line, so that a new summary can take it over."""

from __future__ import annotations

from dataclasses import dataclass

BY_HAND = "# Kept by hand"


@dataclass(frozen=True, slots=True)
class SummaryEdits:
    """The difference between what was written for a person and what the person made of it.

    Attributes:
        added: lines that came by hand, in the order in which they stand.
        removed: lines that were taken out. Headings come back: other lines may stand under them.
    """

    added: tuple[str, ...] = ()
    removed: frozenset[str] = frozenset()

    def then(self, before: str, after: str) -> SummaryEdits:
        """These edits and the one that made ``after`` of ``before``."""
        old, new = _lines(before), _lines(after)
        come = {line for line in new if line not in old and line not in self.removed}
        by_hand = come.union(self.added)
        gone = {line for line in old if line not in new and line not in by_hand}
        return SummaryEdits(
            added=tuple(line for line in new if line in by_hand),
            removed=self.removed.union(gone).difference(new),
        )

    def carry_into(self, summary: str) -> str:
        """A summary that knows nothing of these edits, with them."""
        out = {line for line in self.removed if not line.startswith("#")}
        stays = [line for line in summary.split("\n") if line.rstrip() not in out]
        text = "\n".join(stays)
        known = _lines(text)
        return keep_by_hand(text, *(line for line in self.added if line not in known))


def keep_by_hand(summary: str, *lines: str) -> str:
    """The summary with these lines at the end of a section of their own."""
    if not lines:
        return summary
    said = summary.strip("\n").split("\n")
    if BY_HAND not in said:
        said += ["", BY_HAND]
    end = said.index(BY_HAND) + 1
    while end < len(said) and not said[end].startswith("#"):
        end += 1
    while not said[end - 1].strip():
        end -= 1
    return "\n".join([*said[:end], *lines, *said[end:]]).strip("\n")


def _lines(summary: str) -> dict[str, None]:
    """The lines that say something, each once, in order."""
    lines = (line.rstrip() for line in summary.split("\n"))
    return dict.fromkeys(line for line in lines if line and line != BY_HAND)
