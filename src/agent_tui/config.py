"""Settings: defaults, then the user's config file, the environment and flags, each winning."""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agent_tui.core.errors import ConfigError


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ProviderSettings(_Section):
    """Where the model is reached; the key itself never stands in a file of a project."""

    base_url: str | None = None
    api_key_env: str = Field(default="OPENAI_API_KEY", pattern="^[A-Za-z_][A-Za-z0-9_]*$")
    timeout_seconds: float = Field(default=120.0, gt=0)


class ContextSettings(_Section):
    """When and how the context is compacted. ``window`` 0 means: what is known of the model."""

    window: int = Field(default=0, ge=0)
    reserved: int = Field(default=50_000, ge=0)
    ratio: float = Field(default=0.85, gt=0, le=1)
    auto_compact: bool = True
    preview_auto: bool = False
    strategy: Literal["last-messages", "last-share", "recent-tokens", "fallback"] = "last-messages"


class AgentSettings(_Section):
    """How far a turn may go."""

    max_steps: int = Field(default=100, ge=1)
    max_attempts: int = Field(default=5, ge=1)


class UiSettings(_Section):
    """How the screen looks."""

    theme: str = ""


class Settings(_Section):
    """All settings; every field can stand in ``config.toml`` under its own name."""

    model: str = ""
    provider: ProviderSettings = ProviderSettings()
    context: ContextSettings = ContextSettings()
    agent: AgentSettings = AgentSettings()
    ui: UiSettings = UiSettings()


def config_path() -> Path:
    """Where the user's config file is expected: AGENT_TUI_HOME, or the platform's config folder."""
    home = os.environ.get("AGENT_TUI_HOME")
    if home:
        return Path(home) / "config.toml"
    from platformdirs import user_config_path

    return user_config_path("agent-tui") / "config.toml"


def data_root() -> Path:
    """Where sessions are kept: AGENT_TUI_HOME, or the platform's data folder."""
    home = os.environ.get("AGENT_TUI_HOME")
    if home:
        return Path(home).absolute()
    from platformdirs import user_data_path

    return user_data_path("agent-tui")


def load_settings(path: Path | None = None, *, model: str = "") -> Settings:
    """Read the settings of this run.

    Raises:
        ConfigError: the file is not TOML or a field is wrong; names file, line and field.
    """
    path = path or config_path()
    fields = _read(path)
    if base_url := os.environ.get("OPENAI_BASE_URL"):
        fields.setdefault("provider", {})
        if isinstance(fields["provider"], dict):
            fields["provider"]["base_url"] = base_url
    if chosen := model or os.environ.get("AGENT_TUI_MODEL", ""):
        fields["model"] = chosen
    try:
        return Settings.model_validate(fields)
    except ValidationError as error:
        raise _config_error(path, error) from None


def _read(path: Path) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read as a UTF-8 text file: {error}.") from None
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path} is not valid TOML: {error}. Mend that line.") from None


def _config_error(path: Path, error: ValidationError) -> ConfigError:
    """Names file, line and field; never what stands in a field that may hold a key."""
    first = error.errors()[0]
    names = [str(name) for name in first["loc"]]
    line = _line_of(path, names)
    where = f"{path}, line {line}" if line else str(path)
    field = ".".join(names)
    if first["type"] == "extra_forbidden":
        known = ", ".join(_known_fields(names[:-1]))
        return ConfigError(f"{where}: there is no setting {field}; known here: {known}.")
    if "key" in names[-1]:
        return ConfigError(
            f"{where}, field {field}: expected the name of an environment variable, such as "
            "OPENAI_API_KEY, never a key itself."
        )
    got = repr(first["input"])
    return ConfigError(f"{where}, field {field}: {first['msg']}, but it is {got[:80]}.")


def _known_fields(names: list[str]) -> list[str]:
    section: type[BaseModel] = Settings
    for name in names:
        found = section.model_fields[name].annotation
        if isinstance(found, type) and issubclass(found, BaseModel):
            section = found
    return list(section.model_fields)


def _line_of(path: Path, names: list[str]) -> int:
    """The line that sets a field, or else the table or inline table that holds it; 0 for none."""
    table: list[str] = []
    found, depth = 0, 0
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError:
        return 0
    for number, line in enumerate(lines, 1):
        if heading := re.match(r"\s*\[([^\]]+)\]", line):
            table = place = _split_key(heading.group(1))
        elif key := re.match(r"\s*([^=#]+?)\s*=", line):
            place = table + _split_key(key.group(1))
        else:
            continue
        if len(place) > depth and names[: len(place)] == place:
            found, depth = number, len(place)
    return found


def _split_key(key: str) -> list[str]:
    return [part.strip(" \t\"'") for part in key.split(".")]
