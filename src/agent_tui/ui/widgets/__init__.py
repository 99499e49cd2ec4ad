"""One module a widget."""

from __future__ import annotations

from typing import Any

from textual.app import App
from textual.widget import Widget

from agent_tui.resources import stylesheet


def read_defaults(app: App[Any], *widgets: Widget) -> None:
    """Read what Textual says of widgets before the first of them is styled.

    It would read it widget by widget, and parse what is said of their base classes each time.
    """
    for widget in widgets:
        for place, css, tie_breaker, scope in widget._get_default_css():
            app.stylesheet.add_source(
                css, read_from=place, is_default_css=True, tie_breaker=tie_breaker, scope=scope
            )


def read_sheets(app: App[Any], *names: str) -> None:
    """Read stylesheets for what is about to be mounted; those that are read already cost nothing.

    Args:
        app: whose styles they become.
        names: their names, as for ``stylesheet``; of rules of equal weight the last one wins.
    """
    sheets = app.stylesheet
    new = [path for path in map(stylesheet, names) if not sheets.has_source(str(path))]
    if new:
        sheets.read_all(new)
        sheets.parse()  # Textual would still choose for the next widget from the rules of before
