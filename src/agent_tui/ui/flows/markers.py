"""Where the rows of the conversation lead: each to its operation, at once."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, assert_never

from agent_tui.ui.flows import blocks, context, files, past, prompt
from agent_tui.ui.flows.command_runner import start_flow
from agent_tui.ui.widgets.timeline.timeline import Timeline

if TYPE_CHECKING:
    from agent_tui.ui.conversation.conversation import Conversation
    from agent_tui.ui.flows.command_runner import Flow


def follow_marker(chat: Conversation, marker: Timeline.Marker) -> None:
    """Start what a row of the conversation leads to; pressed twice, it is done once."""
    once = "" if isinstance(marker, Timeline.AllToggled) else type(marker).__name__
    start_flow(chat, _flow_of(chat, marker), once)


def _flow_of(chat: Conversation, marker: Timeline.Marker) -> Flow:
    match marker:
        case Timeline.CheckpointPressed(checkpoint):
            return partial(files.revert_to, chat, checkpoint)
        case Timeline.CompactionPressed(archive):
            return partial(context.show_compaction, chat, archive)
        case Timeline.ArchivePressed(archive):
            return partial(past.show_archive, chat, archive)
        case Timeline.EntryPressed(entry):
            return partial(past.show_tree, chat, entry)
        case Timeline.ViewWanted(text, media, find, markdown):
            return partial(prompt.view_block, chat, text, media, find, markdown=markdown)
        case Timeline.TaskWanted(text):
            return partial(past.show_subagent, chat, text)
        case Timeline.QuoteWanted(text):
            return partial(prompt.quote_block, chat, text)
        case Timeline.MenuWanted():
            return partial(blocks.show_menu, chat, marker)
        case Timeline.FindWanted():
            return partial(prompt.find_text, chat, "")
        case Timeline.AllToggled():
            return partial(prompt.remember_fold, chat)
        case _:
            assert_never(marker)
