"""What each command does: small flows over screens and the session, one function each.

A flow runs in a worker of the chat screen, so it may wait for a screen's answer; acts on the
session go through ``chat.act`` into the exclusive group. Screens are imported when they are first
shown: none of them is needed for the first frame.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from agent_tui.core.errors import AgentTuiError, UsageError
from agent_tui.core.text import first_line
from agent_tui.runtime.diagnostics import cache_statistics
from agent_tui.ui.browsing import Browser
from agent_tui.ui.commands import find_command
from agent_tui.ui.file_flows import revert_to, show_changes
from agent_tui.ui.session_acts import SessionActs
from agent_tui.ui.theme import OFFERED

if TYPE_CHECKING:
    from agent_tui.runtime.engine import Engine
    from agent_tui.runtime.live_session import LiveSession
    from agent_tui.ui.screens.chat import ChatScreen

_GROUP = "flow"
_WITH_SCREEN = frozenset(
    [
        "help",
        "sessions",
        "revert",
        "changes",
        "tree",
        "scrub",
        "archives",
        "clear",
        "compact",
        "compactions",
        "tokens",
        "approvals",
        "model",
        "connect",
        "usage",
        "mcp",
    ]
)

Flow: TypeAlias = "Callable[[ChatScreen, str], Awaitable[None]]"


def run_command(chat: ChatScreen, name: str, argument: str) -> None:
    """Carry out a command of the table; an unknown one is answered with the way to the list."""
    command = find_command(name)
    if command is None:
        flow = _guarded(chat, partial(_prompt_file, name), argument)
        chat.run_worker(flow, name=name, group=_GROUP, exit_on_error=False)
        return
    if command.name in _WITH_SCREEN and _is_under_way(chat, command.name):
        return  # its screen is on the way: a second click or Enter would open another over it
    flow = _guarded(chat, _FLOWS[command.name], argument)
    chat.run_worker(flow, name=command.name, group=_GROUP, exit_on_error=False)


def _is_under_way(chat: ChatScreen, name: str) -> bool:
    flows = (each for each in chat.workers if each.group == _GROUP and not each.is_finished)
    return any(flow.name == name for flow in flows)


async def _guarded(chat: ChatScreen, flow: Flow, argument: str) -> None:
    try:
        await flow(chat, argument)
    except AgentTuiError as error:
        chat.show_failure(str(error))
    except Exception as error:
        chat.show_failure(f"Internal error: {type(error).__name__}: {error}.")


def _session(chat: ChatScreen) -> LiveSession:
    if chat.session is None:
        raise UsageError("The session is still being opened; try again in a moment.")
    return chat.session


def _browser(chat: ChatScreen) -> Browser:
    session = _session(chat)
    return Browser(chat.app, session.view, SessionActs(chat, session))


def _number(argument: str, what: str) -> int:
    if not argument.isdecimal():
        raise UsageError(f"Expected the number of {what}, got {argument!r}.")
    return int(argument)


async def _prompt_file(name: str, chat: ChatScreen, argument: str) -> None:
    """Send a prompt that is kept in a file; a name that nobody knows goes back to be edited."""
    found = (await chat.engine.prompt_files()).prompts.get(name) if chat.engine else None
    if found is not None:
        chat.send(found.fill_in(argument))
        return
    chat.prompt_box.set_text(f"/{name} {argument}".strip())
    chat.show_hint(f"There is no command /{first_line(name, 30)}; F1 lists them all.")


async def _debug(chat: ChatScreen, _argument: str) -> None:
    lines = [
        f"{each.name}: {each.entries:,} entries, {each.hit_share:.0%} of "
        f"{each.hits + each.misses:,} found, {each.size:,.0f} of {each.limit:,.0f} used"
        for each in cache_statistics()
    ]
    chat.show_notice("\n".join(["Caches of this run", *lines]))


async def _help(chat: ChatScreen, _argument: str) -> None:
    from agent_tui.ui.screens.dialogs.help import HelpScreen

    await chat.app.push_screen_wait(HelpScreen())


async def _mode(chat: ChatScreen, argument: str) -> None:
    from agent_tui.core.modes import MODE_HELP, MODES, next_mode

    approvals = _session(chat).approvals
    named = [mode for mode in MODES if mode == argument.strip()]
    if argument and not named:
        raise UsageError(f"Expected one of {', '.join(MODES)}, got {argument!r}.")
    mode = named[0] if named else next_mode(approvals.mode)
    approvals.set_mode(mode)
    chat.show_hint(MODE_HELP[mode])


async def _approvals(chat: ChatScreen, _argument: str) -> None:
    from agent_tui.ui.screens.dialogs.choice import Choice, ChoiceScreen

    approvals = _session(chat).approvals
    while True:
        rows = [
            *(Choice(str(rule), str(rule), "Enter revokes it") for rule in approvals.session_rules),
            *(Choice("", str(rule), "from the settings or --allow") for rule in approvals.always),
        ]
        if count := approvals.single_actions:
            rows.append(Choice("*", f"single actions: {count}", "Enter revokes them"))
        screen = ChoiceScreen("Allowed without asking", rows, empty="Nothing is allowed yet.")
        chosen = await chat.app.push_screen_wait(screen)
        if chosen is None:
            return
        if chosen == "*":
            approvals.revoke_single_actions()
        for rule in [rule for rule in approvals.session_rules if str(rule) == chosen]:
            approvals.revoke(rule)


async def _new(chat: ChatScreen, _argument: str) -> None:
    if chat.is_busy:
        raise UsageError("A turn is running: interrupt it with Esc first.")
    if chat.engine is not None:
        await chat.show_session(await chat.engine.new_session())


async def _sessions(chat: ChatScreen, argument: str) -> None:
    engine = chat.engine
    if engine is None:
        return
    if chat.is_busy:
        raise UsageError("A turn is running: interrupt it with Esc first.")
    current = chat.session.session_id if chat.session else ""
    choice: tuple[str, str] | None = ("open", argument)
    if not argument:
        choice = await _choose_session(chat, engine, current)
    match choice:
        case ("new", _):
            await chat.show_session(await engine.new_session())
        case ("open", session_id) if session_id != current:
            await chat.show_session(await engine.open_session(session_id))
        case _:
            chat.reload()


async def _choose_session(chat: ChatScreen, engine: Engine, current: str) -> tuple[str, str] | None:
    """Show the list until something is chosen; another agent's session may become one of ours."""
    from agent_tui.ui.file_acts import view_file
    from agent_tui.ui.screens.sessions.session_list import SessionListScreen

    while True:
        workspace, others = str(engine.workspace), engine.agent_sessions
        screen = SessionListScreen(engine.stored, current, workspace, others)
        choice = await chat.app.push_screen_wait(screen)
        if choice is None or choice[0] != "view":
            return choice
        fork = await view_file(chat.app, engine, Path(choice[1]))
        if fork is not None:
            await chat.show_session(await engine.open_session(fork.session_id))
            chat.return_prompt(fork.prompt)
            return None


