"""The keys of a screen in one line at its foot; each can be clicked instead of pressed."""

from __future__ import annotations

from textual import events
from textual.binding import Binding
from textual.content import Content
from textual.widget import Widget

_LAST = {"other_side": 1, "switch": 2, "leave": 3}
"""Actions that every panel has come after those that are its own."""


class KeyHints(Widget):
    """Reads the screen's own bindings that are meant to be shown; the way out is always there."""

    ALLOW_SELECT = False

    def __init__(self) -> None:
        super().__init__()
        self._places: list[tuple[int, int, str]] = []

    def render(self) -> Content:
        self._places.clear()
        parts: list[Content] = []
        used = 0
        offered = [(self._key(binding), binding) for binding in self._offered()]
        widths = [len(key) + 1 + len(binding.description) for key, binding in offered]
        for place, (key, binding) in enumerate(offered):
            is_last = place == len(offered) - 1
            reserved = 0 if is_last else widths[-1] + 2
            if used + widths[place] + reserved > self.size.width and not is_last:
                continue
            self._places.append((used, used + widths[place], binding.action))
            parts.append(Content.assemble((key, "$user"), " ", (binding.description, "$muted")))
            used += widths[place] + 2
        return Content("  ").join(parts)

    def _key(self, binding: Binding) -> str:
        return binding.key_display or self.app.get_key_display(binding)

    def _offered(self) -> list[Binding]:
        screen = self.screen
        found: dict[str, Binding] = {}
        # Not active_bindings: there a list's own Enter hides what the screen says of the key.
        for bindings in screen._bindings.key_to_bindings.values():
            for binding in bindings:
                allowed = screen.check_action(binding.action.partition("(")[0], ())
                if binding.show and binding.description and allowed:
                    found.setdefault(binding.action, binding)
        return sorted(found.values(), key=lambda binding: _LAST.get(binding.action, 0))

    async def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        for start, end, action in self._places:
            if offset is not None and start <= offset.x < end:
                await self.screen.run_action(action)
