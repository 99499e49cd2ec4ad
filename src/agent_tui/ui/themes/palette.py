"""The Rich styles that timeline blocks are drawn with, read once from the theme in force."""

from __future__ import annotations

from collections.abc import Mapping

from rich.style import Style
from textual.color import Color

from agent_tui.core.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Palette:
    """One style for each thing a block can say; those named surface are backgrounds only."""

    base: Style
    text: Style
    muted: Style
    faint: Style
    line: Style
    user: Style
    user_surface: Style
    assistant: Style
    thinking: Style
    tool: Style
    checkpoint: Style
    compaction: Style
    ok: Style
    attention: Style
    danger: Style
    code: Style
    code_surface: Style
    link: Style
    heading: Style
    added: Style
    added_surface: Style
    removed: Style
    removed_surface: Style
    keyword: Style
    name: Style
    string: Style
    number: Style
    comment: Style
    operator: Style


def read_palette(variables: Mapping[str, str]) -> Palette:
    """The palette of a theme, given the app's ``theme_variables``."""
    ground = Color.parse(variables["background"]).rich_color

    def fore(name: str, attributes: str = "") -> Style:
        colour = Color.parse(variables[name]).rich_color
        return Style.parse(attributes) + Style(color=colour, bgcolor=ground)

    def back(name: str) -> Style:
        return Style(bgcolor=Color.parse(variables[name]).rich_color)

    return Palette(
        base=fore("foreground"),
        text=fore("foreground"),
        muted=fore("muted"),
        faint=fore("faint"),
        line=fore("line"),
        user=fore("user"),
        user_surface=back("user-surface"),
        assistant=fore("assistant"),
        thinking=fore("thinking", "italic"),
        tool=fore("tool"),
        checkpoint=fore("checkpoint"),
        compaction=fore("compaction"),
        ok=fore("ok"),
        attention=fore("attention"),
        danger=fore("danger"),
        code=fore("tool"),
        code_surface=back("code-surface"),
        link=fore("user", "underline"),
        heading=fore("foreground", "bold"),
        added=fore("diff-added"),
        added_surface=back("diff-added-surface"),
        removed=fore("diff-removed"),
        removed_surface=back("diff-removed-surface"),
        keyword=fore("code-keyword"),
        name=fore("code-name"),
        string=fore("code-string"),
        number=fore("code-number"),
        comment=fore("code-comment", "italic"),
        operator=fore("code-operator"),
    )
