"""The question before an action: exactly what will happen, and four answers."""

from __future__ import annotations

from time import monotonic

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.reactive import reactive
from textual.widgets import Static

from agent_tui.core.events import ApprovalAnswer, ApprovalRequest
from agent_tui.core.messages import CommandDisplay, DiffDisplay
from agent_tui.core.modes import PRESENT_PLAN
from agent_tui.core.text import clean, first_line, reveal
from agent_tui.resources import stylesheet
from agent_tui.ui.screens.dialogs.answered_by_keys import AnsweredByKeys
from agent_tui.ui.screens.dialogs.approval_options import Options
from agent_tui.ui.screens.dialogs.sheet import SHEET_SHEETS, Above, Sheet, SheetFrame
from agent_tui.ui.screens.dialogs.typed_answers import (
    Draft,
    Typed,
    TypedAnswers,
    told_of_draft,
    told_of_sending,
)
from agent_tui.ui.widgets.lists.rows import Rows
from agent_tui.ui.widgets.panes.action_body import ActionBody, action_of
from agent_tui.ui.widgets.prompt.line_input import LineInput

_FRAME_SECONDS = 0.02
_AIRY_HEIGHT = 20
"""From this height on the action stands between two blank rows."""
_ROOMY_HEIGHT = 30
"""Below this height it does without them where it is cut."""
_HINTS = (
    "↑↓ choose · Enter select · PgUp PgDn scroll · Esc {reject}",
    "PgUp PgDn scroll · Esc {reject}",
)
_HINT_OF_FEEDBACK = "Enter send and {reject} · Esc back"
_HINT_OF_COMMAND = "Enter run once · Esc back"
_PLAN_SETS_MODE = "Approve or keep planning: your answer sets the mode"
_MORE = "PgDn for more · ends with: "
_NO_MORE = "PgUp for the start"


def question_about(request: ApprovalRequest) -> str:
    """What is asked, in few words."""
    match request.display:
        case CommandDisplay():
            return "Run this command?"
        case DiffDisplay(path, diff):
            act = "Create" if diff.startswith("--- /dev/null") else "Edit"
            return f"{act} {first_line(reveal(path), 60)}?"
        case None if _is_plan(request):
            return "Carry out this plan?"
        case None:
            return f"Allow {reveal(request.call.name)}?"


def _is_plan(request: ApprovalRequest) -> bool:
    return request.display is None and request.call.name == PRESENT_PLAN


