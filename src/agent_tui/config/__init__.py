"""Settings in layers: defaults, user, trusted project, environment, flags."""

from agent_tui.config.loading import ResolvedSettings, load_settings, resolve_settings
from agent_tui.config.settings import (
    AgentSettings,
    ContextSettings,
    McpServerSettings,
    McpSettings,
    ModelSettings,
    ProviderSettings,
    Settings,
    UiSettings,
    WorkspaceSettings,
)
from agent_tui.places import config_path, data_root, project_config_path

__all__ = [
    "AgentSettings",
    "ContextSettings",
    "McpServerSettings",
    "McpSettings",
    "ModelSettings",
    "ProviderSettings",
    "ResolvedSettings",
    "Settings",
    "UiSettings",
    "WorkspaceSettings",
    "config_path",
    "data_root",
    "load_settings",
    "project_config_path",
    "resolve_settings",
]
