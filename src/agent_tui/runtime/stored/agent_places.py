"""Where other agents keep their sessions on this machine, as settings and environment say."""

from __future__ import annotations

import os
from pathlib import Path

from agent_tui.config.settings import Settings
from agent_tui.importers.importer import Places


def agent_places(settings: Settings) -> Places:
    """The folders of other agents; those that the settings name win."""
    chosen = {name: Path(p).expanduser() for name, p in settings.library.folders.items()}
    return Places(Path.home(), dict(os.environ), chosen)
