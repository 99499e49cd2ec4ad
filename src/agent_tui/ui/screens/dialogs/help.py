"""Keys and commands, read from the table, with a few words for the first use."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from textual.app import ComposeResult
from textual.containers import VerticalScroll

from agent_tui.resources import stylesheet
from agent_tui.ui.commands import key_label
from agent_tui.ui.commands.table import COMMANDS, name_keys, name_keys_of_hint
from agent_tui.ui.screens.dialogs.panel import ONE_PAGE, PANEL_SHEETS, Panel
from agent_tui.ui.widgets.lists.definitions import Definition, Definitions

TIPS = (
    "Write what you want done and press Enter. While the agent works you can keep writing: "
    "what you send joins at its next step.",
    "Every step leaves a checkpoint in the conversation. Click one, or use {revert}, to go back "
    "there. You see what will be removed first.",
    "When the context fills up, older messages are replaced by a summary. Use {compact} to see "
    "what it keeps and what it loses before anything changes.",
    "Every revert, compaction and clear keeps the old log as an archive: {undo} to restore it, "
    "{archives} to list them all.",
    "Settings are in one file: agent-tui config show lists them, agent-tui config edit opens it.",
)


TYPING_KEYS: tuple[tuple[str, str], ...] = (
    ("Enter", "Send; while the agent runs, steer it at its next step"),
    ("{prompt-new-line:Shift+Enter, Ctrl+J}", "New line"),
    ("Up, Down", "Earlier and later prompts"),
    ("Ctrl+R", "Search earlier prompts"),
    ("PgUp, PgDn", "Scroll the conversation"),
    ("Tab", "Go into the conversation; the prompt then shows its keys"),
    ("/", "Commands"),
    ("@", "Files of this project"),
    ("!", "Run a shell command yourself"),
    ("{prompt-undo:Ctrl+_}", "Undo what was typed"),
    ("{prompt-unfold:Ctrl+O}", "Show a folded paste whole, if there is one"),
    ("Up", "Edit the last queued prompt, if there is one"),
    ("Ctrl+C", "Clear the prompt, cancel what is queued, interrupt; twice to quit"),
    ("Ctrl+D", "Quit, when the prompt is empty"),
)
"""Keys of the prompt and of the app, for the help screen."""


class HelpScreen(Panel[None]):
    """What can be done, and how; scrolls with the arrow keys.

    Args:
        walking: the keys of the conversation.
        is_walking: whether it has the focus; its keys are then told first.
    """

    DEFAULT_CLASSES = ONE_PAGE
    CSS_PATH = [*PANEL_SHEETS, stylesheet("screens/help.tcss")]
    AUTO_FOCUS = "#help"

    def __init__(self, walking: Sequence[Definition] = (), *, is_walking: bool = False) -> None:
        super().__init__()
        self._walking = walking
        self._is_walking = is_walking

    def compose(self) -> ComposeResult:
        yield self.heading()
        with VerticalScroll(id="help"):
            yield Definitions(
                [Definition("▸", name_keys(self.app, tip)) for tip in TIPS], id="help-tips"
            )
            yield Definitions(list(self._describe()), id="help-keys")
        yield self.key_hints()

    def on_mount(self) -> None:
        self.show_heading("Help")

    def _describe(self) -> Iterator[Definition]:
        parts = [list(self._describe_writing()), list(self._describe_walking())]
        for part in reversed(parts) if self._is_walking else parts:
            yield from [*part, Definition("")] if part else []
        for place, group in enumerate(dict.fromkeys(command.group for command in COMMANDS)):
            if place:
                yield Definition("")
            yield Definition(group)
            for command in COMMANDS:
                if command.group == group and command.slash:
                    yield Definition(command.usage, command.help, key_label(self.app, command))

    def _describe_walking(self) -> Iterator[Definition]:
        if self._walking:
            yield Definition("In the conversation")
        for each in self._walking:
            yield replace(each, aside="")

    def _describe_writing(self) -> Iterator[Definition]:
        yield Definition("While writing")
        for key, text in TYPING_KEYS:
            if shown := name_keys_of_hint(self.app, key):
                yield Definition(shown, text)
        for command in COMMANDS:
            if not command.slash:
                yield Definition(key_label(self.app, command), command.help)
