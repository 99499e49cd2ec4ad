"""What can be done with one block of the conversation, from its menu."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from agent_tui.core.cost import format_cost
from agent_tui.core.format import format_duration
from agent_tui.core.records import Checkpoint, Record, ToolMessage, WorkspaceRecord
from agent_tui.ui.conversation.subagent_lines import tells_of_subagent
from agent_tui.ui.flows.files import revert_call, revert_to
from agent_tui.ui.flows.models import describe_usage
from agent_tui.ui.flows.past import show_subagent
from agent_tui.ui.flows.prompt import quote_block, view_block
from agent_tui.ui.flows.session_acts import SessionActs
from agent_tui.ui.screens.dialogs.choice import Choice, ChoiceScreen
from agent_tui.ui.screens.time.tree import TreeChoice

if TYPE_CHECKING:
    from agent_tui.ui.conversation.conversation import Conversation
    from agent_tui.ui.widgets.timeline.timeline import Timeline

_LOOK_CAPTURES = 1_000
"""What many calls that run at once changed stands behind the results of all of them."""
_ALWAYS = (
    Choice("open", "Open or fold", key="space"),
    Choice("copy", "Copy", key="y"),
    Choice("quote", "Quote into the prompt", key="q"),
    Choice("view", "Open full screen", key="v"),
)
_STOP = Choice("stop", "Stop this subagent", key="x")
_SUBAGENT = Choice("subagent", "Read the subagent's session", key="s")


async def show_menu(chat: Conversation, wanted: Timeline.MenuWanted) -> None:
    """Ask what to do with a block, and do it."""
    text, record, running = wanted.text, wanted.record, wanted.running
    path = chat.holder.require_session().view.shown_records
    checkpoint = _checkpoint_before(path, wanted.place) if record is not None else None
    captures = _captures_of(path, record, wanted.place)
    subagents = chat.holder.require_session().subagents
    task = [_SUBAGENT] if tells_of_subagent(text) else []
    if subagents is not None and subagents.is_running(running):
        task = [_STOP, *task]
    choices = [*_ALWAYS, *task, *_past_choices(chat, record, checkpoint, captures)]
    step = _tell_step(chat, path, wanted.place) if record is not None else ""
    title = " · ".join(filter(None, ("Block", step)))
    match await chat.app.push_screen_wait(ChoiceScreen(title, choices)):
        case "open":
            chat.timeline.action_activate()
        case "copy":
            chat.timeline.action_copy()
        case "quote":
            await quote_block(chat, text)
        case "view":
            await view_block(chat, text, wanted.media, markdown=wanted.markdown)
        case "stop" if subagents is not None:
            subagents.stop(running)
        case "subagent":
            await show_subagent(chat, text)
        case "revert" if checkpoint is not None:
            await revert_to(chat, checkpoint)
        case "branch" | "label" as act if record is not None:
            await _act_on_entry(chat, act, record.stamp.uuid or "")
        case "files":
            await revert_call(chat, captures)
        case _:
            pass


def _past_choices(
    chat: Conversation, record: Record | None, checkpoint: int | None, captures: Sequence[str]
) -> list[Choice]:
    session = chat.holder.require_session()
    if record is None or session.read_only or chat.runner.is_busy:
        return []
    choices = []
    if checkpoint is not None:
        choices.append(
            Choice("revert", "Revert here", f"checkpoint {checkpoint}, with a preview", "r")
        )
    if record.stamp.uuid:
        choices.append(Choice("branch", "Branch here", "what follows stays as a branch", "b"))
        choices.append(Choice("label", "Label", "a name in the tree", "l"))
    if captures:
        choices.append(Choice("files", "Revert its file changes", "with a preview", "f"))
    return choices


def _tell_step(chat: Conversation, path: Sequence[Record], place: int) -> str:
    """What the step of a record took: ``step 2: 3.4 s · 3.1k in (2.0k cached) · 210 out · $0.01``.

    Empty for a record of no step, and where nothing was measured.
    """
    from agent_tui.history.records.steps import step_at

    found = step_at(path, place)
    if found is None:
        return ""
    facts = [] if found.seconds is None else [format_duration(found.seconds)]
    if found.usage is not None:
        facts.append(describe_usage(found.usage))
        price = chat.engine.connections.price_of(found.model) if chat.engine else None
        facts += [format_cost(price.of(found.usage))] if price is not None else []
    return f"step {found.step}: {' · '.join(facts)}" if facts else ""


def _checkpoint_before(path: Sequence[Record], place: int) -> int | None:
    """The newest checkpoint before a record."""
    before = (path[index] for index in range(place - 1, -1, -1))
    return next((each.id for each in before if isinstance(each, Checkpoint)), None)


def _captures_of(path: Sequence[Record], record: Record | None, place: int) -> list[str]:
    """The captures of what a tool call changed, given its result: they stand behind it."""
    if not isinstance(record, ToolMessage):
        return []
    return [
        each.stamp.uuid
        for each in path[place : place + _LOOK_CAPTURES]
        if isinstance(each, WorkspaceRecord)
        and each.call == record.tool_call_id
        and each.delta
        and each.stamp.uuid
    ]


async def _act_on_entry(chat: Conversation, act: Literal["branch", "label"], entry: str) -> None:
    """Carry out in the tree what was chosen for an entry."""
    session = chat.holder.require_session()
    tree = await session.view.tree(related=False)
    outline = await tree.prepare("records")
    row = outline.row(outline.row_of(tree.place_of(entry)))
    await SessionActs(chat, session).act_on_tree(TreeChoice(act, tree, row, "records"))
