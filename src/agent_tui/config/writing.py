"""Changes the user's config file: comments and order stay as they are."""

from __future__ import annotations

import os
import tempfile
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent_tui.config.layers import Layer
from agent_tui.config.loading import validate
from agent_tui.config.reading import read_config_text, split_key
from agent_tui.core.errors import ConfigError

if TYPE_CHECKING:
    from tomlkit.items import Array

_SCHEMA_FILE = "config.schema.json"
HEADING = f"#:schema ./{_SCHEMA_FILE}\n"
"""What editors read to know the fields; the schema is written beside the file."""


def set_value(path: Path, key: str | Sequence[str], value: Any) -> None:
    """Write one value, or a table of them, under a dotted key.

    Raises:
        ConfigError: the key is not known, the value does not fit, or the file cannot be written.
    """
    _change(path, _names(key), value)


def unset_value(path: Path, key: str | Sequence[str]) -> bool:
    """Remove a value, so that the default holds again; False where it was not set."""
    names = _names(key)
    table: Any = tomllib.loads(read_config_text(path) or "")
    for name in names:
        if not isinstance(table, dict) or name not in table:
            return False
        table = table[name]
    _change(path, names, None)
    return True


def parse_value(text: str) -> Any:
    """A value as it is typed: TOML where it is TOML, else the text itself."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def parse_assignment(text: str) -> tuple[tuple[str, ...], Any]:
    """The names and the value of ``KEY=VALUE``, as given on the command line."""
    key, equals, value = text.partition("=")
    if not equals:
        raise ConfigError(f"--set expects KEY=VALUE, such as context.ratio=0.7, not {text!r}.")
    return tuple(_names(key.strip())), parse_value(value.strip())


def _names(key: str | Sequence[str]) -> list[str]:
    names = split_key(key) if isinstance(key, str) else list(key)
    if not names:
        raise ConfigError("Expected the name of a setting, such as context.ratio.")
    return names


def _change(path: Path, names: list[str], value: Any) -> None:
    import tomlkit
    from tomlkit.exceptions import TOMLKitError
    from tomlkit.items import Array

    try:
        document = tomlkit.parse(read_config_text(path))
    except TOMLKitError as error:
        raise ConfigError(f"{path} is not valid TOML: {error}. Fix that line.") from None
    table: Any = document
    for name in names[:-1]:
        if name not in table:
            table[name] = tomlkit.table(is_super_table=True)
        table = table[name]
        if not isinstance(table, dict):
            raise ConfigError(f"{name} is a value: it has no settings below it.")
    if value is None:
        table.pop(names[-1], None)
    elif isinstance(value, list) and isinstance(table.get(names[-1]), Array):
        _change_array(table[names[-1]], value)
    else:
        table[names[-1]] = value
    text = tomlkit.dumps(document)
    validate((Layer("user", tomllib.loads(text), path),))
    write_config(path, text)


def _change_array(array: Array, values: list[Any]) -> None:
    """Take out and append in place: what stays keeps the comments around it."""
    stay = 0
    for value in list(array):
        if stay < len(values) and value == values[stay]:
            stay += 1
        else:
            del array[stay]
    array.extend(values[stay:])


def write_config(path: Path, text: str) -> None:
    """Put a file in place whole, for its owner only; a link keeps pointing at it."""
    target = path.resolve()
    try:
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(text.encode("utf-8"))
                file.flush()
                os.fsync(file.fileno())
            Path(name).replace(target)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise ConfigError(f"{target} cannot be written: {error.strerror or error}.") from None


def write_schema(folder: Path) -> Path:
    """Write the JSON schema of the settings, for editors."""
    from agent_tui.config.schema import schema_text

    path = folder / _SCHEMA_FILE
    write_config(path, schema_text())
    return path
