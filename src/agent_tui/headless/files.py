"""Commands about the files of a session: what changed, and going back."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from agent_tui.core.changes import NOT_PRINTED, ChangeGroup, FileDiff
from agent_tui.core.errors import UsageError
from agent_tui.core.file_changes import LeftOut
from agent_tui.core.output import say, say_bytes
from agent_tui.core.revert_plan import STATUS_WORDS, PathPlan, RevertPlan, describe_choice
from agent_tui.core.text import format_count, reveal
from agent_tui.headless.browse import looked_at, opened, say_rotated
from agent_tui.headless.printing import print_json
from agent_tui.runtime.engine import Engine


async def print_changes(
    engine: Engine, session_id: str, since: int | None, *, patch: bool, as_json: bool
) -> None:
    """Everything that changed on disk since a checkpoint; of a log by its path, what it tells."""
    path = Path(session_id)
    is_path = await asyncio.to_thread(path.exists)
    trimmed = ""
    if is_path:
        groups = await engine.stored.told_changes(path, since)
    else:
        async with looked_at(engine, session_id) as session:
            if patch and not as_json:
                say_bytes(await session.files.patch(since))
                return
            groups = await session.files.changes(since)
            trimmed = await session.files.trimmed()
    groups = _without_secrets(groups)
    if as_json:
        print_json(groups)
    elif patch:
        for group in groups:
            for file in group.files:
                _say_patch(file)
    else:
        if is_path and groups:
            say("From the tool calls in the log; not compared with the disk.")
        if trimmed:
            say(trimmed)
        for group in groups:
            _say_group(group)
        if not groups:
            say(f"No file changes were {'recorded' if is_path else 'captured'}.")


def _say_patch(file: FileDiff) -> None:
    """The diff; what is no diff as remarks, which programs that read patches pass over."""
    if file.diff:
        say(file.diff)
        return
    say(f"# {reveal(file.path)}: {file.kind}; {file.note}")
    for line in file.told.splitlines():
        say(f"#   {reveal(line)}")


def _without_secrets(groups: Sequence[ChangeGroup]) -> list[ChangeGroup]:
    return [
        replace(
            group,
            files=tuple(
                replace(file, diff="", told="", note=NOT_PRINTED) if file.secret else file
                for file in group.files
            ),
        )
        for group in groups
    ]


def _say_group(group: ChangeGroup) -> None:
    who = f"{group.who}: {group.what}" if group.what else group.who
    say(" · ".join(filter(None, (group.place, reveal(who)))))
    if group.why:
        say(f"  files not captured here: {group.why}")
    _say_left_out(group.left_out)
    for file in group.files:
        counts = f"+{file.added} -{file.removed}" if file.diff or file.told else file.note
        say(f"  {file.kind:<8} {reveal(file.path)}  {counts}")


async def revert_session(engine: Engine, options: argparse.Namespace, *, as_json: bool) -> None:
    """Go back to just before a checkpoint: conversation (the default), files, or both."""
    if sum((options.files, options.conversation, options.both)) > 1:
        raise UsageError("Choose one of --files, --conversation and --both.")
    files, conversation = options.files or options.both, not options.files
    checkpoint: int = options.checkpoint
    if options.dry_run:
        await _say_what_would_be(engine, options, files=files, as_json=as_json)
        return
    async with opened(engine, options.id) as session:
        plan = await session.files.plan_since(checkpoint) if files else None
        if plan is None:
            report = await session.operations.revert(checkpoint)
        else:
            if conversation:
                done, report = await session.operations.revert_both(plan, plan.default, checkpoint)
            else:
                done = await session.operations.revert_files(plan, plan.default)
            if not conversation and as_json:
                print_json(done)
            elif not conversation:
                say(done.told)
        if conversation:
            chosen = describe_choice(plan, plan.default) if plan is not None else ""
            changed = f"{chosen or 'no files'} reverted" if plan is not None else ""
            say_rotated(as_json, report, f"Reverted to checkpoint {checkpoint}", changed)
        if plan is not None and not as_json:
            _say_plan_rest(plan)


async def _say_what_would_be(
    engine: Engine, options: argparse.Namespace, *, files: bool, as_json: bool
) -> None:
    async with looked_at(engine, options.id) as session:
        preview = await session.view.preview_revert(options.checkpoint)
        plan = await session.files.plan_since(options.checkpoint) if files else None
    if as_json:
        print_json({"conversation": preview if not options.files else None, "files": _rows(plan)})
        return
    if not options.files:
        say(f"Conversation: would remove {format_count(preview.messages_leaving, 'message')}.")
    if plan is not None:
        for path in plan.paths:
            if path.default is not None:
                say(f"  would {_describe(path)}")
        if all(path.default is None for path in plan.paths):
            say("Files: nothing would change.")
        _say_plan_rest(plan)


def _describe(path: PathPlan) -> str:
    name = reveal(path.path)
    if path.then.state is None:
        return f"delete {name}"
    if path.now.state is None:
        return f"restore {name}"
    added, removed = path.counts
    return f"revert {name}  +{added} -{removed}"


def _rows(plan: RevertPlan | None) -> list[dict[str, object]] | None:
    if plan is None:
        return None
    return [
        {
            "path": path.path,
            "own": path.own,
            "status": path.status,
            "reverted": path.default is not None,
            "why": path.why,
        }
        for path in plan.paths
    ] + [
        {"path": left.path, "status": "not_covered", "reverted": False, "why": left.why}
        for left in plan.uncovered
    ]


def _say_plan_rest(plan: RevertPlan) -> None:
    """What stays as it is, and why."""
    for notice in plan.notices:
        say(notice)
    for path in plan.paths:
        if path.default is None and path.own:
            say(f"  left alone: {reveal(path.path)}  {path.why or STATUS_WORDS[path.status]}")
    _say_left_out(plan.uncovered)


def _say_left_out(left_out: Sequence[LeftOut]) -> None:
    for left in left_out:
        say(f"  not captured: {reveal(left.name)}  {left.why}")
