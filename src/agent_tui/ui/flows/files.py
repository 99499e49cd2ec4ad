"""Flows about files: the changes view, and what a revert asks before it is made."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING

from agent_tui.core.diff_pieces import DiffPiece, find_hunks
from agent_tui.core.revert_plan import Choice, RevertPlan
from agent_tui.core.text import reveal
from agent_tui.ui.commands.table import name_keys

if TYPE_CHECKING:
    from agent_tui.runtime.live_session import LiveSession
    from agent_tui.ui.conversation.conversation import Conversation
    from agent_tui.ui.screens.time.revert_files import RevertDecision

_NOT_FOUND = "The lines that you chose could not be found exactly. Tick what to revert."


async def revert_to(chat: Conversation, checkpoint: int) -> None:
    """Preview a revert, ask what to revert, and do it; raises UnknownCheckpoint."""
    from agent_tui.ui.screens.time.revert_files import RevertFilesScreen
    from agent_tui.ui.screens.time.revert_preview import RevertPreviewScreen

    session = chat.holder.require_session()
    preview = await session.view.preview_revert(checkpoint)
    plan = await session.files.plan_since(checkpoint)
    if not plan.paths:
        if await chat.app.push_screen_wait(RevertPreviewScreen(preview)):
            chat.runner.start(lambda session: _revert_conversation(chat, session, checkpoint))
        return
    screen = RevertFilesScreen(f"Revert to checkpoint {checkpoint}?", plan, preview)
    decision = await chat.app.push_screen_wait(screen)
    if decision is not None:
        chat.runner.start(lambda session: _carry_out(chat, session, plan, decision, checkpoint))


async def revert_call(chat: Conversation, captures: Collection[str]) -> None:
    """Revert what a tool call changed in files, after a question; captures by their ids."""
    session = chat.holder.require_session()
    plan = await session.files.plan_captures(captures)
    await _revert_plan(chat, plan, "Revert what this call changed?")


async def browse_changes(chat: Conversation, _argument: str) -> None:
    """Show what changed on disk, again after each revert that is chosen there."""
    from agent_tui.ui.screens.time.changes import ChangesScreen

    session = chat.holder.require_session()
    told = ""
    while True:
        why_not = session.read_only or ("a turn is running" if session.busy else "")
        files = session.files
        lost = await files.trimmed()
        screen = ChangesScreen(files.changes, files.net_changes, why_not, lost, told)
        chosen = await chat.app.push_screen_wait(screen)
        if chosen is None:
            return
        plan = _of_path(await session.files.plan_captures(chosen.captures), chosen.path)
        of = f"{reveal(chosen.path)} ({chosen.name})" if chosen.path else chosen.name
        choice = _choice_of(plan, chosen.pieces)
        if choice is not None and not choice:
            plan = replace(plan, notices=(*plan.notices, _NOT_FOUND))
        told = await _revert_plan(chat, plan, f"Revert {of}?", choice)


async def _revert_plan(
    chat: Conversation, plan: RevertPlan, title: str, choice: Choice | None = None
) -> str:
    """Ask about a plan for files alone, and do it; ``choice`` is ticked at first.

    Returns what was done, in words; nothing where nothing was.
    """
    from agent_tui.ui.screens.time.revert_files import RevertFilesScreen

    screen = RevertFilesScreen(title, plan, None, choice)
    decision = await chat.app.push_screen_wait(screen)
    told: list[str] = []
    if decision is not None:

        async def carry_out(session: LiveSession) -> None:
            told.append(await _carry_out(chat, session, plan, decision, None))

        await chat.runner.start(carry_out).wait()
    return "".join(told)


def _choice_of(plan: RevertPlan, pieces: Collection[DiffPiece]) -> Choice | None:
    """The hunks that put some pieces of a diff back, none where they are not for certain there.

    None stands for what the plan ticks: no pieces are named, or it has no hunks to choose from.
    """
    if not pieces or not any(each.hunks for each in plan.paths):
        return None
    return {each.key: hunks for each in plan.paths if (hunks := find_hunks(each, pieces))}


def _of_path(plan: RevertPlan, path: str) -> RevertPlan:
    """The part of a plan that is about one path; all of it for an empty path."""
    if not path:
        return plan
    return replace(plan, paths=tuple(each for each in plan.paths if each.path == path))


async def _carry_out(
    chat: Conversation,
    session: LiveSession,
    plan: RevertPlan,
    decision: RevertDecision,
    checkpoint: int | None,
) -> str:
    """Make what was decided, as one operation; returns in words what a list of changes says."""
    if checkpoint is None or decision.scope == "files":
        done = await session.operations.revert_files(plan, decision.choice)
    elif decision.scope == "both":
        done, _ = await session.operations.revert_both(plan, decision.choice, checkpoint)
    else:
        await _revert_conversation(chat, session, checkpoint)
        return ""
    is_made = done.changes or done.archive  # else an undo would undo what was done before
    # A key where there is one: the box holds the prompt that came back.
    undo = name_keys(chat.app, "Undo with {undo}.")
    chat.notices.hint(f"{done.told} {undo}" if is_made else done.told)
    # That key works in the conversation alone.
    leave = name_keys(chat.app, "Undo with {panel-leave:Esc}, then {undo}.")
    return f"{done.told} {leave}" if is_made else done.told


async def _revert_conversation(chat: Conversation, session: LiveSession, checkpoint: int) -> None:
    """Revert the conversation alone, and say how to undo it."""
    await session.operations.revert(checkpoint)
    chat.notices.hint(name_keys(chat.app, "Conversation reverted. Undo with {undo}."))
