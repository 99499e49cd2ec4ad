"""Finds the key of a provider: in the environment, from a command, or in a private file."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

from agent_tui.config.reading import read_regular_file
from agent_tui.core.dataclass import dataclass
from agent_tui.core.errors import ConfigError
from agent_tui.providers.environment import take_variable
from agent_tui.providers.presets import ProviderSpec
from agent_tui.providers.secret import Secret

_COMMAND_SECONDS = 30.0
_LONGEST = 16_384


@dataclass(frozen=True, slots=True)
class FoundKey:
    """A key, perhaps empty, and where it came from, in words for error messages."""

    secret: Secret
    source: str


def find_key(spec: ProviderSpec) -> FoundKey:
    """The key of a provider; blocks while a command runs, so call it in a thread.

    Raises:
        ConfigError: the command failed, or the file is missing or open to others.
    """
    chosen = spec.settings
    if chosen.api_key_command:
        return FoundKey(_ask_command(chosen.api_key_command), "api_key_command")
    if chosen.api_key_file:
        path = Path(chosen.api_key_file).expanduser()
        return FoundKey(_read_private(path), str(path))
    value = take_variable(spec.key_env) if spec.key_env else ""
    return FoundKey(Secret(value.strip()), spec.key_env or "the environment")


def has_key(spec: ProviderSpec) -> bool:
    """Whether a key is named that may exist; runs no command."""
    chosen = spec.settings
    return bool(
        chosen.api_key_command
        or chosen.api_key_file
        or (spec.key_env and take_variable(spec.key_env))
    )


def _ask_command(command: str) -> Secret:
    try:
        words = shlex.split(command)
        done = subprocess.run(  # the user's own words, split without a shell
            words,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_COMMAND_SECONDS,
            check=False,
        )
    except (OSError, ValueError, IndexError) as error:
        raise ConfigError(f"api_key_command cannot be run: {error}.") from None
    except subprocess.TimeoutExpired:
        raise ConfigError(
            f"api_key_command printed no key within {_COMMAND_SECONDS:g} seconds."
        ) from None
    if done.returncode != 0:
        raise ConfigError(f"api_key_command ended with exit code {done.returncode}.")
    key = done.stdout[:_LONGEST].decode("utf-8", "replace").strip()
    if not key:
        raise ConfigError("api_key_command printed nothing; expected the key.")
    return Secret(key)


def _read_private(path: Path) -> Secret:
    try:
        data = read_regular_file(path, _LONGEST, forbidden_mode=0o077)
    except OSError as error:
        raise ConfigError(f"api_key_file {path} cannot be used: {error.strerror}.") from None
    return Secret(data.decode("utf-8", "replace").strip())