class ApprovalScreen(Sheet[ApprovalAnswer], AnsweredByKeys[ApprovalAnswer]):
    """Shows one request and is dismissed with the answer; Esc reject.

    The action is shown whole and can be scrolled; the cursor starts on Reject.

    Args:
        request: what waits for a decision.
        draft: the prompt behind the question: what is typed goes there. While it holds text, only
            a key after a longer pause counts, and no letter does.
        above: the conversation, which ends with the agent's reason.

    Attributes:
        queued: how many more requests wait behind this one.
    """

    queued: reactive[int] = reactive(0)

    CSS_PATH = [*SHEET_SHEETS, stylesheet("screens/approval.tcss")]
    AUTO_FOCUS = "Options"
    BINDINGS = [
        Binding("escape", "back", "", show=False),  # told with the answers
        Binding("tab,left,right", "narrow", "Other scope", show=False),
    ]

    def __init__(
        self,
        request: ApprovalRequest,
        *,
        draft: Draft | None = None,
        above: Above | None = None,
    ) -> None:
        super().__init__(draft, above)
        self.request = request
        self._action = action_of(request)
        self.text_pane = self._body = ActionBody(self._action)
        display = request.display
        self._draft = display.command if isinstance(display, CommandDisplay) else ""
        self._can_edit = bool(self._draft) and "\n" not in self._draft and not self._action.warning
        self._is_plan = _is_plan(request)
        self._rows = self._options = Options(
            request.offers,
            can_edit=self._can_edit,
            can_keep=request.can_keep,
            is_plan=self._is_plan,
        )
        self._judge = TypedAnswers(
            self.guard,
            self._options.keys(),
            [answer.hold_seconds for answer in self._options.answers],
            lambda: bool(self._prompt.text),
        )
        self._command = LineInput("The command to run", id="approval-command")
        self._feedback = LineInput(
            "What should the plan do instead?"
            if self._is_plan
            else "What should the agent do instead?",
            id="approval-feedback",
        )

    def compose(self) -> ComposeResult:
        with SheetFrame(id="approval") as box:
            box.border_title = self._title()
            yield Static(
                Content(first_line(reveal(self.request.title[:4_000]), 400)), id="approval-title"
            )
            yield Static(self._facts(), id="approval-facts")
            yield self._body
            yield Static(id="approval-tail")
            yield self._options
            yield self._feedback
            yield self._command

    def _title(self) -> Content:
        count = f" · 1 of {self.queued + 1}" if self.queued else ""
        return Content.assemble(question_about(self.request), (count, "$muted"))

    def watch_queued(self) -> None:
        """More requests came, or a rule answered some, while this one is open."""
        for frame in self.query("#approval"):  # there is none yet where it was just opened
            frame.border_title = self._title()

    def on_mount(self) -> None:
        self._feedback.display = False
        self._command.display = False
        text, title = self._action.text.strip(), self.request.title.strip()
        heading = first_line(text, 400).lstrip("# ") * self._is_plan
        told = (text, heading, self._action.where * self._action.is_diff)
        begins_so = title.endswith("…") and text.startswith(title[:-1])
        says_the_same = begins_so or title in told
        self.query_one("#approval-title").display = not says_the_same
        self._options.cursor = self._options.row_of("reject")
        self._show_draft()
        self.watch(self._body, "scroll_y", self._show_tail, init=False)

    def fit(self) -> None:
        """Give the action the rows it needs, or all there are, and then also show its end."""
        super().fit()
        rows = self._body.rows_at(self.columns)
        tail = self.query_one("#approval-tail", Static)
        title = self.query_one("#approval-title")
        height = self.most_rows
        lines = 1 + title.display + (self._feedback.display or self._command.display)
        screen, whole = self.room.height, lines + rows + self._options.count + 4
        is_airy = screen >= _AIRY_HEIGHT and (whole <= height or screen >= _ROOMY_HEIGHT)
        self.query_one("#approval").set_class(is_airy, "-airy")
        lines += 2 * is_airy
        # On a very small terminal the answers scroll, with Reject in view.
        answers = max(1, min(self._options.count, height - 3 - lines))
        self._options.styles.height = answers
        others = lines + answers
        free = max(1, height - 2 - others)
        is_cut = rows > free
        self._body.styles.scrollbar_gutter = "stable" if is_cut else "auto"
        if is_cut:
            rows = self._body.rows_at(self.columns - self._body.scrollbar_size_vertical)
        tail.display = is_cut and free > 1
        self._body.styles.height = min(rows, free - 1 if tail.display else free)
        self._show_tail()

    def _show_tail(self) -> None:
        """Say how the action ends while its end is out of view."""
        tail = self.query_one("#approval-tail", Static)
        if not tail.display:
            return
        if self._body.scroll_y and self._body.is_vertical_scroll_end:
            tail.update(Content.styled(_NO_MORE, "$muted"))
        else:
            last = self._body.last_words(max(8, self.columns - len(_MORE)))
            tail.update(Content.assemble((_MORE, "$muted"), last))

    def on_resize(self) -> None:
        self._await_whole_frame()

    def on_screen_resume(self) -> None:
        self._await_whole_frame()

    def _await_whole_frame(self) -> None:
        self.guard.hide()
        self._await_frame()

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

    def _leave_to_prompt(self, typed: Typed) -> None:
        self._options.cursor = self._options.row_of("reject")
        super()._leave_to_prompt(typed)

    def _send_prompt(self) -> None:
        sentence = told_of_sending(self._prompt)
        self._options.show_letters(shown=not self._prompt.text)
        self.query_one("#approval").border_subtitle = Content(sentence)

    def _show_draft(self) -> None:
        """Say where letters go while the prompt holds text."""
        width = self.columns + 2
        words = told_of_draft(self._prompt, "digits answer", width)
        self._options.show_letters(shown=not words)
        hints = [hint.format(reject=self._rejecting) for hint in _HINTS]
        hint = next((each for each in hints if len(each) <= width - 4), hints[-1])
        self.query_one("#approval").border_subtitle = Content(words or hint)

    @property
    def _rejecting(self) -> str:
        """What Esc does, in the words of the answer's row."""
        return "keep planning" if self._is_plan else "reject"

    @property
    def answer_keys(self) -> list[tuple[str, str]]:
        """The digits and letters of the answers; Esc gives one of them too."""
        reject = self._rejecting.capitalize()
        return [*self._options.told_keys(), ("Esc", reject)]

    def _hold(self, index: int) -> None:
        self._options.hold(index)

    def _release(self) -> None:
        self._judge.release()
        self._options.release()

    def _facts(self) -> Content:
        return Content.assemble(
            (self._action.warning, "$danger bold"), (self._action.facts, "$muted")
        )

    @on(Rows.Chosen)
    def _take_option(self, event: Rows.Chosen) -> None:
        event.stop()
        self._release()
        self.choose(event.index)

    def choose(self, index: int) -> None:
        """Give the answer of a row, or open the line in which it is written."""
        rule = self._options.rule
        match self._options.answers[index].name:
            case "once":
                self.dismiss(ApprovalAnswer("once"))
            case "session":
                self.dismiss(ApprovalAnswer("session", rule=rule))
            case "always":
                self.dismiss(ApprovalAnswer("always", rule=rule))
            case "reject":
                self.dismiss(ApprovalAnswer("reject"))
            case "feedback":
                self._write_in(self._feedback, index)
            case "edit":
                self._write_in(self._command, index)

    def _write_in(self, line: LineInput, index: int) -> None:
        if line is self._command:
            line.value = self._draft
            line.select_on_focus = False
            line.cursor_position = len(self._draft)
        self._options.cursor = index
        line.display = True
        line.focus()
        hint = _HINT_OF_COMMAND if line is self._command else _HINT_OF_FEEDBACK
        self.query_one("#approval").border_subtitle = Content(hint.format(reject=self._rejecting))
        self.fit()

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

    def action_change_mode(self) -> None:
        if self._is_plan:
            self.query_one("#approval").border_subtitle = Content(_PLAN_SETS_MODE)
        else:
            super().action_change_mode()

    def action_narrow(self) -> None:
        """Offer a narrower rule, or a wider one again."""
        self._options.narrow()

    def action_back(self) -> None:
        if not self._is_writing:
            self.dismiss(ApprovalAnswer("reject"))
            return
        self._feedback.display = self._command.display = False
        self._options.focus()
        self._show_draft()
        self.fit()
