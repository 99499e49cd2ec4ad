"""What each command does: small flows over screens and the session, one function each.

A flow runs in a worker of the chat screen, so it may wait for a screen's answer; operations go
through ``chat.runner``. Screens are imported when they are first shown: none of them is needed for
the first frame.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from agent_tui.core.errors import UsageError
from agent_tui.core.format import format_count
from agent_tui.core.text import first_line
from agent_tui.runtime.machine.diagnostics import cache_statistics
from agent_tui.ui.conversation.todo import todo_panel
from agent_tui.ui.flows.browsing import Browser
from agent_tui.ui.flows.files import revert_to as preview_revert
from agent_tui.ui.flows.files import show_changes
from agent_tui.ui.flows.session_acts import SessionActs
from agent_tui.ui.themes.theme import OFFERED

if TYPE_CHECKING:
    from agent_tui.runtime.engine import Engine
    from agent_tui.runtime.live_session import LiveSession
    from agent_tui.ui.conversation.conversation import Conversation


def _session(chat: Conversation) -> LiveSession:
    if chat.session is None:
        raise UsageError("The session is still being opened; try again in a moment.")
    return chat.session


def browser(chat: Conversation) -> Browser:
    """Shows the past of the open session; raises UsageError while none is open."""
    session = _session(chat)
    return Browser(chat.app, session.view, SessionActs(chat, session))


def _number(argument: str, what: str) -> int:
    if not argument.isdecimal():
        raise UsageError(f"Expected the number of {what}, got {argument!r}.")
    return int(argument)


async def send_prompt_file(chat: Conversation, name: str, argument: str) -> None:
    """Send a prompt that is kept in a file; a name that nobody knows goes back to be edited."""
    found = (await chat.engine.project.prompt_files()).prompts.get(name) if chat.engine else None
    if found is not None:
        chat.send(found.fill_in(argument))
        return
    chat.prompt_box.set_text(f"/{name} {argument}".strip())
    chat.notices.hint(f"There is no command /{first_line(name, 30)}; F1 lists them all.")


async def show_debug(chat: Conversation, _argument: str) -> None:
    """Show cache statistics of this run."""
    lines = [
        f"{each.name}: {format_count(each.entries, 'entry', 'entries')}, {each.hit_share:.0%} of "
        f"{each.hits + each.misses:,} found, {each.size:,.0f} of {each.limit:,.0f} used"
        for each in cache_statistics()
    ]
    chat.notices.notice("\n".join(["Caches of this run", *lines]))


async def show_help(chat: Conversation, _argument: str) -> None:
    """Show keys and commands."""
    from agent_tui.ui.screens.dialogs.help import HelpScreen

    await chat.app.push_screen_wait(HelpScreen())


async def change_mode(chat: Conversation, argument: str) -> None:
    """Change what runs without asking."""
    from agent_tui.core.modes import MODE_HELP, MODES, next_mode

    approvals = _session(chat).approvals
    named = [mode for mode in MODES if mode == argument.strip()]
    if argument and not named:
        raise UsageError(f"Expected one of {', '.join(MODES)}, got {argument!r}.")
    mode = named[0] if named else next_mode(approvals.mode)
    approvals.set_mode(mode)
    chat.notices.hint(MODE_HELP[mode])


async def plan_first(chat: Conversation, argument: str) -> None:
    """Change nothing before a plan is approved; with a task, start on it."""
    await change_mode(chat, "plan")
    if argument.strip():
        chat.send(argument.strip())


async def fold_todo(chat: Conversation, _argument: str) -> None:
    """Fold or unfold what the agent has to do."""
    panel = todo_panel(chat)
    if panel is None or not panel.display:
        raise UsageError("The agent has no list of things to do.")
    panel.folded = not panel.folded


_KEPT = "always in this folder · Enter revokes it"


async def show_approvals(chat: Conversation, _argument: str) -> None:
    """Show what is allowed in this session."""
    from agent_tui.ui.screens.dialogs.choice import Choice, ChoiceScreen

    approvals = _session(chat).approvals
    while True:
        rows = [
            *(Choice(str(rule), str(rule), "Enter revokes it") for rule in approvals.session_rules),
            *(Choice(str(rule), str(rule), _KEPT) for rule in approvals.kept_rules),
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
        for rule in [rule for rule in approvals.kept_rules if str(rule) == chosen]:
            await approvals.forget(rule)


async def start_session(chat: Conversation, _argument: str) -> None:
    """Start a new session."""
    if chat.engine is not None:
        await chat.show_session(await chat.engine.new_session())


async def choose_session(chat: Conversation, argument: str) -> None:
    """Open the session of an id, or one chosen from the list."""
    engine = chat.engine
    if engine is None:
        return
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


async def _choose_session(
    chat: Conversation, engine: Engine, current: str
) -> tuple[str, str] | None:
    """Show the list until something is chosen; another agent's session may become one of ours."""
    from agent_tui.ui.flows.file_acts import view_file
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


