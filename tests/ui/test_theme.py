"""Every theme gives every token, follows its own colours, and can be read where it stands."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from rich._palettes import EIGHT_BIT_PALETTE
from rich.color import ColorSystem
from textual.color import Color
from textual.filter import ANSIToTruecolor
from textual.theme import BUILTIN_THEMES, Theme
from textual.widgets import Static

from agent_tui.runtime.machine.terminal import is_dark_terminal
from agent_tui.ui.renderers.diff import has_diff_grounds
from agent_tui.ui.screens.dialogs.picker import PickerScreen
from agent_tui.ui.themes.contrast import MARK, TEXT, luminance, readable
from agent_tui.ui.themes.few_colours import few_colour_tokens
from agent_tui.ui.themes.palette import read_palette
from agent_tui.ui.themes.theme import ANSI, ANSI_LIGHT, DARK, OFFERED, THEMES, tokens_of
from agent_tui.ui.themes.themed import ThemedApp
from tests.ui.stage import Stage

KNOWN = BUILTIN_THEMES | {theme.name: theme for theme in THEMES}
COLOURFUL = [theme for theme in KNOWN.values() if not theme.ansi]
NO_TEXT = {"line", "edge", "gauge-track", "gauge-trigger"}
NO_TEXT |= {"selection", "selected", "cursor", "hover"}
GROUNDS = ("background", "surface", "popup", "code-surface", "user-surface")
ROWS = (*GROUNDS, "hover", "cursor", "selected")

XTERM = dict(
    zip(
        ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"),
        ("#000000", "#cd0000", "#00cd00", "#cdcd00", "#0000ee", "#cd00cd", "#00cdcd", "#e5e5e5"),
        strict=True,
    )
)
XTERM |= {
    "bright_black": "#7f7f7f",
    "bright_red": "#ff0000",
    "bright_green": "#00ff00",
    "bright_yellow": "#ffff00",
    "bright_magenta": "#ff00ff",
    "bright_cyan": "#00ffff",
    "bright_white": "#ffffff",
}


def variables(theme: Theme) -> dict[str, str]:
    base = theme.to_color_system().generate()
    return base | tokens_of(theme, base)


def shown_in_256(theme: Theme) -> dict[str, str]:
    """What a terminal shows for each token when Rich has brought it down to 256 colours."""
    found = few_colour_tokens(theme, theme.to_color_system().generate())
    for name, value in found.items():
        if value.startswith("#"):
            sent = Color.parse(value).rich_color.downgrade(ColorSystem.EIGHT_BIT)
            found[name] = Color(*EIGHT_BIT_PALETTE[sent.number or 0]).hex
    return found


def in_sixteen(colour: str) -> int | None:
    """The number of the colour that Rich makes of one for a terminal with sixteen."""
    return Color.parse(colour).rich_color.downgrade(ColorSystem.STANDARD).number


def contrast(one: Color, other: Color) -> float:
    """The ratio of WCAG 2.1, from 1 (the same) to 21 (black on white)."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def ratio(found: dict[str, str], text: str, ground: str) -> float:
    return contrast(Color.parse(found[text]), Color.parse(found[ground]))


def own_tokens() -> list[str]:
    return list(tokens_of(DARK, DARK.to_color_system().generate()))


def texts() -> list[str]:
    """The tokens that colour words."""
    names = [name for name in own_tokens() if not name.endswith("-surface")]
    backgrounds = {*GROUNDS, *NO_TEXT, "panel"}
    textual = ("block-", "input-", "screen-", "scrollbar", "footer-", "border", "link-", "share-")
    return [name for name in names if name not in backgrounds and not name.startswith(textual)]


def test_there_are_themes_to_choose_from() -> None:
    assert len(OFFERED) >= 8
    assert set(OFFERED) <= KNOWN.keys()
    assert {KNOWN[name].dark for name in OFFERED} == {True, False}


