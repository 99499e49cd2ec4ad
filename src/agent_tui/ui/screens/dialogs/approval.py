"""The question before an action: exactly what will happen, and four answers."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from agent_tui.core.events import ApprovalAnswer, ApprovalRequest
from agent_tui.core.text import clean, first_line, reveal
from agent_tui.resources import stylesheet
from agent_tui.ui.answer_guard import GUARD_SECONDS, TYPING_GUARD_SECONDS, AnswerGuard
from agent_tui.ui.widgets.lists.rows import Rows
from agent_tui.ui.widgets.panes.action_body import ActionBody, action_of
from agent_tui.ui.widgets.prompt.line_input import LineInput

_OPTIONS = (
    ("1", "y", "Allow once"),
    ("2", "a", "Allow this, and the same again in this session"),
    ("3", "n", "Reject"),
    ("4", "w", "Reject with feedback"),
)
_REJECT = 2
_FRAME_SECONDS = 0.02
_MORE = "PgDn for more · ends with: "


class Options(Rows):
    """The four answers."""

    def __init__(self) -> None:
        super().__init__(count=len(_OPTIONS), choose_on_click=True)
        self.is_drawn = False

    def draw_row(self, index: int, width: int) -> Content:
        self.is_drawn = True
        number, letter, text = _OPTIONS[index]
        pointer = "▸ " if index == self.cursor else "  "
        style = "$danger" if index >= _REJECT else "$ok"
        return Content.assemble(pointer, (f"{number} ", style), text, (f"  {letter}", "$faint"))


class ApprovalScreen(ModalScreen[ApprovalAnswer]):
    """Shows one request and is dismissed with the answer; Esc rejects.

    The action stands there whole and can be scrolled; the cursor starts on Reject.

    Args:
        request: what waits for a decision.
        typing: a prompt is being written: the next keys are probably meant for it, so that only
            one after a longer pause counts.
        on_typed: is given the letters that came before.
    """

    CSS_PATH = [
        stylesheet("widgets/rows.tcss"),
        stylesheet("widgets/line_input.tcss"),
        stylesheet("screens/approval.tcss"),
    ]
    AUTO_FOCUS = "Options"
    BINDINGS = [
        *(
            Binding(f"{number},{letter}", f"answer({index})", text, show=False)
            for index, (number, letter, text) in enumerate(_OPTIONS)
        ),
        Binding("escape", "back", "Reject", show=False),
        Binding("pageup", "scroll_body(-1)", "Scroll", show=False, priority=True),
        Binding("pagedown", "scroll_body(1)", "Scroll", show=False, priority=True),
    ]

    def __init__(
        self,
        request: ApprovalRequest,
        *,
        typing: bool = False,
        on_typed: Callable[[str], None] | None = None,
    ) -> None:
        super().__init__()
        self.request = request
        self._action = action_of(request)
        self._body = ActionBody(self._action)
        self.guard = AnswerGuard(TYPING_GUARD_SECONDS if typing else GUARD_SECONDS)
        self._on_typed = on_typed
        self._press_counts = False
        self._options = Options()
        self._feedback = LineInput("What should the agent do instead?", id="approval-feedback")

    def compose(self) -> ComposeResult:
        with Vertical(id="approval") as box:
            box.border_title = Content(f"{reveal(self.request.call.name)} asks")
            yield Static(
                Content(first_line(reveal(self.request.title[:4_000]), 400)), id="approval-title"
            )
            yield Static(self._facts(), id="approval-facts")
            yield self._body
            yield Static(id="approval-tail")
            yield self._options
            yield self._feedback

    def on_mount(self) -> None:
        self._feedback.display = False
        says_the_same = self.request.title.strip() == self._action.text.strip()
        self.query_one("#approval-title").display = not says_the_same
        self._options.cursor = _REJECT

    def on_resize(self) -> None:
        self.guard.hide()
        self.call_after_refresh(self._fit_body)

    def on_screen_resume(self) -> None:
        self.guard.hide()
        self.call_after_refresh(self._fit_body)

    def _begin_guard(self) -> None:
        """The frame is out: if it showed the whole question, answers count from soon on."""
        width = self._body.scrollable_content_region.width
        if self._options.is_drawn and self._body.drawn_width == width:
            self.guard.show(monotonic())
        else:
            self.set_timer(_FRAME_SECONDS, self._await_frame)

    def _await_frame(self) -> None:
        if self.guard.is_hidden:
            self.call_after_refresh(self._begin_guard)

    def on_key(self, event: events.Key) -> None:
        """Drop a key that came too early; a letter goes to the prompt, which it was meant for."""
        if self._feedback.has_focus or self.guard.accepts(event.time, monotonic()):
            return
        event.stop()
        event.prevent_default()
        if self._on_typed is not None and event.is_printable and event.character:
            self._on_typed(event.character)

    def _forward_event(self, event: events.Event) -> None:
        """Drop clicks that came too early; a click is as old as the press that it ends."""
        if isinstance(event, events.MouseDown):
            self._press_counts = self.guard.accepts(event.time, monotonic())
        elif isinstance(event, events.Click) and not self._press_counts:
            return
        super()._forward_event(event)

    def _facts(self) -> Content:
        return Content.assemble(
            (self._action.warning, "$danger bold"), (self._action.facts, "$muted")
        )

    def _fit_body(self) -> None:
        """Give the action the rows it needs, or all there are, and then also show its end."""
        rows = self._body.rows_at(self._body.scrollable_content_region.width)
        tail = self.query_one("#approval-tail", Static)
        title = self.query_one("#approval-title")
        others = 1 + title.display + len(_OPTIONS) + self._feedback.display
        height = self.size.height
        free = max(2, (height if height < 20 else int(height * 0.9)) - 2 - others)
        is_cut = rows > free
        tail.display = is_cut and free > 4
        self._body.styles.height = min(rows, free - 1 if tail.display else free)
        if tail.display:
            room = max(8, self._body.size.width - len(_MORE))
            tail.update(Content.assemble((_MORE, "$muted"), self._body.last_words(room)))
        self._await_frame()

    @on(Rows.Chosen)
    def _take_option(self, event: Rows.Chosen) -> None:
        event.stop()
        self.action_answer(event.index)

    def action_answer(self, index: int) -> None:
        match index:
            case 0:
                self.dismiss(ApprovalAnswer("once"))
            case 1:
                self.dismiss(ApprovalAnswer("session"))
            case 2:
                self.dismiss(ApprovalAnswer("reject"))
            case _:
                self._options.cursor = index
                self._feedback.display = True
                self._feedback.focus()
                self._fit_body()

    @on(LineInput.Submitted)
    def _send_feedback(self, event: LineInput.Submitted) -> None:
        event.stop()
        self.dismiss(ApprovalAnswer("reject", clean(event.value.strip())))

    def action_back(self) -> None:
        if not self._feedback.has_focus:
            self.dismiss(ApprovalAnswer("reject"))
            return
        self._feedback.display = False
        self._options.focus()
        self._fit_body()

    def action_scroll_body(self, direction: int) -> None:
        self._body.action_page(direction)
