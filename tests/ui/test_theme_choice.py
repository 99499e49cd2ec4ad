"""A theme is seen before it is chosen, chosen for good, and motion can be switched off."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.ui.test_chat_acts import Desk, desk


async def _open(here: Desk) -> None:
    here.app.chat_screen.run_command("theme")
    await here.until(lambda: type(here.app.screen).__name__ == "ThemeScreen")
    await here.pilot.pause()


async def test_the_theme_under_the_cursor_is_seen_and_esc_brings_back_the_one_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, monkeypatch) as here:
        before = here.app.theme
        await _open(here)
        await here.pilot.press("down")
        await here.until(lambda: here.app.theme != before)
        await here.pilot.press("escape")
        await here.until(lambda: here.app.theme == before)
        assert not (tmp_path / "home" / "config.toml").exists()


async def test_a_chosen_theme_is_kept_for_the_next_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "home" / "config.toml"
    async with desk(tmp_path, monkeypatch) as here:
        await _open(here)
        await here.pilot.press("down", "enter")
        await here.until(config.exists)
        chosen = here.app.theme
    assert f'theme = "{chosen}"' in config.read_text()
    async with desk(tmp_path, monkeypatch) as again:
        await again.until(lambda: again.app.theme == chosen)


async def test_with_reduced_motion_nothing_turns_or_blinks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "config.toml").write_text("[ui]\nreduced_motion = true\n")
    async with desk(tmp_path, monkeypatch) as here:
        assert here.app.animation_level == "none"
        here.chat.status.work = "thinking"
        frames = set()
        for _ in range(4):
            frames.add(here.chat.status.render().plain[0])
            await here.pilot.pause(0.3)
        assert len(frames) == 1


async def test_what_is_unfolded_stays_so_for_the_next_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "home" / "config.toml"
    async with desk(tmp_path, monkeypatch) as here:
        assert not here.chat.timeline.shows_all
        await here.pilot.press("ctrl+o")
        await here.until(lambda: config.exists() and "unfold = true" in config.read_text())
    async with desk(tmp_path, monkeypatch) as again:
        assert again.chat.timeline.shows_all
        again.chat.timeline.focus()
        await again.pilot.press("ctrl+o")
        await again.until(lambda: "unfold = false" in config.read_text())
