"""What is sent while the agent works waits in sight, and can be withdrawn, edited, and survives."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agent_tui.core.drafts import Drafts
from agent_tui.sessions.drafts import EARLY_NAME, NAME, DraftFile
from agent_tui.ui.widgets.prompt.prompt_box import PromptBox
from tests.ui.test_chat_acts import Desk, desk


async def _busy(here: Desk, *queued: str) -> None:
    """Have a command run for long, with prompts waiting for it."""
    here.chat.prompt_box.post_message(PromptBox.Submitted("sleep 600", shell=True))
    await here.until(lambda: here.chat.status.work == "running your command")
    for prompt in queued:
        here.chat.prompts.send(prompt)
    await here.pilot.pause()


async def test_up_takes_the_last_queued_prompt_out_so_that_it_is_sent_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        await _busy(here, "first", "second")
        await here.pilot.press("up")
        await here.until(lambda: here.chat.prompt_box.text == "second")
        assert here.queued == ["first"]
        await here.pilot.press("enter")
        assert here.queued == ["first", "second"]
        assert here.session.take_steers() == ["first", "second"]
        await here.interrupt()


async def test_each_queued_prompt_can_be_withdrawn_by_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        await _busy(here, "first", "second", "third")
        queue = here.chat.prompt_box.queue
        assert queue.size.height == 3
        await here.pilot.click(queue, offset=(queue.size.width - 2, 1))
        await here.until(lambda: here.queued == ["first", "third"])
        assert here.chat.prompt_box.text == ""
        await here.pilot.press("ctrl+c")
        await here.until(lambda: here.chat.prompt_box.text == "third")
        assert here.session.take_steers() == ["first"]
        await here.interrupt()


async def test_what_waits_and_what_is_typed_survives_a_kill(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        await here.say("one thing")
        session = here.session
        await _busy(here, "it waits")
        here.chat.prompt_box.set_text("half a thought")
        drafts = next((tmp_path / "home").rglob("context.jsonl")).with_name(NAME)
        await here.until(lambda: drafts.exists() and "half a thought" in drafts.read_text())
        kept = drafts.read_bytes()
        await here.interrupt()
        session_id = session.session_id
    drafts.write_bytes(kept)  # as a kill would have left it
    async with desk(tmp_path, monkeypatch, session_id) as again:
        await again.until(lambda: again.chat.prompt_box.text == "it waits\n\nhalf a thought")


async def test_what_is_typed_before_anything_was_said_is_kept_for_the_next_new_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The session itself leaves no trace, or after a crash one that nobody opens."""
    async with desk(tmp_path, monkeypatch) as here:
        here.chat.prompt_box.set_text("half a thought")
        project = next((tmp_path / "home").rglob("context.jsonl")).parent.parent
        await here.until(lambda: (project / EARLY_NAME.format(os.getpid())).exists())
    assert "half a thought" in (project / EARLY_NAME.format(os.getpid())).read_text()
    assert [each.name for each in project.iterdir() if each.is_dir()] in ([], ["workspace"])
    later = DraftFile(project / "later").read(is_new=True)
    assert later == Drafts("half a thought")


async def test_what_was_kept_stands_before_what_was_typed_while_the_session_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        await here.say("one thing")
        session = here.session
        session.drafts.write(Drafts("half a thought", ("it waits",)), is_new=False)
        here.chat.prompt_box.set_text("typed at once")
        await here.chat.drafts.take_up(None, session)
        whole = "it waits\n\nhalf a thought\n\ntyped at once"
        assert here.chat.prompt_box.text == whole
        await here.until(lambda: session.drafts.read(is_new=False) == Drafts(whole))


async def test_what_is_typed_is_kept_by_the_session_that_it_moves_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        await here.say("one thing")
        before = here.session
        here.chat.prompt_box.set_text("half a thought")
        here.app.chat_screen.run_command("fork")
        await here.until(lambda: here.chat.session is not before)
        session = here.session
        await here.until(lambda: session.drafts.read(is_new=False) == Drafts("half a thought"))
        assert before.drafts.read(is_new=False) == Drafts()


async def test_the_session_before_is_closed_where_the_next_one_cannot_be_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_file: DraftFile, *, is_new: bool) -> Drafts:
        raise OSError("the disk went away")

    async with desk(tmp_path, monkeypatch) as here:
        await here.say("one thing")
        before, engine = here.session, here.chat.engine
        assert engine is not None
        again = await engine.open_session(before.session_id)
        assert again.read_only
        after = await engine.new_session()
        with monkeypatch.context() as patched:
            patched.setattr(DraftFile, "read", refuse)
            with pytest.raises(OSError, match="went away"):
                await here.chat.show_session(after)
        assert await again.is_free()
        await again.close()


async def test_a_prompt_cleared_by_ctrl_c_comes_back_with_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        here.chat.prompt_box.set_text("half a thought")
        await here.pilot.press("ctrl+c")
        assert here.chat.prompt_box.text == ""
        await here.pilot.press("up")
        assert here.chat.prompt_box.text == "half a thought"


async def test_no_toast_ever_covers_the_prompt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        here.app.notify("Copied")
        await here.until(lambda: here.chat.prompt_box.frame.notice == "Copied")
        assert not here.app._notifications


async def test_a_blank_row_stands_over_what_is_queued(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        await _busy(here, "first")
        queue = here.chat.prompt_box.queue
        assert queue.region.y == here.chat.prompt_box.region.y + 1
        await here.interrupt()