@pytest.mark.parametrize("theme", KNOWN.values(), ids=lambda theme: theme.name)
def test_a_theme_gives_every_token(theme: Theme) -> None:
    found = variables(theme)
    assert set(own_tokens()) <= found.keys()
    read_palette(found)


@pytest.mark.parametrize("found_in", [variables, shown_in_256])
@pytest.mark.parametrize("theme", COLOURFUL, ids=lambda theme: theme.name)
def test_text_can_be_read_on_every_ground_it_may_stand_on(
    theme: Theme, found_in: Callable[[Theme], dict[str, str]]
) -> None:
    found = found_in(theme)
    for name in texts():
        grounds: tuple[str, ...] = GROUNDS if name.startswith("gauge-") else ROWS
        if name.startswith("code-"):
            grounds = (*GROUNDS, "diff-added-surface", "diff-removed-surface")
        if name.startswith("diff-"):
            grounds = ("background", f"{name}-surface")
        for ground in grounds:
            assert ratio(found, name, ground) >= TEXT, (name, ground)


@pytest.mark.parametrize("found_in", [variables, shown_in_256])
@pytest.mark.parametrize("theme", COLOURFUL, ids=lambda theme: theme.name)
def test_marks_and_bars_stand_out(
    theme: Theme, found_in: Callable[[Theme], dict[str, str]]
) -> None:
    found = found_in(theme)
    for number in range(1, 6):
        assert ratio(found, f"share-{number}", "background") >= MARK
    assert ratio(found, "gauge-trigger", "gauge-track") >= MARK
    assert ratio(found, "border", "background") >= MARK


@pytest.mark.parametrize("theme", COLOURFUL, ids=lambda theme: theme.name)
def test_in_256_colours_rows_and_lines_of_diffs_are_told_apart(theme: Theme) -> None:
    found = shown_in_256(theme)
    for name in ("hover", "cursor", "selected", "selection", "line", "gauge-track"):
        assert found[name] != found["background"], name
    kinds = ["diff-added", "diff-removed"]
    if has_diff_grounds(found):
        kinds = ["diff-added-surface", "diff-removed-surface", "background"]
        assert not {found[name] for name in kinds[:2]} & {found["code-surface"], found["popup"]}
    for plain in ("foreground", "muted"):
        assert len({found[name] for name in [*kinds, plain]}) == len(kinds) + 1, plain


@pytest.mark.parametrize("name", OFFERED)
def test_what_has_a_hue_is_no_grey_in_256_colours(name: str) -> None:
    theme = KNOWN[name]
    every, few = variables(theme), shown_in_256(theme)
    for token in ("ok", "attention", "danger", "user", "assistant", "diff-added", "diff-removed"):
        if not theme.ansi and _chroma(every[token]) >= 40:
            assert _chroma(few[token]) > 0, token
    assert few["attention"] != few["danger"]


def _chroma(colour: str) -> int:
    parts = Color.parse(colour).rgb
    return max(parts) - min(parts)


def test_a_dark_tint_is_a_grey_in_256_colours() -> None:
    found = shown_in_256(DARK)
    assert found["selected"] == "#444444"
    assert not has_diff_grounds(found)


@pytest.mark.parametrize("theme", COLOURFUL, ids=lambda theme: theme.name)
def test_the_thumb_of_a_scroll_bar_is_seen_in_sixteen_colours(theme: Theme) -> None:
    found = few_colour_tokens(theme, theme.to_color_system().generate(), in_sixteen=True)
    for name in ("scrollbar", "scrollbar-hover", "scrollbar-active"):
        assert in_sixteen(found[name]) != in_sixteen(found["scrollbar-background"]), name


