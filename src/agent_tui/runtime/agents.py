"""The agents there are: those that are shipped, the user's own, and a trusted project's."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

from agent_tui.agent.spec import (
    DEFAULT_AGENT,
    AgentSpec,
    SpecFile,
    builtin_spec,
    file_spec,
    resolve_spec,
)
from agent_tui.core.errors import ConfigError
from agent_tui.resources import agent_spec_names

_ENDINGS = (".yaml", ".yml")


class Agents:
    """Finds specs by name or path; of equal names the nearer folder wins.

    Args:
        folders: where specs of one's own are, the most important last. A project's folder is only
            among them where the project is trusted.
    """

    def __init__(self, folders: Sequence[Path] = ()) -> None:
        self._folders = tuple(folders)
        self._known: dict[str, AgentSpec] = {}

    def names(self) -> list[str]:
        """Every name, sorted. Reads the disk."""
        return sorted({*agent_spec_names(), *self._own()})

    def find(self, name: str = DEFAULT_AGENT) -> AgentSpec:
        """The agent of a name, or of a file where it is a path. Reads the disk once for each.

        Raises:
            ConfigError: there is none, or something in it is wrong; names file and line.
        """
        name = name or DEFAULT_AGENT
        if name in self._known:
            return self._known[name]
        file = file_spec(Path(name)) if name.endswith(_ENDINGS) else self._find(name)
        if file is None:
            known = self.names()
            near = get_close_matches(name, known, n=1)
            guess = f"Did you mean {near[0]}?" if near else f"There are: {', '.join(known)}."
            raise ConfigError(f"There is no agent {name!r}. {guess}")
        spec = self._known[name] = resolve_spec(file, self._find)
        return spec

    def subagents_of(self, spec: AgentSpec) -> dict[str, str]:
        """What each subagent of an agent is for, by its name."""
        return {name: self.find(name).description for name in spec.subagents}

    def _find(self, name: str) -> SpecFile | None:
        own = self._own().get(name)
        return file_spec(own) if own is not None else builtin_spec(name)

    def _own(self) -> dict[str, Path]:
        found: dict[str, Path] = {}
        for folder in self._folders:
            try:
                paths = sorted(folder.iterdir())
            except OSError:
                continue
            for path in paths:
                if path.suffix in _ENDINGS and path.is_file() and not path.is_symlink():
                    found[path.stem] = path
        return found
