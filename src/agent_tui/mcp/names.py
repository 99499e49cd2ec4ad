"""How tools of servers are named: ``server__tool``, within what every model's API allows."""

from __future__ import annotations

import hashlib
import re

from agent_tui.core.errors import ConfigError

SEPARATOR = "__"
_LONGEST = 64
_SERVER = re.compile(r"[A-Za-z0-9](?:_?[A-Za-z0-9-]){0,30}")
_FOREIGN = re.compile(r"[^A-Za-z0-9_-]")
RESERVED_SERVERS = frozenset({"agent", "agent-tui", "builtin", "functions", "mcp", "tools"})
"""Names that a server would use to pass for this program, or for a model's own tools."""


def check_server_name(name: str) -> str:
    """The name, if a server may have it.

    Raises:
        ConfigError: it has other characters, a double underscore, or is reserved.
    """
    if not _SERVER.fullmatch(name):
        raise ConfigError(
            f"A server cannot be named {name[:40]!r}: expected up to 32 letters, digits, single "
            "underscores and dashes, such as github."
        )
    if name.lower() in RESERVED_SERVERS:
        raise ConfigError(f"A server cannot be named {name!r}: that name is reserved.")
    return name


def public_name(server: str, tool: str) -> str:
    """The name under which a model calls a server's tool.

    Characters that models' APIs refuse become underscores; a name that is too long keeps its
    beginning and a hash of the whole.
    """
    name = server + SEPARATOR + _FOREIGN.sub("_", tool)
    if len(name) <= _LONGEST:
        return name
    digest = hashlib.sha256(tool.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{name[: _LONGEST - 9]}_{digest}"