async def search_sessions(chat: Conversation, argument: str) -> None:
    """Search every session; open the one that was chosen, or view it where it is not ours."""
    from agent_tui.runtime.stored.searching import SearchService
    from agent_tui.ui.flows.file_acts import view_file
    from agent_tui.ui.screens.sessions.search import SearchScreen

    engine = chat.engine
    if engine is None:
        return
    chosen = await chat.app.push_screen_wait(SearchScreen(SearchService(), argument))
    if chosen is None:
        return
    found, _ = chosen
    if found.is_live:
        await choose_session(chat, found.session_id)
        return
    fork = await view_file(chat.app, engine, Path(found.path))
    if fork is not None:
        await chat.show_session(await engine.open_session(fork.session_id))
        chat.return_prompt(fork.prompt)


async def fork_session(chat: Conversation, _argument: str) -> None:
    """Continue in a copy of the session."""
    session = _session(chat)
    if chat.engine is not None:
        await chat.show_session(await chat.engine.open_session(await session.operations.fork()))
        chat.notices.hint("This is the fork; the original session is unchanged.")


async def rename_session(chat: Conversation, argument: str) -> None:
    """Name the session."""
    session = _session(chat)
    if not argument:
        raise UsageError("Expected a name: /rename <title>.")
    await session.operations.rename(argument)
    chat.status.title = session.view.title


async def revert(chat: Conversation, argument: str) -> None:
    """Go back to a checkpoint, chosen from a list where none is given."""
    from agent_tui.ui.screens.time.checkpoints import CheckpointsScreen

    if argument:
        await revert_to(chat, _number(argument, "a checkpoint"))
        return
    screen = CheckpointsScreen(await asyncio.to_thread(_session(chat).view.checkpoints))
    checkpoint = await chat.app.push_screen_wait(screen)
    if checkpoint is not None:
        await revert_to(chat, checkpoint)


async def revert_to(chat: Conversation, checkpoint: int) -> None:
    """Go back to a checkpoint, after a preview; raises UnknownCheckpoint."""
    await preview_revert(chat, _session(chat), checkpoint)


async def browse_changes(chat: Conversation, _argument: str) -> None:
    """Show what changed on disk."""
    await show_changes(chat, _session(chat))


async def retry_turn(chat: Conversation, _argument: str) -> None:
    """Retry the last turn where it ended without an answer."""
    chat.runner.start_turn(lambda session: session.retry_turn())


async def undo(chat: Conversation, _argument: str) -> None:
    """Undo the last operation."""
    chat.runner.start(lambda session: session.operations.undo())


async def redo(chat: Conversation, _argument: str) -> None:
    """Redo what was undone."""
    chat.runner.start(lambda session: session.operations.redo())


async def show_tree(chat: Conversation, argument: str) -> None:
    """Show the tree of the session, from an entry or the present."""
    await browser(chat).tree(argument)


async def scrub(chat: Conversation, _argument: str) -> None:
    """Replay the session step by step."""
    await browser(chat).scrub()


async def show_archives(chat: Conversation, argument: str) -> None:
    """Show an archive by its number, or all of them."""
    if argument:
        await show_archive(chat, _number(argument, "an archive"))
    else:
        await browser(chat).archives()


async def clear(chat: Conversation, _argument: str) -> None:
    """Empty the context, after a question."""
    from agent_tui.ui.screens.dialogs.confirm import ConfirmScreen

    session = _session(chat)
    screen = ConfirmScreen(
        "Clear the context?",
        f"{format_count(session.view.message_count, 'message')} will be removed. The old log "
        "becomes an archive; undo with /undo.",
        "Clear",
    )
    if await chat.app.push_screen_wait(screen):
        await chat.runner.start(lambda session: session.operations.clear()).wait()
        if session.view.is_empty:
            chat.notices.hint("The context is empty. Undo with /undo.")


