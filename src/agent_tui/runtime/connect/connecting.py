"""Connecting a provider: what could be connected, and writing what was chosen."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from agent_tui.config import Settings, config_path
from agent_tui.config.writing import set_value, write_config
from agent_tui.core.errors import UsageError
from agent_tui.core.models import ProviderRow
from agent_tui.providers.keys import has_key
from agent_tui.providers.presets import PRESETS
from agent_tui.providers.registry import known_providers
from agent_tui.runtime.connect.models import (
    Answered,
    find_local_providers,
    list_provider,
    list_providers,
    try_model,
)

_NAME = re.compile(r"[^a-z0-9-]+")
_BARE = re.compile(r"(?:localhost|[\w-]+(?:\.[\w-]+)+)(?::\d{1,5})?(?:/\S*)?", re.ASCII)
"""A host with a dot, a port, a path; no scheme."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A provider that could be connected; ``key_env`` is the variable that would hold its key."""

    name: str
    title: str
    key_env: str
    has_key: bool


class Connecting:
    """What a front-end needs to connect a provider.

    Args:
        settings: gives the settings in force.
        reload: reads the settings again, and asks the providers that they name from there on.
    """

    def __init__(
        self, settings: Callable[[], Settings], reload: Callable[[], Awaitable[None]]
    ) -> None:
        self._settings = settings
        self._reload = reload

    async def candidates(self) -> list[Candidate]:
        """The providers that want a key, those whose key is there first."""
        return await asyncio.to_thread(list_candidates, self._settings())

    async def providers(self) -> tuple[ProviderRow, ...]:
        """Every provider that can be asked, with its models."""
        return await list_providers(self._settings())

    async def find_local(self) -> tuple[ProviderRow, ...]:
        """The servers of this machine that answer, with their models."""
        addresses = {
            name: local_address(name) for name, each in PRESETS.items() if not each.key_env
        }
        return await find_local_providers(self._settings(), addresses)

    async def ask(self, name: str, address: str = "", key: str = "") -> ProviderRow:
        """What a provider lists, by its name or by an address, perhaps with a key just typed."""
        if address:
            address = with_scheme(address)
            name = name_for(address)
        return await list_provider(self._settings(), name, address, key)

    async def take(self, row: ProviderRow, model: str, key: str = "") -> Answered:
        """Try a model, and only if it answers write it down and have it asked from here on.

        Raises:
            ProviderError: it does not answer.
            ConfigError: the settings cannot be written.
        """
        answered = await try_model(self._settings(), row, model, key)
        await asyncio.to_thread(save_connection, row, model, key)
        await self._reload()
        return answered


def list_candidates(settings: Settings) -> list[Candidate]:
    """The providers that want a key, those whose key is there first; blocks."""
    found = [
        Candidate(spec.name, spec.title, spec.key_env, has_key(spec))
        for spec in known_providers(settings).values()
        if spec.key_env
    ]
    return sorted(found, key=lambda each: not each.has_key)


def local_address(name: str) -> str:
    """Where a local server listens, which its own variable may say."""
    host = os.environ.get("OLLAMA_HOST", "").strip() if name == "ollama" else ""
    if not host:
        return PRESETS[name].base_url
    parts = urlsplit(host if "://" in host else f"http://{host}")
    place = (parts.hostname or "127.0.0.1").replace("0.0.0.0", "127.0.0.1")  # replaced
    return f"{parts.scheme or 'http'}://{place}:{parts.port or 11434}/v1"


def with_scheme(typed: str) -> str:
    """An address as it was typed, with the scheme that people leave out.

    It is https, and http for this machine and its network, where nobody has a certificate: a key
    goes nowhere else unencrypted.
    """
    if not _BARE.fullmatch(typed):
        return typed
    host = urlsplit(f"//{typed}").hostname or ""
    return f"{'http' if _is_near(host) else 'https'}://{typed}"


def _is_near(host: str) -> bool:
    try:
        return ip_address(host).is_private
    except ValueError:
        return host == "localhost"


def name_for(address: str) -> str:
    """A name for a server that is known by its address only.

    Raises:
        UsageError: it is not a server address.
    """
    parts = urlsplit(address)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise UsageError("Expected an address such as http://127.0.0.1:8000/v1, http:// included.")
    return _NAME.sub("-", parts.hostname.lower()).strip("-") or "server"


def save_connection(row: ProviderRow, model: str, key: str = "") -> Path:
    """Write a provider and a model into the user's settings; returns the file.

    The key goes into a file of its own that only its owner can read. Blocks.
    """
    path = config_path()
    preset = PRESETS.get(row.name)
    if preset is None or preset.base_url != row.base_url or not preset.key_env:
        set_value(path, ["providers", row.name, "base_url"], row.base_url)
    if key:
        key_path = path.parent / "keys" / row.name
        write_config(key_path, f"{key}\n")
        set_value(path, ["providers", row.name, "api_key_file"], str(key_path))
    set_value(path, "provider", row.name)
    set_value(path, "model", model)
    return path
