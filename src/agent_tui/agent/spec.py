"""What an agent is: its prompt, tools, model and subagents, resolved from YAML into one form."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TypeVar

from agent_tui.agent.plain_files import read_plain_file
from agent_tui.agent.spec_fields import Node, read_shipped
from agent_tui.core.dataclass import dataclass
from agent_tui.core.errors import ConfigError, ToolError
from agent_tui.resources import agent_spec, agent_spec_names, prompt

DEFAULT_AGENT = "default"
EVERY_TOOL = "*"
"""Stands in a spec's list of tools for all that there are."""
SPEC_ENDINGS = (".yaml", ".yml")
"""A name that ends so is a file."""

_DMAIL = "send_dmail"
_MOST_EXTENDED = 8
_FIELDS = (
    "extend", "name", "description", "system_prompt", "prompt_vars", "tools", "exclude_tools",
    "model", "mcp_servers", "subagents",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class AgentSpec:
    """An agent, fully resolved.

    Attributes:
        name: how it is called on screen and in commands.
        description: what it is for; a parent agent reads it.
        system_prompt: the text, with variables still in it.
        variables: values for some of them.
        tools: the names of the tools it has; None for all there are, as ``*`` is in a list.
        excluded: the names of those that it has not, whatever ``tools`` says.
        model: the model to ask; empty for that of the session.
        mcp_servers: the servers whose tools it has; None for all.
        subagents: the names of the agents that it may start.
        beside: those of them that are files named by it, or by what it extends.
    """

    name: str
    description: str = ""
    system_prompt: str = ""
    variables: Mapping[str, str] = field(default_factory=dict)
    tools: tuple[str, ...] | None = None
    excluded: frozenset[str] = frozenset()
    model: str = ""
    mcp_servers: tuple[str, ...] | None = None
    subagents: tuple[str, ...] = ()
    beside: Mapping[str, SpecFile] = field(default_factory=dict)

    def allows(self, tool: str) -> bool:
        """Whether the agent has the tool of that name; those of servers are ``server__tool``."""
        server, is_borrowed, _ = tool.partition("__")
        if is_borrowed and self.mcp_servers is not None:
            return tool not in self.excluded and server in self.mcp_servers
        listed = self.tools is None or EVERY_TOOL in self.tools or tool in self.tools
        return tool not in self.excluded and listed

    @property
    def sends_dmail(self) -> bool:
        """Whether it must be told of checkpoints: time travel is only for those that list it."""
        return self.tools is not None and _DMAIL in self.tools and self.allows(_DMAIL)


Content = TypeVar("Content")
Read = Callable[[str], str]
"""Reads a file beside a spec by its relative path; raises OSError or ToolError."""


@dataclass(frozen=True, slots=True)
class SpecFile:
    """Where a spec stands: what to call the file, its text, and how its neighbours are read."""

    path: str
    text: str
    read: Read
    is_shipped: bool = False

    def neighbour(self, name: str) -> SpecFile:
        """The spec in a file that this one names by its path; raises what ``read`` does."""
        folder = Path(name).parent
        return SpecFile(
            os.path.normpath(Path(self.path).parent / name),
            self.read(name),
            lambda other: self.read(str(folder / other)),
        )


def builtin_spec(name: str) -> SpecFile | None:
    """A shipped spec; None where none has that name."""
    if name not in agent_spec_names():
        return None
    return SpecFile(
        f"{name}.yaml",
        agent_spec(name),
        lambda path: prompt(path.removesuffix(".md")),
        is_shipped=True,
    )


def folder_spec(root: Path, path: Path) -> SpecFile:
    """A spec in a folder of agents, by its path from a root; raises ConfigError."""
    try:
        return SpecFile(
            str(root / path),
            read_plain_file(root, path),
            lambda name: read_plain_file(root, Path(os.path.normpath(path.parent / name))),
        )
    except (OSError, ToolError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"{root / path} cannot be read as an agent's spec: {_why(error)}."
        ) from None


def file_spec(path: Path) -> SpecFile:
    """A spec in a file of the user's own; raises ConfigError where it cannot be read."""
    try:
        return SpecFile(
            str(path),
            path.read_text(encoding="utf-8"),
            lambda name: (path.parent / name).read_text(encoding="utf-8"),
        )
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read as an agent's spec: {_why(error)}.") from None


def _why(error: Exception) -> str:
    """What went wrong, to end a sentence: without the number and path that the system adds."""
    return (isinstance(error, OSError) and error.strerror) or str(error).removesuffix(".")


def resolve_spec(file: SpecFile, find: Callable[[str], SpecFile | None]) -> AgentSpec:
    """The agent that a file describes, with all that it extends.

    Args:
        file: the spec.
        find: gives the spec of a name that ``extend`` mentions; a path is one from the file itself.

    Raises:
        ConfigError: something in it is wrong; names file and line.
    """
    return _resolve(file, find, ())


def _resolve(
    file: SpecFile, find: Callable[[str], SpecFile | None], below: tuple[str, ...]
) -> AgentSpec:
    fields = _fields(file)
    base = AgentSpec("")
    subagents = _subagents(file, fields.get("subagents"), find)
    if extended := fields.get("extend"):
        name = extended.text(file.path)
        is_file = name.endswith(SPEC_ENDINGS)
        found = _read_beside(file, extended, file.neighbour) if is_file else find(name)
        if found is None:
            raise extended.wrong(file.path, f"there is no agent {name!r} to extend")
        if found.path in (*below, file.path) or len(below) >= _MOST_EXTENDED:
            raise extended.wrong(file.path, f"{name!r} extends itself in a circle")
        base = _resolve(found, find, (*below, file.path))
    merged = _merge(file, fields, base)
    if subagents is None:
        return merged
    return replace(merged, subagents=subagents[0], beside=subagents[1])


def _subagents(
    file: SpecFile, node: Node | None, find: Callable[[str], SpecFile | None]
) -> tuple[tuple[str, ...], Mapping[str, SpecFile]] | None:
    """The names of the agents that a spec may start, and which of them are files beside it."""
    if node is None:
        return None
    names: list[str] = []
    beside: dict[str, SpecFile] = {}
    for each in node.items(file.path):
        written = each.text(file.path)
        name = Path(written).stem if written.endswith(SPEC_ENDINGS) else written
        if name in names:
            raise each.wrong(file.path, f"two subagents are named {name!r}")
        if name != written:
            beside[name] = _read_beside(file, each, file.neighbour)
        elif not file.is_shipped and find(name) is None:
            raise each.wrong(file.path, f"there is no agent {name!r} to start")
        names.append(name)
    return tuple(names), beside


def _fields(file: SpecFile) -> Mapping[str, Node]:
    if file.is_shipped:
        return read_shipped(file.text)
    from agent_tui.agent.narrow_yaml import read_yaml

    fields = read_yaml(file.text, file.path).mapping(file.path)
    for name, node in fields.items():
        if name not in _FIELDS:
            near = get_close_matches(name, _FIELDS, n=1)
            guess = (
                f"; did you mean {near[0]}?" if near else f"; known fields: {', '.join(_FIELDS)}"
            )
            raise node.wrong(file.path, f"there is no field {name!r}{guess}")
    return fields


def _merge(file: SpecFile, fields: Mapping[str, Node], base: AgentSpec) -> AgentSpec:
    def text(name: str, default: str) -> str:
        return fields[name].text(file.path) if name in fields else default

    def names(name: str) -> tuple[str, ...] | None:
        return fields[name].texts(file.path) if name in fields else None

    tools, servers = names("tools"), names("mcp_servers")
    variables = fields["prompt_vars"].mapping(file.path) if "prompt_vars" in fields else {}
    return AgentSpec(
        name=text("name", Path(file.path).stem if not base.name else base.name),
        description=text("description", base.description),
        system_prompt=_read_prompt(file, fields.get("system_prompt")) or base.system_prompt,
        variables={**base.variables, **{k: v.text(file.path) for k, v in variables.items()}},
        tools=base.tools if tools is None else tools,
        # A list of tools says all: what an extended spec had excluded may be in it.
        excluded=(base.excluded if tools is None else frozenset())
        | frozenset(names("exclude_tools") or ()),
        model=text("model", base.model),
        mcp_servers=base.mcp_servers if servers is None else servers,
        subagents=base.subagents,
        beside=base.beside,
    )


def _read_prompt(file: SpecFile, node: Node | None) -> str:
    if node is None:
        return ""
    name = node.text(file.path)
    if Path(name).is_absolute() or ".." in Path(name).parts:
        raise node.wrong(file.path, f"{name!r} must be a file beside the spec")
    return _read_beside(file, node, file.read).strip()


def _read_beside(file: SpecFile, node: Node, read: Callable[[str], Content]) -> Content:
    name = node.text(file.path)
    try:
        return read(name)
    except Exception as error:
        raise node.wrong(file.path, f"{name!r} cannot be read: {_why(error)}") from None
