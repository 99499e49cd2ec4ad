"""What commands may not do, as the settings say."""

from __future__ import annotations

from typing import Literal

from agent_tui.core.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Confinement:
    """Limits of commands; 0 means: no limit."""

    sandbox: Literal["auto", "off", "strict"] = "off"
    network: bool = True
    memory_bytes: int = 0
    processes: int = 0
    writable: tuple[str, ...] = ()
