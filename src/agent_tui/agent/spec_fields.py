"""The fields of a file that describes something, each with the line on which it stands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from agent_tui.core.dataclass import dataclass
from agent_tui.core.errors import ConfigError

Value: TypeAlias = "str | Mapping[str, Node] | tuple[Node, ...] | None"


@dataclass(frozen=True, slots=True)
class Node:
    """A value and the line on which it stands."""

    value: Value
    line: int

    def wrong(self, path: str, what: str) -> ConfigError:
        """The error to raise about this field, with its line."""
        return ConfigError(f"{path}, line {self.line}: {what}.")

    def text(self, path: str) -> str:
        """The value as text; numbers and words such as ``yes`` are taken as they are written."""
        if not isinstance(self.value, str):
            raise self.wrong(path, "expected text")
        return self.value

    def items(self, path: str) -> tuple[Node, ...]:
        """The value as a list; one text alone is a list of one."""
        if isinstance(self.value, str):
            return (self,)
        if not isinstance(self.value, tuple):
            raise self.wrong(path, "expected a list of names")
        return self.value

    def texts(self, path: str) -> tuple[str, ...]:
        """The value as a list of texts; one text alone is a list of one."""
        return tuple(node.text(path) for node in self.items(path))

    def mapping(self, path: str) -> Mapping[str, Node]:
        """The value as fields."""
        if self.value is None:
            return {}
        if not isinstance(self.value, Mapping):
            raise self.wrong(path, "expected fields of the form 'name: value'")
        return self.value


def read_shipped(text: str) -> Mapping[str, Node]:
    """The fields of a shipped spec: of YAML only ``name: text`` and ``name: [text, text]``.

    The first answer waits for them, and for this little no library has to be loaded.
    """
    fields = {}
    for number, line in enumerate(text.splitlines(), 1):
        name, _, value = line.partition(": ")
        if value.startswith("["):
            texts = [part.strip().strip('"') for part in value.strip("[]").split(",")]
            fields[name] = Node(tuple(Node(part, number) for part in texts if part), number)
        else:
            fields[name] = Node(value, number)
    return fields
