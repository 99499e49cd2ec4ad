"""YAML without its traps: no aliases, tags or repeated keys, and every mistake with its line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import yaml

from agent_tui.core.dataclass import dataclass
from agent_tui.core.errors import ConfigError

_MOST_CHARS = 64_000
_MOST_NESTED = 16
_PLAIN = frozenset(
    f"tag:yaml.org,2002:{kind}" for kind in ("str", "int", "float", "bool", "null", "timestamp")
)
_NULL, _LIST, _MAP = (f"tag:yaml.org,2002:{kind}" for kind in ("null", "seq", "map"))

Value: TypeAlias = "str | Mapping[str, Node] | tuple[Node, ...] | None"


@dataclass(frozen=True, slots=True)
class Node:
    """A value and the line on which it stands."""

    value: Value
    line: int

    def wrong(self, path: str, what: str) -> ConfigError:
        """The error to raise for it."""
        return ConfigError(f"{path}, line {self.line}: {what}.")

    def text(self, path: str) -> str:
        """The value as text; numbers and words such as ``yes`` are taken as they are written."""
        if not isinstance(self.value, str):
            raise self.wrong(path, "expected a text")
        return self.value

    def texts(self, path: str) -> tuple[str, ...]:
        """The value as a list of texts; one text alone is a list of one."""
        if isinstance(self.value, str):
            return (self.value,)
        if not isinstance(self.value, tuple):
            raise self.wrong(path, "expected a list of names")
        return tuple(node.text(path) for node in self.value)

    def mapping(self, path: str) -> Mapping[str, Node]:
        """The value as fields."""
        if self.value is None:
            return {}
        if not isinstance(self.value, Mapping):
            raise self.wrong(path, "expected fields of the form 'name: value'")
        return self.value


def read_yaml(text: str, path: str) -> Node:
    """The one document in a text.

    Raises:
        ConfigError: it is not YAML of this narrow kind; names file and line.
    """
    if len(text) > _MOST_CHARS:
        raise ConfigError(f"{path} is longer than {_MOST_CHARS:,} characters.")
    try:
        depth = 0
        for event in yaml.parse(text, yaml.SafeLoader):
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            if depth > _MOST_NESTED:
                raise ConfigError(f"{path}: nested too deeply.")
            anchor = getattr(event, "anchor", None)
            if anchor is not None:
                line = event.start_mark.line + 1 if event.start_mark else 1
                raise ConfigError(f"{path}, line {line}: anchors and aliases are not allowed.")
        root = yaml.compose(text, yaml.SafeLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{path}, line {mark.line + 1}" if mark else path
        what = getattr(error, "problem", None) or str(error)
        raise ConfigError(f"{where}: not valid YAML: {what}.") from None
    return Node(None, 1) if root is None else _convert(root, path)


def _convert(node: yaml.Node, path: str) -> Node:
    line = node.start_mark.line + 1
    if isinstance(node, yaml.ScalarNode):
        if node.tag not in _PLAIN:
            raise ConfigError(f"{path}, line {line}: the tag {node.tag} is not allowed.")
        return Node(None if node.tag == _NULL else str(node.value), line)
    if isinstance(node, yaml.SequenceNode) and node.tag == _LIST:
        return Node(tuple(_convert(each, path) for each in node.value), line)
    if isinstance(node, yaml.MappingNode) and node.tag == _MAP:
        return Node(_fields(node, path), line)
    raise ConfigError(f"{path}, line {line}: the tag {node.tag} is not allowed.")


def _fields(node: yaml.MappingNode, path: str) -> dict[str, Node]:
    fields: dict[str, Node] = {}
    for key, value in node.value:
        line = key.start_mark.line + 1
        if not isinstance(key, yaml.ScalarNode):
            raise ConfigError(f"{path}, line {line}: expected a name before the colon.")
        if key.value in fields:
            raise ConfigError(f"{path}, line {line}: {key.value!r} is set twice.")
        fields[str(key.value)] = _convert(value, path)
    return fields
