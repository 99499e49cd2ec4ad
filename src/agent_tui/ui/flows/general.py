"""Flows about the program: help, modes, approvals, colours, Esc and the way out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_tui.context.cache import all_statistics
from agent_tui.core.errors import UsageError
from agent_tui.core.text import format_count
from agent_tui.ui.conversation.panes import WIDE
from agent_tui.ui.conversation.todo import todo_panel
from agent_tui.ui.themes.theme import OFFERED
from agent_tui.ui.themes.themed import ThemedApp

if TYPE_CHECKING:
    from agent_tui.ui.conversation.conversation import Conversation


async def show_help(chat: Conversation, _argument: str) -> None:
    """Show keys and commands, first those of what has the focus."""
    from agent_tui.ui.screens.dialogs.help import HelpScreen
    from agent_tui.ui.screens.dialogs.keys import describe_keys

    keys = list(describe_keys(chat.screen, chat.timeline))
    await chat.app.push_screen_wait(HelpScreen(keys, is_walking=chat.timeline.has_focus))


async def show_palette(chat: Conversation, _argument: str) -> None:
    """Find a command by a few letters, and carry it out."""
    from agent_tui.ui.flows.command_runner import run_command
    from agent_tui.ui.screens.dialogs.palette import PaletteScreen

    if name := await chat.app.push_screen_wait(PaletteScreen()):
        run_command(chat, name, "")


async def suspend(chat: Conversation, _argument: str) -> None:
    """Return to the shell, whose ``fg`` continues."""
    chat.app.action_suspend_process()


async def show_keys(chat: Conversation, _argument: str) -> None:
    """List every key of the screen that is open."""
    from agent_tui.ui.screens.dialogs.keys import KeysScreen

    await chat.app.push_screen_wait(KeysScreen(chat.app.screen))


async def show_debug(chat: Conversation, _argument: str) -> None:
    """Show cache statistics of this run."""
    lines = [
        f"{each.name}: {format_count(each.entries, 'entry', 'entries')}, "
        f"{each.hit_share:.0%} hits in {format_count(each.hits + each.misses, 'lookup')}, "
        f"{each.size:,.0f} of {each.limit:,.0f} used"
        for each in all_statistics()
    ]
    chat.notices.notice("\n".join(["Caches of this run", *lines]))


async def change_mode(chat: Conversation, argument: str) -> None:
    """Change the approval mode."""
    from agent_tui.core.modes import MODE_HELP, MODES, next_mode

    approvals = chat.holder.require_session().approvals
    named = [mode for mode in MODES if mode == argument.strip()]
    if argument and not named:
        raise UsageError(f"Expected one of {', '.join(MODES)}, got {argument!r}.")
    mode = named[0] if named else next_mode(approvals.mode)
    approvals.set_mode(mode)
    chat.notices.hint(MODE_HELP[mode])
    if mode == "plan" and (running := chat.holder.require_session().commands.titles):
        chat.notices.notice(
            f"Still running in the background, and may write: {'; '.join(running)}. "
            "Use /background to stop it."
        )


async def allow_all(chat: Conversation, _argument: str) -> None:
    """Toggle the mode in which every action is allowed without asking."""
    mode = chat.holder.require_session().approvals.mode
    await change_mode(chat, "ask" if mode == "auto" else "auto")


async def plan_first(chat: Conversation, argument: str) -> None:
    """Switch to plan mode; with a task, start on it."""
    await change_mode(chat, "plan")
    if argument.strip():
        chat.prompts.send(argument.strip())


async def fold_todo(chat: Conversation, _argument: str) -> None:
    """Fold or unfold the todo list."""
    panel = todo_panel(chat.panes)
    if panel is None or not panel.display:
        raise UsageError("The agent has no to-do list.")
    panel.folded = not panel.folded


async def switch_panel(chat: Conversation, _argument: str) -> None:
    """Show or hide the panel beside the conversation, from now on."""
    side = chat.panes.side
    if side is None:
        raise UsageError("The side panel is still loading; try again in a moment.")
    side.switch(on=not side.is_on)
    if chat.screen.size.width < WIDE:
        wide = f"on: it shows in a window of {WIDE} columns or more" if side.is_on else "off"
        chat.notices.hint(f"The side panel is {wide}.")
    await chat.holder.require_engine().setting_files.save("ui.panel", side.is_on)


_KEPT = "always in this folder · Enter revoke"
_GIVEN = "settings or --allow · Enter revoke"
_FOR_NOW = "for this session · Enter revoke"


async def show_approvals(chat: Conversation, _argument: str) -> None:
    """Show what is allowed in this session."""
    from agent_tui.ui.screens.dialogs.choice import Choice, ChoiceScreen

    approvals = chat.holder.require_session().approvals
    while True:
        listed = [
            *((rule, _FOR_NOW) for rule in approvals.session_rules),
            *((rule, _KEPT) for rule in approvals.kept_rules),
            *((rule, _GIVEN) for rule in approvals.always),
        ]
        rows = [Choice(str(i), str(rule), origin) for i, (rule, origin) in enumerate(listed)]
        if count := approvals.single_actions:
            rows.append(Choice("*", f"single actions: {count}", "Enter revoke all"))
        screen = ChoiceScreen(
            "Allowed without asking", rows, empty="Nothing is allowed yet.", enter="revoke"
        )
        chosen = await chat.app.push_screen_wait(screen)
        if chosen is None:
            return
        if chosen == "*":
            approvals.revoke_single_actions()
            continue
        rule, origin = listed[int(chosen)]
        if origin == _FOR_NOW:
            approvals.revoke(rule)
        elif origin == _KEPT:
            await approvals.forget(rule)
        else:
            await approvals.drop(rule)


async def change_theme(chat: Conversation, argument: str) -> None:
    """Change the colours."""
    from agent_tui.ui.screens.dialogs.theme_choice import ThemeScreen

    app = chat.app
    if argument and argument not in app.available_themes:
        raise UsageError(f"No theme is called {argument!r}. See /theme.")
    if app.no_color:
        raise UsageError("Themes are off while NO_COLOR is set. Unset it and start again.")
    chosen = argument or await app.push_screen_wait(ThemeScreen(OFFERED, app))
    if not chosen:
        return
    app.theme = chosen
    if isinstance(app, ThemedApp):
        app.follows_terminal = False
    if chat.engine is not None:
        await chat.engine.setting_files.save("ui.theme", chosen)
        chat.notices.hint(f"Theme {chosen} saved.")


async def interrupt(chat: Conversation, _argument: str) -> None:
    """Close the find bar, or interrupt what runs; otherwise a second Esc offers to revert.

    Pressing Esc until nothing is open does not count as the first of two.
    """
    from agent_tui.ui.flows.prompt import close_find

    if close_find(chat):
        chat.escape.use()
    elif chat.runner.under_way():
        chat.escape.use()
        chat.status.work = "interrupting"  # a command that runs may take its time to end
        await chat.runner.interrupt()
        if not chat.runner.under_way():
            chat.panes.show_work("")
    elif not chat.prompt_box.has_focus_within:
        chat.escape.use()
        chat.prompt_box.focus()
    elif chat.escape.press() and not chat.prompt_box.text:
        from agent_tui.ui.flows.command_runner import run_command

        run_command(chat, "revert", "")  # as its key does: a third Esc closes it
    else:
        chat.prompt_box.focus()


async def leave(chat: Conversation, _argument: str) -> None:
    """Leave the program."""
    chat.app.call_later(chat.app.action_quit)
