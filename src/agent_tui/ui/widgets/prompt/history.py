"""Walking through earlier prompts, with the unfinished one waiting at the end."""

from __future__ import annotations

from collections.abc import Sequence


class PromptHistory:
    """Earlier prompts, oldest first, and a place in them; the newest place is the draft."""

    def __init__(self, prompts: Sequence[str] = ()) -> None:
        self._prompts = list(prompts)
        self._place = len(self._prompts)
        self._draft = ""

    def add(self, prompt: str) -> None:
        """Remember a prompt that was sent; walking starts at the end again.

        If it was an earlier one, the draft that waited meanwhile is the newest from here on.
        """
        for text in (prompt, self._draft):
            if text and (not self._prompts or self._prompts[-1] != text):
                self._prompts.append(text)
        self.reset()

    def add_older(self, prompts: Sequence[str]) -> None:
        """Put prompts of before, oldest first, ahead of what was written since the start."""
        self._prompts[:0] = prompts
        self._place += len(prompts)

    def reset(self) -> None:
        """Forget the draft and return to the end."""
        self._place = len(self._prompts)
        self._draft = ""

    def earlier(self, current: str) -> str | None:
        """The prompt before this place, or None at the oldest."""
        if self._place == 0:
            return None
        if self._place == len(self._prompts):
            self._draft = current
        self._place -= 1
        return self._prompts[self._place]

    def later(self) -> str | None:
        """The prompt after this place, the draft at the end, or None when already there."""
        if self._place >= len(self._prompts):
            return None
        self._place += 1
        if self._place == len(self._prompts):
            draft, self._draft = self._draft, ""
            return draft
        return self._prompts[self._place]

    def search(self, query: str, limit: int = 50) -> list[str]:
        """Prompts that contain every word of the query, newest first, each once."""
        words = query.lower().split()
        found: dict[str, None] = {}
        for prompt in reversed(self._prompts):
            text = prompt.lower()
            if all(word in text for word in words):
                found[prompt] = None
                if len(found) == limit:
                    break
        return list(found)
