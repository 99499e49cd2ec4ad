"""The ``config`` commands: settings shown with their origins, and changed."""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
from pathlib import Path
from typing import Any

from agent_tui.config import ResolvedSettings, config_path, resolve_settings
from agent_tui.config.layers import Names, SettingOrigin
from agent_tui.config.mistakes import may_be_secret
from agent_tui.config.reading import read_config_text, split_key
from agent_tui.config.schema import schema_text
from agent_tui.config.writing import (
    HEADING,
    parse_value,
    set_value,
    unset_value,
    write_config,
    write_schema,
)
from agent_tui.core.errors import AgentTuiError, UsageError
from agent_tui.core.output import complain, say
from agent_tui.headless.printing import to_json
from agent_tui.runtime.starting.launch import Launch
from agent_tui.runtime.starting.run_settings import resolve_run

_HIDDEN = "(hidden)"


def run_settings_command(name: str, launch: Launch, options: argparse.Namespace) -> int:
    """Answer one ``config`` command; returns the exit code."""
    path = config_path()
    match name:
        case "config show":
            resolved = resolve_run(launch)
            _show(resolved, options.key, origin=options.origin, as_json=options.json)
        case "config set":
            set_value(path, options.key, parse_value(options.value))
            say(f"Set {options.key} in {path}.")
        case "config unset":
            removed = unset_value(path, options.key)
            say(f"Removed {options.key} from {path}." if removed else "It was not set.")
        case "config edit":
            return _edit(path)
        case "config schema":
            _write_schema(options.output)
        case "config path":
            say(to_json({"path": str(path)}) if options.json else str(path))
        case _:
            raise ValueError(f"no command {name!r}")
    return 0


def _show(resolved: ResolvedSettings, key: str, *, origin: bool, as_json: bool) -> None:
    wanted = tuple(split_key(key))
    rows = {
        names: (_shown(names, value), place)
        for names, (value, place) in resolved.origins().items()
        if names[: len(wanted)] == wanted
    }
    if not rows:
        raise UsageError(f"There is no setting {key}. List them with: agent-tui config show")
    if as_json:
        say(to_json({_dotted(names): _json_row(row, origin) for names, row in rows.items()}))
        return
    width = max(len(f"{_dotted(names)} = {_toml(value)}") for names, (value, _) in rows.items())
    for names, (value, place) in rows.items():
        line = f"{_dotted(names)} = {_toml(value)}"
        say(f"{line:<{min(width, 60)}}  # {place}" if origin else line)


def _json_row(row: tuple[Any, SettingOrigin], origin: bool) -> Any:
    value, place = row
    return {"value": value, "origin": place.layer, "place": place.place} if origin else value


def _shown(names: Names, value: Any) -> Any:
    """The value; what may be a key itself is hidden, names of variables and files are not."""
    free = {"headers", "env"} & set(names)
    return _HIDDEN if free and value and may_be_secret(names) else value


def _dotted(names: Names) -> str:
    return ".".join(
        name if name.replace("_", "").replace("-", "").isalnum() else f'"{name}"' for name in names
    )


def _toml(value: Any) -> str:
    import tomlkit

    if value is None:
        return "(not set)"
    return tomlkit.item(value).as_string() or "{}"


def _edit(path: Path) -> int:
    """Open the file in the user's editor, and say whether what was saved can be used."""
    if not path.exists():
        write_config(path, HEADING)
    write_schema(path.parent)
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    before = read_config_text(path)
    try:
        code = subprocess.call([*shlex.split(editor), str(path)])
    except OSError as error:
        raise UsageError(
            f"The editor {editor!r} cannot be started: {error.strerror}. Set EDITOR."
        ) from None
    if code != 0:
        raise UsageError(f"The editor {editor!r} ended with exit code {code}.")
    try:
        resolve_settings(path)
    except AgentTuiError as error:
        complain(str(error))
        complain("run agent-tui config edit again to fix it.")
        return 2
    say("Nothing changed." if read_config_text(path) == before else f"Saved {path}.")
    return 0


def _write_schema(output: Path | None) -> None:
    if output is None:
        say(schema_text(), end="")
        return
    write_config(output, schema_text())
    say(str(output))
