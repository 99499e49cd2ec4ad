"""The question whether a session may work in a home or system folder."""

from __future__ import annotations

from agent_tui.core.text import reveal
from agent_tui.ui.screens.dialogs.grant import GrantScreen
from agent_tui.ui.screens.dialogs.typed_answers import Draft


class WideFolderScreen(GrantScreen):
    """Is dismissed with True when the session may work in the folder that its log names."""

    def __init__(self, folder: str, workspace: str, draft: Draft | None = None) -> None:
        super().__init__(
            "Work in a home or system folder?",
            f"The folder of this session, {reveal(folder)}, is a home or system folder, not a "
            "project: its tools could read and change everything there.\n"
            f"Otherwise they work in {reveal(workspace)}.",
            f"Work in {reveal(folder)}",
            "Stay here",
            draft,
        )
