"""The settings of one run: the user's, a trusted project's, the environment's and the flags."""

from __future__ import annotations

from agent_tui.config import ResolvedSettings, Settings, resolve_settings
from agent_tui.config.trust import is_trusted
from agent_tui.runtime.starting.launch import Launch


def trusts_project(launch: Launch) -> bool:
    """Whether what the workspace ships may be used."""
    return launch.trust or is_trusted(launch.cwd)


def resolve_run(launch: Launch, *, trusted: bool | None = None) -> ResolvedSettings:
    """The settings with their origins; ``trusted`` overrides the stored decision for the folder.

    Raises:
        ConfigError: a config file is wrong.
    """
    is_ours = trusts_project(launch) if trusted is None else trusted
    named = {("model",): launch.model} if launch.model else {}
    return resolve_settings(
        flags=named | dict(launch.flags),
        assigned=dict(launch.assigned),
        project=None if launch.demo else launch.cwd,
        trusts=lambda _: is_ours,
    )


def places_of(launch: Launch, section: str) -> dict[str, str]:
    """Where each setting of a section was set: file and line, variable or flag. Blocks."""
    origins = resolve_run(launch).origins()
    return {names[1]: origin.place for names, (_, origin) in origins.items() if names[0] == section}


def read_settings(launch: Launch, *, trusted: bool | None = None) -> Settings:
    """The settings; see ``resolve_run``."""
    return resolve_run(launch, trusted=trusted).settings
