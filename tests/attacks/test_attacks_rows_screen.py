"""Promises about the screen, one test to a row; ``pytest -s`` prints what each of them tried."""

from __future__ import annotations

import ast
import itertools
import re
import sys
import unicodedata
from pathlib import Path

from rich.text import Text
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import (
    DataTable,
    Input,
    Label,
    Markdown,
    OptionList,
    Static,
    TextArea,
    Tree,
)
from wcwidth import wcwidth

import agent_tui
from agent_tui.agent.approval import Approvals
from agent_tui.agent.permissions import Rule
from agent_tui.core.events import ApprovalRequest
from agent_tui.core.messages import CommandDisplay, ToolCall
from agent_tui.core.text import clean, reveal
from agent_tui.tools.base import Subject
from agent_tui.ui.screens.dialogs.answer_guard import GUARD_SECONDS, LATE_SECONDS, AnswerGuard
from agent_tui.ui.screens.dialogs.approval import ApprovalScreen
from agent_tui.ui.screens.dialogs.approval_options import Options
from agent_tui.ui.widgets.lists.rows import Rows
from agent_tui.ui.widgets.panes.action_fold import ActionFold, last_words
from agent_tui.ui.widgets.prompt.prompt import Prompt
from agent_tui.ui.widgets.prompt.prompt_box import PromptBox
from tests.attacks.test_attacks_model import BLANKS, FILLERS, TAIL
from tests.ui.stage import Stage

RAW = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
PAYLOADS = [
    "\x1b]52;c;cHduZWQ=\x07",
    "\x1b]0;pwned\x07",
    "\x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\",
    "\x1b[2J\x1b[H",
    "\x1b[?1049l",
    "\x1bP1$r\x1b\\",
    "\x1b_apc\x1b\\",
    "\x9b31m",
    "\x9d0;pwned\x9c",
    "\x00nul\x7fdel",
    "\u202ereversed\u2066",
    "back\x08\x08\x08",
]


class Sinks(Stage):
    """One text in every kind of widget that draws text."""

    def __init__(self, text: str) -> None:
        self.evil = text
        super().__init__()

    def compose(self) -> ComposeResult:
        yield Static(Content(self.evil))
        yield Static(self.evil, markup=False)
        yield Label(Content(self.evil))
        yield OptionList(Content(self.evil))
        yield Input(self.evil)
        yield Input(placeholder=self.evil)
        yield TextArea(self.evil)
        yield Markdown(self.evil)
        yield Tree(Text(self.evil))
        yield DataTable()
        yield Rows(lambda _index, _width: Content(self.evil), count=1)

    def on_mount(self) -> None:
        super().on_mount()
        for widget in self.query("*"):
            widget.styles.height = 4
        table = self.query_one(DataTable)
        table.add_column(Text(self.evil))
        table.add_row(Text(self.evil))
        framed = self.query_one(Static)
        framed.styles.border = ("round", "red")
        framed.border_title = framed.border_subtitle = Content(self.evil)
        self.notify(self.evil, markup=False)


async def test_s1_no_widget_sends_a_sequence_to_the_terminal() -> None:
    tried = 0
    for payload in PAYLOADS:
        app = Sinks(f"A{payload}B")
        async with app.run_test(size=(100, 80)) as pilot:
            await pilot.pause()
            drawn = app.text.replace("\n", "")
            assert not RAW.findall(drawn), repr(payload)
            assert "A" in drawn
            tried += len(list(app.query("*"))) + 3
    split = 0
    for payload in PAYLOADS:
        for cut in range(len(payload)):
            assert not RAW.search(clean(payload[:cut]) + clean(payload[cut:]))
            split += 1
    print(f"S1  sinks by payloads: {tried}; {split} split sequences; 0 raw")


def test_s2_what_nobody_can_see_is_shown_and_never_allowed_by_itself() -> None:
    rules = [Rule.parse("run_command(ls *)"), Rule.parse("edits"), Rule.parse("fetch_url")]
    shown = asked = 0
    for code in range(0x20, sys.maxunicode + 1):
        character = chr(code)
        if wcwidth(character) > 0 or unicodedata.category(character) in ("Mn", "Me", "Mc", "Cn"):
            continue
        assert reveal(f"a{character}") != f"a{character}", f"U+{code:04X}"
        shown += 1
        if shown % 40 and character not in FILLERS:
            continue
        for mode in ("ask", "accept-edits"):
            approvals = Approvals(lambda _: None, mode=mode, always=rules)
            for kind, tool in (("command", "run_command"), ("edit", "edit_file")):
                subject = Subject(kind, f"ls {character}a")  # type: ignore[arg-type]  # two kinds
                assert not approvals._is_free("k", subject), f"U+{code:04X}"
                assert not approvals._allowing(tool, subject), f"U+{code:04X}"
                asked += 1
    print(f"S2  invisible characters: {shown} shown, 0 raw; {asked} actions asked for, 0 allowed")


