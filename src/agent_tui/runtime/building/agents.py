"""The agents there are: those that are shipped, the user's own, and a trusted project's."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

from agent_tui.agent.prompt_files import PROJECT_FOLDER
from agent_tui.agent.spec import (
    DEFAULT_AGENT,
    SPEC_ENDINGS,
    AgentSpec,
    SpecFile,
    builtin_spec,
    file_spec,
    folder_spec,
    resolve_spec,
)
from agent_tui.core.errors import ConfigError
from agent_tui.resources import agent_spec_names


class Agents:
    """Finds specs by name or path; of equal names the nearer folder wins.

    Args:
        own: the user's folder, with ``agents/`` in it.
        project: the folders of a trusted project, with ``.agents/agents/`` in them; the nearest
            last. What it ships is not used without trust.
    """

    def __init__(self, own: Path | None = None, project: Sequence[Path] = ()) -> None:
        self._places = [(own, Path("agents"))] if own is not None else []
        self._places += [(folder, Path(PROJECT_FOLDER, "agents")) for folder in project]
        self._known: dict[str, AgentSpec] = {}

    def names(self) -> list[str]:
        """The name of every agent, sorted. Reads the disk."""
        return sorted({*agent_spec_names(), *self._own()})

    def find(self, name: str = DEFAULT_AGENT) -> AgentSpec:
        """The agent of a name, or of a file where it is a path. Reads the disk once for each.

        Raises:
            ConfigError: there is none, or something in it is wrong; names file and line.
        """
        name = name or DEFAULT_AGENT
        if name in self._known:
            return self._known[name]
        file = file_spec(Path(name)) if name.endswith(SPEC_ENDINGS) else self._find(name)
        if file is None:
            known = self.names()
            near = get_close_matches(name, known, n=1)
            guess = f"Did you mean {near[0]}?" if near else f"There are: {', '.join(known)}."
            raise ConfigError(f"There is no agent {name!r}. {guess}")
        spec = self._known[name] = resolve_spec(file, self._find)
        return spec

    def subagent(self, spec: AgentSpec, name: str) -> AgentSpec:
        """The agent that another may start by a name; raises ConfigError as ``find`` does."""
        if (file := spec.beside.get(name)) is None:
            return self.find(name)
        if file.path not in self._known:
            self._known[file.path] = resolve_spec(file, self._find)
        return self._known[file.path]

    def subagents_of(self, spec: AgentSpec) -> dict[str, str]:
        """What each subagent of an agent is for, by name."""
        return {name: self.subagent(spec, name).description for name in spec.subagents}

    def _find(self, name: str) -> SpecFile | None:
        own = self._own().get(name)
        return folder_spec(*own) if own is not None else builtin_spec(name)

    def _own(self) -> dict[str, tuple[Path, Path]]:
        """The root and the path of each spec of one's own, by its name."""
        found: dict[str, tuple[Path, Path]] = {}
        for root, below in self._places:
            try:
                names = sorted(path.name for path in (root / below).iterdir())
            except OSError:
                continue
            for name in names:
                if name.endswith(SPEC_ENDINGS):
                    found[Path(name).stem] = (root, below / name)
        return found