async def compact(chat: Conversation, argument: str) -> None:
    """Preview a compaction."""
    from agent_tui.ui.screens.context.compaction_preview import CompactionPreviewScreen

    session = _session(chat)
    await chat.app.push_screen_wait(CompactionPreviewScreen(session.compacting, argument))


async def show_compactions(chat: Conversation, argument: str) -> None:
    """Show the compaction that made an archive, or choose one."""
    if argument:
        await show_compaction(chat, _number(argument, "an archive"))
    else:
        await browser(chat).compactions()


async def show_tokens(chat: Conversation, _argument: str) -> None:
    """Show what fills the context."""
    from agent_tui.ui.screens.context.attribution import AttributionScreen

    session = _session(chat)
    screen = AttributionScreen(session.gauge, session.attribution, session.view.checkpoints)
    await chat.app.push_screen_wait(screen)


async def connect_model(chat: Conversation, _argument: str) -> None:
    """Find and connect a model provider."""
    from agent_tui.ui.flows.models import connect

    if chat.engine is not None:
        await connect(chat, chat.engine)


async def show_usage(chat: Conversation, _argument: str) -> None:
    """Show what the session used and cost."""
    from agent_tui.ui.flows.models import show_costs

    if chat.engine is not None:
        await show_costs(chat, chat.engine)


async def show_tool_servers(chat: Conversation, _argument: str) -> None:
    """Show the MCP servers."""
    from agent_tui.ui.flows.models import show_servers

    if chat.engine is not None:
        await show_servers(chat, chat.engine)


async def set_thinking(chat: Conversation, argument: str) -> None:
    """Choose how hard models think."""
    from agent_tui.ui.flows.models import choose_thinking

    if chat.engine is not None:
        await choose_thinking(chat, chat.engine, argument)


async def change_model(chat: Conversation, argument: str) -> None:
    """Show or change the model."""
    from agent_tui.ui.flows.models import choose_model

    if chat.engine is not None:
        await choose_model(chat, chat.engine, argument)


async def export(chat: Conversation, argument: str) -> None:
    """Write the session to a file."""
    session = _session(chat)
    if chat.engine is None:
        return
    path, redacted = await session.export_to(argument or "markdown", chat.engine.launch.cwd)
    chat.notices.notice(f"Exported to {path}. {redacted}".strip())


async def change_theme(chat: Conversation, argument: str) -> None:
    """Change the colours."""
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
        chat.notices.hint(f"Theme {chosen} saved.")


async def find_text(chat: Conversation, argument: str) -> None:
    """Find text in the conversation, while it is typed."""
    _session(chat)
    chat.prompt_box.find_bar.start(chat.timeline, argument)


async def view_block(chat: Conversation, text: str) -> None:
    """Show the text of a block by itself, whole."""
    from agent_tui.ui.screens.dialogs.reader import ReaderScreen

    lines = format_count(text.count("\n") + 1, "line")
    await chat.app.push_screen_wait(ReaderScreen("Message", lines, text))


async def quote_block(chat: Conversation, text: str) -> None:
    """Put the text of a block into the prompt, as a quote."""
    quoted = "\n".join(f"> {line}" for line in text.strip().split("\n"))
    chat.prompt_box.paste(f"{quoted}\n\n")


async def fold(chat: Conversation, _argument: str) -> None:
    """Open or fold the output of tools."""
    chat.timeline.action_toggle_all()


async def edit_prompt(chat: Conversation, _argument: str) -> None:
    """Continue the prompt in the user's editor."""
    from agent_tui.runtime.machine.editor import edit_text, find_editor

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


async def interrupt(chat: Conversation, _argument: str) -> None:
    """Stop what runs."""
    chat.escape()


async def leave(chat: Conversation, _argument: str) -> None:
    """Leave the program."""
    chat.leave()


async def show_archive(chat: Conversation, number: int) -> None:
    """Show an archive; raises UnknownArchive."""
    await browser(chat).archive(number)


async def show_compaction(chat: Conversation, archive: int) -> None:
    """Show both sides of the compaction that made an archive."""
    await browser(chat).compaction(archive)