_SINKS = frozenset({"Static", "Label", "Button", "OptionList", "Option", "notify", "Collapsible"})
_FRAMES = frozenset({"border_title", "border_subtitle", "tooltip"})


def _is_foreign(node: ast.expr) -> bool:
    """Whether an expression is a text that something is put into, or that markup would be in."""
    match node:
        case ast.Constant(value=str(text)):
            return "[" in text
        case ast.JoinedStr() | ast.BinOp():
            return True
        case ast.Call(func=ast.Name(id="str" | "clean" | "reveal" | "first_line")):
            return True
        case ast.Call(func=ast.Attribute(attr="format" | "join")):
            return True
        case ast.IfExp(body=body, orelse=orelse):
            return _is_foreign(body) or _is_foreign(orelse)
        case _:
            return False


def test_s3_no_text_from_outside_reaches_a_sink_that_reads_markup() -> None:
    sinks, offenders = 0, []
    folder = Path(agent_tui.__file__).parent / "ui"
    for path in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            shown: ast.expr | None = None
            match node:
                case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=[first, *_]):
                    plain = any(keyword.arg == "markup" for keyword in node.keywords)
                    shown = first if name in _SINKS and not plain else None
                case ast.Assign(targets=[ast.Attribute(attr=name)], value=value):
                    shown = value if name in _FRAMES else None
            if shown is not None:
                sinks += 1
                if _is_foreign(shown):
                    offenders.append(f"{path.name}:{shown.lineno}")
    assert not offenders
    assert sinks > 15
    print(f"S3  sinks that read markup: {sinks}, 0 given a built text")


async def test_s4_a_request_shows_length_lines_and_end_and_starts_on_reject() -> None:
    tried = 0
    for lines in (1, 2, 40, 3_000):
        for size in ((40, 12), (80, 24), (200, 50)):
            command = "\n".join(f"echo {number}" for number in range(lines)) + TAIL
            call = ToolCall("c", "run_command", "{}")
            screen = ApprovalScreen(ApprovalRequest("r", call, "t", CommandDisplay(command)))
            async with (app := Stage(screen=screen)).run_test(size=size) as pilot:
                while screen.guard.is_hidden:
                    await pilot.pause(0.01)
                options = screen.query_one(Options)
                assert options.answers[options.cursor].name == "reject"
                assert f"{lines:,} line" in app.text
                assert f"{len(command):,} characters" in app.text
                assert "touch PWN" in app.text
                tried += 1
    print(f"S4  requests: {tried} with length, lines, end and the cursor on Reject")


PASTES = [
    "/exit\n",
    "!rm -rf x\n",
    "yes\ny\n1\n\r",
    "a\r\nb\r\n",
    "\x1b[200~/exit\r\x1b[201~",
    "\x03\x04\x1b",
    "line\n" * 500,
    "[@click=app.quit]x[/]",
]


async def test_s20_a_paste_is_literal_and_is_never_sent() -> None:
    sent: list[object] = []

    class Host(Stage):
        def on_prompt_box_submitted(self, message: object) -> None:
            sent.append(message)

        def on_prompt_box_command_entered(self, message: object) -> None:
            sent.append(message)

    for text in PASTES:
        box = PromptBox()
        async with Host([box]).run_test() as pilot:
            box.focus()
            box.paste(text)
            await pilot.pause()
            assert not RAW.findall(box.query_one(Prompt).text.replace("\n", ""))
            literal = clean(text.replace("\r\n", "\n").replace("\r", "\n"))
            assert box.text.rstrip("\n") == literal.rstrip("\n")
    assert not sent
    print(f"S20 pastes: {len(PASTES)} literal, 0 sent")


def test_s22_only_what_happened_after_the_request_was_seen_answers_it() -> None:
    refused = accepted = 0
    for step in range(-400, 400):
        for late in (0.0, 0.1, LATE_SECONDS, 5.0):
            guard, made_at = AnswerGuard(), 100 + step * 0.005
            guard.show(100.0)
            counts = guard.accepts(made_at, max(made_at, 100.0) + late)
            assert not counts or (made_at >= 100 + GUARD_SECONDS and late <= LATE_SECONDS)
            refused, accepted = refused + (not counts), accepted + counts
    assert refused
    assert accepted
    print(f"S22 moments of a key: {refused} too early or too late, 0 counted; {accepted} counted")


def test_s23_nothing_hides_in_an_action() -> None:
    tried = 0
    for width, filler in itertools.product((40, 80, 200), (*FILLERS, *BLANKS)):
        for count in (1, 16, 48, 2_000):
            command = f"ls {filler * count}{TAIL}"
            fold = ActionFold(command, width)
            fold.ensure(10_000)
            rows = [row.text for row in fold.rows]
            assert all(len(row) - sum(map(wcwidth, row)) <= 4 for row in rows), "a mark or two"
            assert all(sum(map(wcwidth, row)) <= width for row in rows)
            assert last_words(command, width).endswith("touch PWN"), ascii(filler)
            tried += 1
    print(f"S23 fillers and blanks by width: {tried}, 0 hid the end")
