"""Reads every layer of settings and says of each value where it comes from."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from agent_tui.config.layers import Layer, Names, SettingOrigin, leaves, merge, setter_of
from agent_tui.config.reading import line_of, read_toml
from agent_tui.config.settings import Settings
from agent_tui.core.dataclass import dataclass
from agent_tui.core.errors import ConfigError
from agent_tui.places import config_path, project_config_path

VARIABLES: dict[str, Names] = {
    "AGENT_TUI_MODEL": ("model",),
    "OPENAI_BASE_URL": ("providers", "openai", "base_url"),
    "ANTHROPIC_BASE_URL": ("providers", "anthropic", "base_url"),
    "MOONSHOT_BASE_URL": ("providers", "kimi", "base_url"),
}
"""The environment's variables and what they set."""
_OPTIONS: dict[Names, str] = {
    ("model",): "--model",
    ("thinking",): "--thinking",
    ("agent", "max_steps"): "--max-steps",
    ("agent", "max_cost"): "--max-cost",
    ("agent", "max_seconds"): "--max-time",
    ("commands", "sandbox"): "--sandbox",
    ("approvals", "mode"): "--mode",
}
"""The options that set something by another name than its own."""
USERS_ONLY = ("providers", "provider", "mcp", "approvals", "commands", "library", "web", "keys")
"""What a project never sets: where secrets come from and go, what is started, what a key does."""


@dataclass(frozen=True, slots=True)
class ResolvedSettings:
    """The settings of a run and where each of them was set."""

    settings: Settings
    layers: tuple[Layer, ...]

    def origins(self) -> dict[Names, tuple[Any, SettingOrigin]]:
        """Every value that can be told, with its origin, in the order of the settings."""
        return {
            names: (value, self._origin(names))
            for names, value in leaves(self.settings.model_dump(mode="json"))
        }

    def _origin(self, names: Names) -> SettingOrigin:
        layer = setter_of([layer for layer in self.layers if _says(layer.values, names)], names)
        if layer is None:
            return SettingOrigin("default")
        if layer.path is not None:
            line = line_of(layer.path, names)
            return SettingOrigin(layer.name, f"{layer.path}:{line}" if line else str(layer.path))
        return SettingOrigin(layer.name, layer.sources.get(names, ""))


def load_settings(
    path: Path | None = None,
    *,
    model: str = "",
    flags: Mapping[Names, Any] | None = None,
    project: Path | None = None,
    trusts: Callable[[Path], bool] | None = None,
) -> Settings:
    """Read the settings of this run; see ``resolve_settings``."""
    named = {("model",): model} if model else {}
    return resolve_settings(
        path, flags=named | dict(flags or {}), project=project, trusts=trusts
    ).settings


def resolve_settings(
    path: Path | None = None,
    *,
    flags: Mapping[Names, Any] | None = None,
    assigned: Mapping[Names, Any] | None = None,
    project: Path | None = None,
    trusts: Callable[[Path], bool] | None = None,
) -> ResolvedSettings:
    """Read every layer: defaults < user < project < environment < flags.

    Args:
        path: the user's file; by default where the platform keeps it.
        flags: values from options of their own, by their names.
        assigned: values from ``--set``, which win over ``flags``.
        project: the workspace, whose own file is read only once it is trusted.
        trusts: whether a folder is trusted.

    Raises:
        ConfigError: a file is not TOML or a field is wrong; names file, line and field.
    """
    path = path or config_path()
    layers = [Layer("user", read_toml(path), path)]
    if project is not None and trusts is not None and trusts(project):
        layers.append(_project_layer(project_config_path(project)))
    layers += [_environment_layer(os.environ), _flag_layer(flags or {}, assigned or {})]
    return validate(tuple(layers))


def validate(layers: tuple[Layer, ...]) -> ResolvedSettings:
    """The settings that layers make together; raises ConfigError for the first mistake."""
    try:
        return ResolvedSettings(Settings.model_validate(merge(layers)), layers)
    except ValidationError as error:
        from agent_tui.config.mistakes import config_error  # most settings are right

        raise config_error(layers, error) from None


def _project_layer(path: Path) -> Layer:
    values = read_toml(path)
    for name in USERS_ONLY:
        if name in values:
            raise ConfigError(
                f"{path}, line {line_of(path, [name])}: {name} cannot be set by a project, only in "
                f"your own settings. Move it to {config_path()}."
            )
    return Layer("project", values, path)


def _environment_layer(environment: Mapping[str, str]) -> Layer:
    found = {
        names: (environment[name], name)
        for name, names in VARIABLES.items()
        if environment.get(name)
    }
    return _sourced("environment", found)


def _flag_layer(flags: Mapping[Names, Any], assigned: Mapping[Names, Any]) -> Layer:
    found = {names: (value, _OPTIONS[names]) for names, value in flags.items()}
    found |= {names: (value, f"--set {'.'.join(names)}") for names, value in assigned.items()}
    return _sourced("flag", found)


def _sourced(name: Any, found: Mapping[Names, tuple[Any, str]]) -> Layer:
    values: dict[str, Any] = {}
    for names, (value, _) in found.items():
        table = values
        for step in names[:-1]:
            table = table.setdefault(step, {})
        table[names[-1]] = value
    return Layer(name, values, None, {names: source for names, (_, source) in found.items()})


def _says(values: Any, names: Names) -> bool:
    """Whether a layer sets exactly this value."""
    for name in names:
        if not isinstance(values, Mapping) or name not in values:
            return False
        values = values[name]
    return True
