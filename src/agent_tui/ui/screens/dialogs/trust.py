"""The question whether what a folder ships for agents may be used."""

from __future__ import annotations

from collections.abc import Sequence

from agent_tui.core.text import reveal
from agent_tui.ui.screens.dialogs.grant import GrantScreen
from agent_tui.ui.screens.dialogs.typed_answers import Draft

_MOST_SHOWN = 8


class TrustScreen(GrantScreen):
    """Is dismissed with True when the folder is trusted; Esc and Enter leave it untrusted.

    Args:
        folder: what is asked about.
        shipped: the files that would be used.
        draft: the prompt behind the question: what is typed goes there.
    """

    def __init__(self, folder: str, shipped: Sequence[str], draft: Draft | None = None) -> None:
        names = "\n".join(f"  {reveal(name)}" for name in shipped[:_MOST_SHOWN])
        more = f"\n  and {len(shipped) - _MOST_SHOWN} more" if len(shipped) > _MOST_SHOWN else ""
        super().__init__(
            "Trust this folder?",
            f"{reveal(folder)} ships files that tell the agent what to do:\n{names}{more}\n\n"
            "Without trust they are not used; everything else works.",
            "Trust the folder",
            "Continue without",
            draft,
        )
