"""Every theme defines every token, and text can be read on the surface it stands on."""

import pytest
from textual.color import Color
from textual.theme import Theme

from agent_tui.ui.palette import read_palette
from agent_tui.ui.theme import ANSI, DARK, LIGHT, THEMES, token_defaults

QUIET = {"line", "hover", "cursor", "selection", "gauge-track"}


def luminance(colour: Color) -> float:
    parts = [part / 255 for part in colour.rgb]
    r, g, b = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(Color.parse(one)), luminance(Color.parse(other))))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_a_theme_defines_every_token(theme: Theme) -> None:
    assert token_defaults(dark=theme.dark).keys() <= theme.variables.keys()
    read_palette(theme.to_color_system().generate() | theme.variables)


@pytest.mark.parametrize("theme", [DARK, LIGHT], ids=lambda theme: theme.name)
def test_text_is_readable_on_its_surface(theme: Theme) -> None:
    assert theme.background is not None
    for name in token_defaults(dark=theme.dark):
        if name in QUIET or name.endswith("-surface"):
            continue
        surface = theme.variables.get(f"{name}-surface", theme.background)
        if name.startswith("code-"):
            surface = theme.variables["code-surface"]
        assert contrast(theme.variables[name], surface) >= 4, name


@pytest.mark.parametrize("theme", [t for t in THEMES if not t.ansi], ids=lambda t: t.name)
@pytest.mark.parametrize("name", ["muted", "faint", "thinking", "fate-dropped", "code-comment"])
def test_quiet_text_is_readable_on_every_surface_and_on_the_selected_row(
    theme: Theme, name: str
) -> None:
    surfaces = {key: theme.variables[key] for key in theme.variables if key.endswith("-surface")}
    surfaces |= {key: theme.variables[key] for key in ("cursor", "hover")}
    for key in ("background", "surface", "panel"):
        surfaces[key] = getattr(theme, key)
    for key, surface in surfaces.items():
        assert contrast(theme.variables[name], surface) >= 4.5, key


def test_sixteen_colours_use_the_terminals_own() -> None:
    values = [ANSI.variables[name] for name in token_defaults(dark=True)]
    assert all(value.startswith("ansi_") for value in values)
