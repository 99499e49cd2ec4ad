"""YAML without its traps: no aliases, tags or repeated keys, and every mistake with its line."""

from __future__ import annotations

import yaml

from agent_tui.agent.spec_fields import Node
from agent_tui.core.errors import ConfigError

_MOST_CHARS = 64_000
_MOST_NESTED = 16
_PLAIN = frozenset(
    f"tag:yaml.org,2002:{kind}" for kind in ("str", "int", "float", "bool", "null", "timestamp")
)
_NULL, _LIST, _MAP = (f"tag:yaml.org,2002:{kind}" for kind in ("null", "seq", "map"))


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
