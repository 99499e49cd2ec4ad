"""Which servers there are: those of the user's settings, and of a trusted project's .mcp.json."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from agent_tui.config import McpServerSettings, Settings
from agent_tui.config.reading import read_regular_file
from agent_tui.core.dataclass import dataclass
from agent_tui.core.errors import ConfigError
from agent_tui.mcp.names import check_server_name

PROJECT_FILE = ".mcp.json"
_LARGEST = 1_000_000
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
_KNOWN = frozenset({"command", "args", "env", "cwd", "url", "headers"})


@dataclass(frozen=True, slots=True)
class ServerSpec:
    """One server to start; ``folder`` is where its command runs, ``source`` who named it."""

    name: str
    settings: McpServerSettings
    source: str
    folder: Path | None = None

    @property
    def pin_name(self) -> str:
        """What its tools are accepted under: two projects may each have a server of one name."""
        return self.name if self.folder is None else f"{self.name}@{self.folder}"

    @property
    def working_folder(self) -> Path | None:
        """Where its command is started; None for the folder of this program."""
        return Path(self.settings.cwd).expanduser() if self.settings.cwd else self.folder

    @property
    def place(self) -> str:
        """The command or the address, for people; what may be a key is not in it."""
        chosen = self.settings
        if chosen.url:
            return chosen.url.partition("?")[0].rpartition("@")[2]
        return " ".join((chosen.command, *chosen.args))


@dataclass(frozen=True, slots=True)
class FoundServers:
    """The servers, and a sentence for each that cannot be used."""

    specs: tuple[ServerSpec, ...]
    troubles: tuple[str, ...] = field(default=())


def find_servers(
    settings: Settings, project: Path | None = None, secret_names: Collection[str] = ()
) -> FoundServers:
    """Every server that is set up; the user's own win over a project's of the same name.

    Args:
        settings: the settings of this run.
        project: the workspace, if it is trusted; else its servers are not even read.
        secret_names: variables that a project's file must not read: they hold keys.
    """
    specs: dict[str, ServerSpec] = {}
    troubles: list[str] = []
    rows: list[tuple[str, McpServerSettings, str, Path | None]] = [
        (name, chosen, "settings", None) for name, chosen in settings.mcp.servers.items()
    ]
    if project is not None:
        try:
            named = read_mcp_json(project / PROJECT_FILE, secret_names)
        except ConfigError as error:
            troubles.append(str(error))
            named = {}
        rows += [(name, chosen, PROJECT_FILE, project) for name, chosen in named.items()]
    for name, chosen, source, folder in rows:
        try:
            check_server_name(name)
            _check(name, chosen)
        except ConfigError as error:
            troubles.append(str(error))
        else:
            specs.setdefault(name, ServerSpec(name, chosen, source, folder))
    return FoundServers(tuple(specs.values()), tuple(troubles))


def _check(name: str, chosen: McpServerSettings) -> None:
    if bool(chosen.command) == bool(chosen.url):
        raise ConfigError(f"MCP server {name}: expected either a command or a url.")
    if chosen.url and not chosen.url.startswith(("http://", "https://")):
        raise ConfigError(f"MCP server {name}: its url must begin with http:// or https://.")


def read_mcp_json(path: Path, secret_names: Collection[str] = ()) -> dict[str, McpServerSettings]:
    """The servers of a file of the common shape: ``{"mcpServers": {NAME: {...}}}``.

    ``${VAR}`` and ``${VAR:-default}`` are replaced from the environment. A file that is not there
    names no servers.

    Raises:
        ConfigError: it cannot be read, or a server in it makes no sense.
    """
    try:
        found = json.loads(read_regular_file(path, _LARGEST))
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}.") from None
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path} is not valid JSON: {error}.") from None
    servers = found.get("mcpServers") if isinstance(found, dict) else None
    if not isinstance(servers, dict):
        raise ConfigError(f'{path}: expected {{"mcpServers": {{NAME: {{"command": …}}}}}}.')
    return {
        str(name): _read_server(path, str(name), fields, secret_names)
        for name, fields in servers.items()
    }


def _read_server(
    path: Path, name: str, fields: Any, secret_names: Collection[str]
) -> McpServerSettings:
    if not isinstance(fields, dict):
        raise ConfigError(f"{path}: server {name} is not an object.")
    if fields.get("type") == "sse":
        raise ConfigError(f"{path}: server {name} uses the old SSE transport; expected http.")
    known = {key: value for key, value in fields.items() if key in _KNOWN}
    if fields.get("disabled") is True:
        known["enabled"] = False
    try:
        return McpServerSettings.model_validate(_expand(known, os.environ, secret_names))
    except KeyError as error:
        raise ConfigError(f"{path}: server {name} needs the variable {error.args[0]}.") from None
    except PermissionError as error:
        raise ConfigError(
            f"{path}: server {name} asks for {error}; projects do not get your keys. "
            "Add the server to your own settings with: agent-tui mcp add"
        ) from None
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(each) for each in first["loc"])
        raise ConfigError(f"{path}: server {name}, field {where}: {first['msg']}.") from None


def _expand(value: Any, environment: Mapping[str, str], secret_names: Collection[str]) -> Any:
    if isinstance(value, dict):
        return {key: _expand(each, environment, secret_names) for key, each in value.items()}
    if isinstance(value, list):
        return [_expand(each, environment, secret_names) for each in value]
    if not isinstance(value, str):
        return value

    def replace(match: re.Match[str]) -> str:
        name, default = match[1], match[2]
        if name in secret_names:
            raise PermissionError(name)
        if default is not None:
            return environment.get(name) or default
        return environment[name]

    return _VARIABLE.sub(replace, value)
