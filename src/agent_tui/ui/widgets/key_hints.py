"""The keys of a screen in one line at its foot; each can be clicked instead of pressed."""

from __future__ import annotations

from textual import events
from textual.binding import Binding
from textual.content import Content
from textual.widget import Widget


class KeyHints(Widget):
    """Reads the screen's own bindings that are meant to be shown, most important first."""

    ALLOW_SELECT = False

    def __init__(self) -> None:
        super().__init__()
        self._places: list[tuple[int, int, str]] = []

    def render(self) -> Content:
        self._places.clear()
        parts: list[Content] = []
        used = 0
        for binding in self._offered():
            key = binding.key_display or self.app.get_key_display(binding)
            width = len(key) + 1 + len(binding.description)
            if used + width > self.size.width:
                break
            self._places.append((used, used + width, binding.action))
            parts.append(Content.assemble((key, "$user"), " ", (binding.description, "$muted")))
            used += width + 2
        return Content("  ").join(parts)

    def _offered(self) -> list[Binding]:
        screen = self.screen
        found: dict[str, Binding] = {}
        for bindings in screen._bindings.key_to_bindings.values():
            for binding in bindings:
                allowed = screen.check_action(binding.action.partition("(")[0], ())
                if binding.show and binding.description and allowed:
                    found.setdefault(binding.action, binding)
        return sorted(found.values(), key=lambda binding: binding.action == "leave")

    async def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        for start, end, action in self._places:
            if offset is not None and start <= offset.x < end:
                await self.screen.run_action(action)