@pytest.mark.parametrize(("term", "system"), [("xterm-256color", "256"), ("xterm", "standard")])
def test_a_chosen_theme_is_in_the_colours_that_the_terminal_has(
    monkeypatch: pytest.MonkeyPatch, term: str, system: str
) -> None:
    monkeypatch.setenv("TERM", term)
    monkeypatch.setenv("COLORTERM", "")
    app: ThemedApp[None] = ThemedApp()
    app.theme = "high-contrast"
    theme = app.current_theme
    base = theme.to_color_system().generate()
    expected = few_colour_tokens(theme, base, in_sixteen=system == "standard")
    assert expected.items() <= app.get_css_variables().items()
    assert expected != tokens_of(theme, base)


def test_a_change_of_theme_leaves_no_colour_behind() -> None:
    one, other = variables(KNOWN["nord"]), variables(KNOWN["gruvbox"])
    same = [name for name in own_tokens() if one[name] == other[name]]
    assert [name for name in same if one[name].startswith("#")] == []


@pytest.mark.parametrize("theme", [ANSI, ANSI_LIGHT], ids=lambda theme: theme.name)
def test_sixteen_colours_are_the_terminals_own_and_can_be_read(theme: Theme) -> None:
    found = variables(theme)
    ground = Color.parse("#000000" if theme.dark else "#ffffff")
    for name in texts():
        value = found[name]
        assert value.startswith("ansi_"), name
        if value != "ansi_default":
            colour = Color.parse(XTERM[value.removeprefix("ansi_")])
            assert contrast(colour, ground) >= TEXT, (name, value)


def test_a_colour_that_can_be_read_stays_as_it_is() -> None:
    black, white, grey = (Color.parse(name) for name in ("#000000", "#ffffff", "#777777"))
    assert readable(white, [black]) == white
    assert contrast(readable(grey, [grey.blend(black, 0.5)]), grey.blend(black, 0.5)) >= TEXT
    assert readable(grey, [white], 21.0) == black


@pytest.mark.parametrize(
    ("value", "dark"), [("15;0", True), ("0;15", False), ("0;default;7", False), ("", True)]
)
def test_a_terminal_that_says_its_colours_is_followed(value: str, dark: bool) -> None:
    assert is_dark_terminal({"COLORFGBG": value}) is dark
    assert is_dark_terminal({})


@pytest.mark.parametrize(
    ("terminal", "background", "theme"),
    [
        ({"TERM": "xterm", "COLORTERM": ""}, "15;0", "agent-16"),
        ({"TERM": "xterm", "COLORTERM": ""}, "0;15", "agent-16-light"),
        ({"TERM": "xterm-256color", "COLORTERM": ""}, "15;0", "agent-dark"),
        ({"TERM": "xterm", "COLORTERM": "truecolor"}, "0;15", "agent-light"),
    ],
)
def test_the_first_theme_is_one_that_the_terminal_has_the_colours_for(
    monkeypatch: pytest.MonkeyPatch, terminal: dict[str, str], background: str, theme: str
) -> None:
    for name, value in {**terminal, "COLORFGBG": background}.items():
        monkeypatch.setenv(name, value)
    app: ThemedApp[None] = ThemedApp()
    assert app.theme == theme
    dark = theme in ("agent-dark", "agent-16")
    assert app.usual_theme(dark=not dark).dark is not dark
    turned = [each for each in app.get_line_filters() if isinstance(each, ANSIToTruecolor)]
    assert bool(turned) is not theme.startswith("agent-16"), "the terminal's colours stay its own"


@pytest.mark.parametrize("theme", [DARK, ANSI, ANSI_LIGHT], ids=lambda theme: theme.name)
async def test_what_is_below_a_popup_can_be_read(theme: Theme) -> None:
    app = Stage([Static("said before")], PickerScreen("Model", []), theme=theme.name)
    async with app.run_test(size=(100, 40)) as pilot:
        await pilot.pause()
        assert "said before" in app.text.splitlines()[0]


async def test_what_is_below_a_popup_can_be_read_without_colours(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = Stage([Static("said before")], PickerScreen("Model", []))
    async with app.run_test(size=(100, 40)) as pilot:
        await pilot.pause()
        assert "said before" in app.text.splitlines()[0]
