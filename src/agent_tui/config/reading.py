"""Reads TOML files, and finds the line that sets a value."""

from __future__ import annotations

import errno
import os
import re
import stat
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agent_tui.core.errors import ConfigError

_LARGEST = 1_000_000


def read_toml(path: Path) -> dict[str, Any]:
    """The values of a file; none where there is no file.

    Raises:
        ConfigError: it is no regular file, too large, no text, or no TOML.
    """
    text = read_config_text(path)
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path} is not valid TOML: {error}. Fix that line.") from None
    except RecursionError:
        raise ConfigError(f"{path} is nested too deeply.") from None


def read_config_text(path: Path) -> str:
    """The text of a config file; empty where there is no file. Never waits for a pipe."""
    try:
        data = read_regular_file(path, _LARGEST + 1)
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}.") from None
    if len(data) > _LARGEST:
        raise ConfigError(f"{path} is larger than {_LARGEST:,} bytes, too large for settings.")
    try:
        return data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} cannot be read as a UTF-8 text file: {error}.") from None


def read_regular_file(path: Path, limit: int, forbidden_mode: int = 0) -> bytes:
    """At most so many bytes of a regular file; never waits for a pipe.

    Raises:
        OSError: it cannot be read, is no regular file, or its mode has a forbidden bit.
    """
    with os.fdopen(open_regular_file(path, forbidden_mode), "rb") as file:
        return file.read(limit)


def open_regular_file(path: Path, forbidden_mode: int = 0) -> int:
    """A descriptor of a regular file, which the caller closes; raises as read_regular_file does."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        _check_regular(os.fstat(descriptor).st_mode, path, forbidden_mode)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _check_regular(mode: int, path: Path, forbidden_mode: int) -> None:
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "expected a regular file")
    if mode & forbidden_mode:
        raise PermissionError(errno.EACCES, f"others can read it; run: chmod 600 {path}")


def line_of(path: Path, names: Sequence[str]) -> int:
    """The line that sets a value, or else the table that holds it, or the first one in it.

    It is 0 where there is none.
    """
    table: list[str] = []
    found, depth = 0, 0
    try:
        lines = read_config_text(path).splitlines()
    except ConfigError:
        return 0
    for number, line in enumerate(lines, 1):
        if heading := re.match(r"\s*\[([^\]]+)\]", line):
            table = place = split_key(heading.group(1))
        elif key := re.match(r"\s*([^=#]+?)\s*=", line):
            place = table + split_key(key.group(1))
        else:
            continue
        if len(place) > depth and list(names[: len(place)]) == place:
            found, depth = number, len(place)
        elif not found and place[: len(names)] == list(names):
            found = number
    return found


def split_key(key: str) -> list[str]:
    """The names of a dotted key, quoted ones included: ``models."gpt-4.1".window``."""
    parts = re.findall(r'"([^"]*)"|\'([^\']*)\'|([^."\'\s]+)', key)
    return [double or single or bare for double, single, bare in parts]