async def _fork(chat: ChatScreen, _argument: str) -> None:
    session = _session(chat)
    if chat.is_busy:
        raise UsageError("A turn is running: interrupt it with Esc first.")
    if chat.engine is not None:
        await chat.show_session(await chat.engine.open_session(await session.operations.fork()))
        chat.show_hint("This is the fork; the original session is unchanged.")


async def _rename(chat: ChatScreen, argument: str) -> None:
    session = _session(chat)
    if not argument:
        raise UsageError("Expected a name: /rename <title>.")
    await session.operations.rename(argument)
    chat.status.title = session.view.title


async def _revert(chat: ChatScreen, argument: str) -> None:
    from agent_tui.ui.screens.time.checkpoints import CheckpointsScreen

    session = _session(chat)
    if argument:
        checkpoint: int | None = _number(argument, "a checkpoint")
    else:
        screen = CheckpointsScreen(await asyncio.to_thread(session.view.checkpoints))
        checkpoint = await chat.app.push_screen_wait(screen)
    if checkpoint is None:
        return
    await revert_to(chat, session, checkpoint)


async def _changes(chat: ChatScreen, _argument: str) -> None:
    await show_changes(chat, _session(chat))


async def _undo(chat: ChatScreen, _argument: str) -> None:
    chat.act(lambda session: session.operations.undo())


async def _redo(chat: ChatScreen, _argument: str) -> None:
    chat.act(lambda session: session.operations.redo())


async def _tree(chat: ChatScreen, argument: str) -> None:
    await _browser(chat).tree(argument)


async def _scrub(chat: ChatScreen, _argument: str) -> None:
    await _browser(chat).scrub()


async def _archives(chat: ChatScreen, argument: str) -> None:
    if argument:
        await _browser(chat).archive(_number(argument, "an archive"))
    else:
        await _browser(chat).archives()


