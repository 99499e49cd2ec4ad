"""What would leave the context, before the log goes back to a checkpoint."""

from __future__ import annotations

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from agent_tui.core.format import format_count, format_tokens
from agent_tui.core.summary import RevertPreview
from agent_tui.core.text import first_line
from agent_tui.resources import stylesheet
from agent_tui.ui.widgets.lists.rows import Rows

_ANSWERS = (("Revert", "Enter", "$checkpoint"), ("Cancel", "Esc", ""))


class RevertPreviewScreen(ModalScreen[bool]):
    """Is dismissed with True to revert. PgUp and PgDn scroll what leaves."""

    CSS_PATH = [stylesheet("widgets/rows.tcss"), stylesheet("screens/revert_preview.tcss")]
    AUTO_FOCUS = "#revert-answers"
    BINDINGS = [
        Binding("y", "answer(True)", "Revert", show=False),
        Binding("n,escape", "answer(False)", "Cancel", show=False),
        Binding("pageup", "scroll_leaving(-1)", "Scroll", show=False, priority=True),
        Binding("pagedown", "scroll_leaving(1)", "Scroll", show=False, priority=True),
    ]

    def __init__(self, preview: RevertPreview) -> None:
        super().__init__()
        self._preview = preview
        self._leaving = Rows(self._draw_line, count=len(preview.lines), has_cursor=False)
        self._answers = Rows(
            self._draw_answer, count=len(_ANSWERS), choose_on_click=True, id="revert-answers"
        )

    def compose(self) -> ComposeResult:
        with Vertical(id="revert") as box:
            box.border_title = Content(f"Back to checkpoint {self._preview.checkpoint}?")
            yield Static(self._balance(), id="revert-balance")
            yield self._leaving
            yield Static(self._promise(), id="revert-promise")
            yield self._answers

    def on_resize(self) -> None:
        others = 2 + 2 + len(_ANSWERS) + (2 if self._preview.prompt else 1)
        room = max(1, self.size.height - others - (0 if self.size.height < 20 else 4))
        self._leaving.styles.height = max(1, min(len(self._preview.lines), room))

    def _balance(self) -> Content:
        preview = self._preview
        leaving = format_count(preview.messages_leaving, "message")
        staying = format_count(preview.messages_staying, "message")
        return Content.assemble(
            ("○ ", "$danger"),
            (f"{leaving} leave", "bold"),
            (f"  {format_tokens(preview.tokens_leaving)} tokens\n", "$muted"),
            ("● ", "$fate-kept"),
            f"{staying} stay",
            (f"  {format_tokens(preview.tokens_staying)} tokens", "$muted"),
        )

    def _promise(self) -> Content:
        lines = [
            Content.styled(
                "The log is archived, and /undo takes this back. Files stay as they are.", "$muted"
            )
        ]
        if self._preview.prompt:
            prompt = first_line(self._preview.prompt, 200)
            lines.append(Content.assemble(("Back into the prompt: ", "$muted"), (prompt, "$user")))
        return Content("\n").join(lines)

    def _draw_line(self, index: int, width: int) -> Content:
        return Content.assemble(
            ("○ ", "$danger"), (first_line(self._preview.lines[index], width), "$muted")
        )

    def _draw_answer(self, index: int, width: int) -> Content:
        text, key, style = _ANSWERS[index]
        pointer = "▸ " if index == self._answers.cursor else "  "
        return Content.assemble(pointer, (text, style), (f"  {key}", "$faint"))

    @on(Rows.Highlighted, "#revert-answers")
    def _redraw(self) -> None:
        self._answers.redraw()

    @on(Rows.Chosen, "#revert-answers")
    def _choose(self, event: Rows.Chosen) -> None:
        self.action_answer(event.index == 0)

    def action_answer(self, answer: bool) -> None:
        self.dismiss(answer)

    def action_scroll_leaving(self, direction: int) -> None:
        self._leaving.action_page(direction)
