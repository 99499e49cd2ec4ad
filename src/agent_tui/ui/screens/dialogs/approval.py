"""The question before an action: exactly what will happen, and four answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import monotonic

from rich.cells import cell_len, set_cell_size
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from agent_tui.core.events import ApprovalAnswer, ApprovalRequest
from agent_tui.core.messages import CommandDisplay, DiffDisplay
from agent_tui.core.text import clean, first_line, reveal
from agent_tui.resources import stylesheet
from agent_tui.ui.screens.dialogs.answer_guard import (
    GUARD_SECONDS,
    TYPING_GUARD_SECONDS,
    AnswerGuard,
)
from agent_tui.ui.widgets.lists.rows import Rows
from agent_tui.ui.widgets.panes.action_body import ActionBody, action_of
from agent_tui.ui.widgets.prompt.line_input import LineInput

_ONCE, _SESSION, _REJECT, _FEEDBACK, _EDIT = range(5)
_KEYS = (("1", "y"), ("2", "a"), ("3", "n"), ("4", "w"), ("5", "e"))
_FRAME_SECONDS = 0.02
_MORE = "PgDn for more · ends with: "


class Options(Rows):
    """The answers; the second one says what would be allowed, which can be narrowed."""

    def __init__(self, offers: Sequence[str], *, can_edit: bool) -> None:
        super().__init__(count=5 if can_edit else 4, choose_on_click=True)
        self._offers = tuple(offers)
        self._chosen = 0
        self._narrow_from = 10_000
        self.is_drawn = False

    @property
    def rule(self) -> str:
        """The rule that would be allowed for the session."""
        return self._offers[self._chosen] if self._offers else ""

    def narrow(self) -> None:
        """Offer the next rule in place of this one."""
        if self._offers:
            self._chosen = (self._chosen + 1) % len(self._offers)
            self.redraw()

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        on_rule = offset is not None and offset.y + round(self.scroll_y) == _SESSION
        if on_rule and offset is not None and offset.x >= self._narrow_from:
            event.stop()
            event.prevent_default()
            self.narrow()

    def draw_row(self, index: int, width: int) -> Content:
        self.is_drawn = True
        number, letter = _KEYS[index]
        pointer = "▸ " if index == self.cursor else "  "
        style = "$danger" if index in (_REJECT, _FEEDBACK) else "$ok"
        narrow = "  ⇄ Tab" if index == _SESSION and len(self._offers) > 1 else ""
        label = self._label(index)
        room = max(8, width - 7 - len(narrow))
        if cell_len(label) > room:
            label = set_cell_size(label, room - 1) + "…"
        row = Content.assemble(pointer, (f"{number} ", style), label, (f"  {letter}", "$faint"))
        if narrow:
            self._narrow_from = row.cell_length
        return Content.assemble(row, (narrow, "$muted"))

    def _label(self, index: int) -> str:
        match index:
            case 0:
                return "Allow once"
            case 1:
                return f"Allow {_say_rule(self.rule)} for this session"
            case 2:
                return "Reject"
            case 3:
                return "Reject with feedback"
            case _:
                return "Edit, then run once"


def _say_rule(rule: str) -> str:
    """A rule as people say it."""
    tool, _, rest = rule.partition("(")
    pattern = reveal(rest.removesuffix(")"))
    match tool, pattern:
        case "edits", "":
            return "all edits here"
        case "edits", _:
            return f"edits {'in' if pattern.endswith('/') else 'of'} {pattern}"
        case _, "":
            return reveal(tool) or "this"
        case "run_command", _ if pattern.endswith("*"):
            return f"“{pattern[:-1].strip()} …”"
        case _:
            return f"“{first_line(pattern, 200)}”"


class ApprovalScreen(ModalScreen[ApprovalAnswer]):
    """Shows one request and is dismissed with the answer; Esc rejects.

    The action stands there whole and can be scrolled; the cursor starts on Reject.

    Args:
        request: what waits for a decision.
        typing: a prompt is being written: the next keys are probably meant for it, so that only
            one after a longer pause counts.
        on_typed: is given the letters that came before.
        on_scroll: scrolls the conversation above by so many rows.
    """

    CSS_PATH = [
        stylesheet("widgets/rows.tcss"),
        stylesheet("widgets/line_input.tcss"),
        stylesheet("screens/approval.tcss"),
    ]
    AUTO_FOCUS = "Options"
    BINDINGS = [
        *(
            Binding(f"{number},{letter}", f"answer({index})", show=False)
            for index, (number, letter) in enumerate(_KEYS)
        ),
        Binding("tab,left,right", "narrow", "Narrow", show=False),
        Binding("escape", "back", "Reject", show=False),
        Binding("ctrl+up,shift+pageup", "scroll_above(-1)", "Scroll up", show=False),
        Binding("ctrl+down,shift+pagedown", "scroll_above(1)", "Scroll down", show=False),
        Binding("pageup", "scroll_body(-1)", "Scroll", show=False, priority=True),
        Binding("pagedown", "scroll_body(1)", "Scroll", show=False, priority=True),
    ]

    def __init__(
        self,
        request: ApprovalRequest,
        *,
        typing: bool = False,
        on_typed: Callable[[str], None] | None = None,
        on_scroll: Callable[[int], None] | None = None,
    ) -> None:
        super().__init__()
        self.request = request
        self._action = action_of(request)
        self._body = ActionBody(self._action)
        self.guard = AnswerGuard(TYPING_GUARD_SECONDS if typing else GUARD_SECONDS)
        self._on_typed = on_typed
        self._on_scroll = on_scroll
        self._press_counts = False
        display = request.display
        self._draft = display.command if isinstance(display, CommandDisplay) else ""
        self._can_edit = bool(self._draft) and "\n" not in self._draft and not self._action.warning
        self._options = Options(request.offers, can_edit=self._can_edit)
        self._command = LineInput("The command to run", id="approval-command")
        self._feedback = LineInput("What should the agent do instead?", id="approval-feedback")

    def compose(self) -> ComposeResult:
        with Vertical(id="approval") as box:
            box.border_title = Content(self._question())
            yield Static(
                Content(first_line(reveal(self.request.title[:4_000]), 400)), id="approval-title"
            )
            yield Static(self._facts(), id="approval-facts")
            yield self._body
            yield Static(id="approval-tail")
            yield self._options
            yield self._feedback
            yield self._command

    def _question(self) -> str:
        match self.request.display:
            case CommandDisplay():
                return "Run this command?"
            case DiffDisplay(path, diff):
                act = "Create" if diff.startswith("--- /dev/null") else "Edit"
                return f"{act} {first_line(reveal(path), 60)}?"
            case None if self.request.call.name == "present_plan":
                return "Carry out this plan?"
            case None:
                return f"Allow {reveal(self.request.call.name)}?"

    def on_mount(self) -> None:
        self._feedback.display = False
        self._command.display = False
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
        if self._is_writing or self.guard.accepts(event.time, monotonic()):
            return
        event.stop()
        event.prevent_default()
        if self._on_typed is not None and event.is_printable and event.character:
            self._on_typed(event.character)

    def _forward_event(self, event: events.Event) -> None:
        """Drop clicks that came too early; a click is as old as the press that it ends."""
        if isinstance(event, events.MouseScrollUp | events.MouseScrollDown):
            if self._on_scroll is not None and not self._is_inside(event):
                self._on_scroll(-3 if isinstance(event, events.MouseScrollUp) else 3)
                return
        elif isinstance(event, events.MouseDown):
            self._press_counts = self.guard.accepts(event.time, monotonic())
        elif isinstance(event, events.Click) and not self._press_counts:
            return
        super()._forward_event(event)

    def _is_inside(self, event: events.MouseEvent) -> bool:
        return self.query_one("#approval").region.contains(event.screen_x, event.screen_y)

    def action_scroll_above(self, rows: int) -> None:
        """Scroll the conversation that the question is about."""
        if self._on_scroll is not None:
            self._on_scroll(rows * max(1, self.size.height // 2))

    def _facts(self) -> Content:
        return Content.assemble(
            (self._action.warning, "$danger bold"), (self._action.facts, "$muted")
        )

    def _fit_body(self) -> None:
        """Give the action the rows it needs, or all there are, and then also show its end."""
        rows = self._body.rows_at(self._body.scrollable_content_region.width)
        tail = self.query_one("#approval-tail", Static)
        title = self.query_one("#approval-title")
        height = self.size.height
        lines = 1 + title.display + (self._feedback.display or self._command.display)
        # On a very small terminal the answers scroll, with Reject in view.
        answers = max(1, min(self._options.count, height - 3 - lines))
        self._options.styles.height = answers
        others = lines + answers
        free = max(1, (height if height < 20 else int(height * 0.9)) - 2 - others)
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
                self.dismiss(ApprovalAnswer("session", rule=self._options.rule))
            case 2:
                self.dismiss(ApprovalAnswer("reject"))
            case 3:
                self._write_in(self._feedback, index)
            case _ if self._can_edit:
                self._write_in(self._command, index)

    def _write_in(self, line: LineInput, index: int) -> None:
        if line is self._command:
            line.value = self._draft
            line.select_on_focus = False
            line.cursor_position = len(self._draft)
        self._options.cursor = index
        line.display = True
        line.focus()
        self._fit_body()

    @property
    def _is_writing(self) -> bool:
        return self._feedback.has_focus or self._command.has_focus

    @on(LineInput.Submitted, "#approval-command")
    def _run_edited(self, event: LineInput.Submitted) -> None:
        event.stop()
        if event.value.strip():
            self.dismiss(ApprovalAnswer("once", command=event.value))

    @on(LineInput.Submitted, "#approval-feedback")
    def _send_feedback(self, event: LineInput.Submitted) -> None:
        event.stop()
        self.dismiss(ApprovalAnswer("reject", clean(event.value.strip())))

    def action_narrow(self) -> None:
        """Offer a narrower rule, or a wider one again."""
        self._options.narrow()

    def action_back(self) -> None:
        if not self._is_writing:
            self.dismiss(ApprovalAnswer("reject"))
            return
        self._feedback.display = self._command.display = False
        self._options.focus()
        self._fit_body()

    def action_scroll_body(self, direction: int) -> None:
        self._body.action_page(direction)
