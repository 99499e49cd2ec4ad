"""The conversation on screen: its blocks, what streams in, and how the user moves and acts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar, TypeAlias

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message

from agent_tui.core.messages import MediaPart
from agent_tui.core.records import Record
from agent_tui.ui.blocks import (
    AssistantBlock,
    Block,
    BranchBlock,
    CheckpointBlock,
    CompactionBlock,
    EarlierBlock,
    EarlierHeadBlock,
    LabelBlock,
    RevertBlock,
    ShellBlock,
    ToolBlock,
    UnknownBlock,
    UserBlock,
    is_markdown,
    media_of,
    plain_text,
)
from agent_tui.ui.widgets.timeline.block_view import BlockView
from agent_tui.ui.widgets.timeline.drawn_blocks import is_marker
from agent_tui.ui.widgets.timeline.shown_session import ShownSession


class Timeline(ShownSession, can_focus=True):
    """Shows the blocks of a session and lets the user move among them, open them and go back.

    Attributes:
        has_menu: whether Enter asks what can be done with a block, instead of opening it.
    """

    # A click opens what it hits; who continues typing after it still means the prompt, not a key.
    FOCUS_ON_CLICK = False

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "menu", "Menu", show=False, id="timeline-menu"),
        Binding("enter", "open", "Open", show=False, id="timeline-open"),
        Binding("space", "activate", "Open", show=False, id="timeline-activate"),
        Binding("ctrl+o", "toggle_all", "Open all", show=False, id="timeline-toggle-all"),
        Binding("y", "copy", "Copy", show=False, id="timeline-copy"),
        Binding("v", "view", "View whole", show=False, id="timeline-view"),
        Binding("q", "quote", "Quote into the prompt", show=False, id="timeline-quote"),
        Binding("slash,ctrl+f", "find", "Find", show=False, id="timeline-find"),
    ]

    @dataclass
    class ViewWanted(Message):
        """A key asks for a block, given by its text and pictures, whole, and to ``find`` in it."""

        text: str
        media: tuple[MediaPart, ...] = ()
        find: str = ""
        markdown: bool = False

    @dataclass
    class TaskWanted(Message):
        """A key asks for the subagent of a call, given by the call's text."""

        text: str

    @dataclass
    class QuoteWanted(Message):
        """A key asks for a block's text in the prompt."""

        text: str

    @dataclass
    class MenuWanted(Message):
        """Enter asks what can be done with a block; ``record`` is its record, once it has one.

        ``place`` is that of the record in the log; ``running`` the id of a call that still runs.
        """

        text: str
        record: Record | None
        place: int
        media: tuple[MediaPart, ...] = ()
        running: str = ""
        markdown: bool = False

    class FindWanted(Message):
        """A key asks for the find bar."""

    @dataclass
    class CheckpointPressed(Message):
        """A checkpoint's row was clicked or entered: the user wants to go back there."""

        checkpoint: int

    @dataclass
    class CompactionPressed(Message):
        """A compaction's row was opened; ``archive`` names the log from before it."""

        archive: int

    @dataclass
    class ArchivePressed(Message):
        """A revert's row was opened; ``archive`` holds what left."""

        archive: int

    @dataclass
    class EntryPressed(Message):
        """A row was opened that leads to another entry of the tree; ``entry`` is its id."""

        entry: str

    Marker: TypeAlias = (
        CheckpointPressed
        | CompactionPressed
        | ArchivePressed
        | EntryPressed
        | ViewWanted
        | TaskWanted
        | QuoteWanted
        | MenuWanted
        | FindWanted
        | BlockView.AllToggled
    )
    """A row that was pressed, or a key upon one: it leads somewhere else."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self.has_menu = False

    def action_view(self, find: str = "") -> None:
        """Ask for the block under the cursor on a screen of its own, with a text found in it."""
        block = None if self._cursor is None else self._blocks.block(self._cursor)
        if (text := self._text_at_cursor()) or media_of(block):
            is_task = isinstance(block, ToolBlock) and block.name == "task" and not find
            view = self.ViewWanted(text, media_of(block), find, is_markdown(block))
            self.post_message(self.TaskWanted(text) if is_task else view)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return action != "open" if self.has_menu else action not in ("menu", "quote", "find")

    def action_quote(self) -> None:
        """Ask for the block under the cursor to be quoted in the prompt."""
        if text := self._text_at_cursor():
            self.post_message(self.QuoteWanted(text))

    def _text_at_cursor(self) -> str:
        block = None if self._cursor is None else self._blocks.block(self._cursor)
        return "" if block is None or is_marker(block) else plain_text(block)

    def action_find(self) -> None:
        """Ask for the find bar."""
        self.post_message(self.FindWanted())

    def action_copy(self) -> None:
        """Copy the text of the block under the cursor."""
        if self._cursor is not None and (block := self._blocks.block(self._cursor)) is not None:
            self.app.copy_to_clipboard(plain_text(block))

    def action_menu(self) -> None:
        """Ask what can be done with the block under the cursor; a marker leads on instead."""
        text = self._text_at_cursor()
        media = () if self._cursor is None else media_of(self._blocks.block(self._cursor))
        if self._cursor is None or not self.has_menu or not (text or media):
            self.action_activate()
        else:
            block, record = self._blocks.block(self._cursor), self._blocks.record(self._cursor)
            running, markdown = _running_call(block), is_markdown(block)
            place = self._cursor - self._blocks.first_of_log
            self.post_message(self.MenuWanted(text, record, place, media, running, markdown))

    def action_activate(self) -> None:
        """Open or fold the block under the cursor, or go where a marker leads."""
        if self._cursor is not None:
            self._activate(self._cursor)

    action_open = action_activate

    def _activate(self, index: int) -> None:
        match self._blocks.block(index):
            case CheckpointBlock(id=number):
                self.post_message(self.CheckpointPressed(number))
            case CompactionBlock(archive=archive) if archive:
                self.post_message(self.CompactionPressed(archive))
            case RevertBlock(archive=archive):
                self.post_message(self.ArchivePressed(archive))
            case BranchBlock(source=entry) | LabelBlock(target=entry):
                self.post_message(self.EntryPressed(entry))
            case (
                ToolBlock() | ShellBlock() | AssistantBlock() | UserBlock() | UnknownBlock()
            ) | EarlierBlock(inner=ToolBlock() | ShellBlock() | AssistantBlock() | UserBlock()):
                self.show_opened(partial(self._blocks.toggle, index))
            case EarlierHeadBlock():
                self.show_opened(self._blocks.fold_earlier)
            case _:
                pass

    # The mouse.

    def on_click(self, event: events.Click) -> None:
        if self.text_selection is not None:
            return
        if self.lines_below and event.y == self.size.height - 1:
            self.action_last()
            return
        if (place := self._block_at(event.y)) is None:
            return
        index, offset = place
        if offset < self.first_row(index):
            return
        self._cursor = index
        block = self._blocks.block(index)
        head = offset == self.first_row(index)
        if (
            is_marker(block)
            or isinstance(block, (ToolBlock, ShellBlock, UnknownBlock))
            or (head and isinstance(block, AssistantBlock) and block.thinking)
        ):
            self._activate(index)
        elif media := media_of(block):
            self.post_message(self.ViewWanted(plain_text(block) if block else "", media))
        self.paint()


def _running_call(block: Block | None) -> str:
    """The id of a call that still runs; empty for any other block."""
    return block.call_id if isinstance(block, ToolBlock) and block.state == "running" else ""
