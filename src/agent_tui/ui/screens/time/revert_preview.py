"""What would leave the context, before the log goes back to a checkpoint."""

from __future__ import annotations

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.widgets import Static

from agent_tui.core.format import format_count, format_tokens
from agent_tui.core.summary import RevertPreview
from agent_tui.core.text import first_line
from agent_tui.resources import stylesheet
from agent_tui.ui.commands import label_of
from agent_tui.ui.commands.table import name_keys
from agent_tui.ui.screens.dialogs.popup import POPUP_SHEETS, Popup
from agent_tui.ui.widgets.lists.rows import Rows

_ANSWERS = (("Revert", "yes", "y"), ("Cancel", "no", "n"))
_SCROLLS = (("back", "PgUp"), ("on", "PgDn"))


class RevertPreviewScreen(Popup[bool]):
    """Is dismissed with True to revert. PgUp and PgDn scroll what leaves."""

    CSS_PATH = [*POPUP_SHEETS, stylesheet("screens/revert_preview.tcss")]
    AUTO_FOCUS = "#revert-answers"
    BINDINGS = [
        Binding("y", "answer(True)", "Revert", show=False),
        Binding("n,escape", "answer(False)", "Cancel", show=False),
        Binding("pageup", "scroll_leaving(-1)", "Page up", show=False, priority=True),
        Binding("pagedown", "scroll_leaving(1)", "Page down", show=False, priority=True),
    ]

    def __init__(self, preview: RevertPreview) -> None:
        super().__init__()
        self._preview = preview
        self._leaving = Rows(self._draw_line, count=len(preview.lines), has_cursor=False)
        self._answers = Rows(
            self._draw_answer,
            count=len(_ANSWERS),
            choose_on_click=True,
            pointer=True,
            id="revert-answers",
        )

    def compose(self) -> ComposeResult:
        keys = (self._label_of(f"scroll-leaving-{name}", own) for name, own in _SCROLLS)
        scroll = (" ".join(filter(None, keys)), "scroll")
        hints = (("Enter", "confirm"), scroll, ("Esc", "cancel"))
        with self.frame(f"Revert to checkpoint {self._preview.checkpoint}?", hints, id="revert"):
            yield Static(self._balance(), id="revert-balance")
            yield self._leaving
            yield Static(self._promise(), id="revert-promise")
            yield self._answers

    def fit(self) -> None:
        others = 2 + 2 + len(_ANSWERS) + (2 if self._preview.prompt else 1)
        height = self.room.height
        room = max(1, height - others - (0 if height < 18 else 9))
        self._leaving.styles.height = max(1, min(len(self._preview.lines), room))

    def _balance(self) -> Content:
        preview = self._preview
        leaving = format_count(preview.messages_leaving, "message")
        staying = format_count(preview.messages_staying, "message")
        return Content.assemble(
            ("○ ", "$danger"),
            (f"{leaving} removed", "bold"),
            (f"  {format_tokens(preview.tokens_leaving)} tokens\n", "$muted"),
            ("● ", "$fate-kept"),
            f"{staying} kept",
            (f"  {format_tokens(preview.tokens_staying)} tokens", "$muted"),
        )

    def _promise(self) -> Content:
        kept = name_keys(self.app, "The log is archived; undo with {undo}. Files are not changed.")
        lines = [Content.styled(kept, "$muted")]
        if self._preview.prompt:
            prompt = first_line(self._preview.prompt, 200)
            lines.append(Content.assemble(("Returns to the prompt: ", "$muted"), (prompt, "$user")))
        return Content("\n").join(lines)

    def _draw_line(self, index: int, width: int) -> Content:
        return Content.assemble(
            ("○ ", "$danger"), (first_line(self._preview.lines[index], width), "$muted")
        )

    def _draw_answer(self, index: int, width: int) -> Content:
        text, name, own = _ANSWERS[index]
        key = self._label_of(f"answer-{name}", own)
        return Content.assemble(text, " " * max(1, width - len(text) - len(key)), (key, "$faint"))

    def _label_of(self, name: str, own: str) -> str:
        return label_of(self.app, f"revert-preview-{name}", own)

    @on(Rows.Chosen, "#revert-answers")
    def _choose(self, event: Rows.Chosen) -> None:
        self.action_answer(event.index == 0)

    def action_answer(self, answer: bool) -> None:
        self.dismiss(answer)

    def action_scroll_leaving(self, direction: int) -> None:
        self._leaving.action_page(direction)