async def _clear(chat: ChatScreen, _argument: str) -> None:
    from agent_tui.ui.screens.dialogs.confirm import ConfirmScreen

    session = _session(chat)
    screen = ConfirmScreen(
        "Clear the context?",
        f"{session.view.message_count} messages leave it. The old log becomes an archive: /undo "
        "brings it back.",
        "Clear",
    )
    if await chat.app.push_screen_wait(screen):
        await chat.act(lambda session: session.operations.clear()).wait()
        if session.view.is_empty:
            chat.show_hint("The context is empty now; /undo brings it back.")


async def _compact(chat: ChatScreen, argument: str) -> None:
    from agent_tui.ui.screens.context.compaction_preview import CompactionPreviewScreen

    session = _session(chat)
    if chat.is_busy:
        raise UsageError("A turn is running: interrupt it with Esc first.")
    await chat.app.push_screen_wait(CompactionPreviewScreen(session.compacting, argument))


async def _compactions(chat: ChatScreen, argument: str) -> None:
    if argument:
        await _browser(chat).compaction(_number(argument, "an archive"))
    else:
        await _browser(chat).compactions()


async def _tokens(chat: ChatScreen, _argument: str) -> None:
    from agent_tui.ui.screens.context.attribution import AttributionScreen

    session = _session(chat)
    screen = AttributionScreen(session.gauge, session.attribution, session.view.checkpoints)
    await chat.app.push_screen_wait(screen)


async def _connect(chat: ChatScreen, _argument: str) -> None:
    from agent_tui.ui.model_flows import connect

    if chat.engine is not None:
        await connect(chat, chat.engine)


async def _usage(chat: ChatScreen, _argument: str) -> None:
    from agent_tui.ui.model_flows import show_costs

    if chat.engine is not None:
        await show_costs(chat, chat.engine)


async def _mcp(chat: ChatScreen, _argument: str) -> None:
    from agent_tui.ui.model_flows import show_servers

    if chat.engine is not None:
        await show_servers(chat, chat.engine)


async def _model(chat: ChatScreen, argument: str) -> None:
    from agent_tui.ui.model_flows import choose_model

    if chat.engine is not None:
        await choose_model(chat, chat.engine, argument)


async def _export(chat: ChatScreen, argument: str) -> None:
    session = _session(chat)
    if chat.engine is None:
        return
    path, redacted = await session.export_to(argument or "markdown", chat.engine.launch.cwd)
    chat.show_notice(f"Exported to {path}. {redacted}".strip())


async def _theme(chat: ChatScreen, argument: str) -> None:
    from agent_tui.ui.screens.dialogs.theme_choice import ThemeScreen

    app = chat.app
    if argument and argument not in app.available_themes:
        raise UsageError(f"No theme is called {argument!r}. /theme lists them.")
    chosen = argument or await app.push_screen_wait(ThemeScreen(OFFERED, app))
    if not chosen:
        return
    app.theme = chosen
    if chat.engine is not None:
        await chat.engine.save_setting("ui.theme", chosen)
        chat.show_hint(f"Theme {chosen} saved.")


async def _fold(chat: ChatScreen, _argument: str) -> None:
    chat.timeline.action_toggle_all()


async def _editor(chat: ChatScreen, _argument: str) -> None:
    from agent_tui.runtime.editor import edit_text, find_editor

    editor = find_editor()
    app, failure = chat.app, None
    # The agent may be at work: it goes on meanwhile, and draws nothing. An exception must not
    # leave the suspension, which would not be lifted then.
    with app.suspend(), app.batch_update():
        try:
            chat.prompt_box.set_text(
                await asyncio.to_thread(edit_text, editor, chat.prompt_box.text)
            )
        except UsageError as error:
            failure = error
    if failure is not None:
        raise failure


async def _interrupt(chat: ChatScreen, _argument: str) -> None:
    chat.escape()


async def _exit(chat: ChatScreen, _argument: str) -> None:
    chat.leave()


_FLOWS: dict[str, Flow] = {
    "mode": _mode,
    "approvals": _approvals,
    "debug": _debug,
    "help": _help,
    "sessions": _sessions,
    "new": _new,
    "fork": _fork,
    "rename": _rename,
    "revert": _revert,
    "changes": _changes,
    "undo": _undo,
    "redo": _redo,
    "tree": _tree,
    "scrub": _scrub,
    "archives": _archives,
    "clear": _clear,
    "compact": _compact,
    "compactions": _compactions,
    "tokens": _tokens,
    "model": _model,
    "connect": _connect,
    "usage": _usage,
    "mcp": _mcp,
    "export": _export,
    "theme": _theme,
    "fold": _fold,
    "editor": _editor,
    "interrupt": _interrupt,
    "exit": _exit,
}
