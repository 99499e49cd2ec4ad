"""Layers of settings, each winning over the ones before it, and which of them set a value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any, Literal, TypeAlias

from agent_tui.core.dataclass import dataclass

LayerName: TypeAlias = Literal["default", "user", "project", "environment", "flag"]
Names: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Layer:
    """Values from one place; ``sources`` says of a value where exactly, such as a variable."""

    name: LayerName
    values: Mapping[str, Any]
    path: Path | None = None
    sources: Mapping[Names, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SettingOrigin:
    """Where a value comes from; ``place`` is a file with its line, a variable, or a flag."""

    layer: LayerName
    place: str = ""

    def __str__(self) -> str:
        return f"{self.layer} ({self.place})" if self.place else self.layer


def merge(layers: Iterable[Layer]) -> dict[str, Any]:
    """The values of all layers: tables are merged, everything else is replaced."""
    merged: dict[str, Any] = {}
    for layer in layers:
        _merge_into(merged, layer.values)
    return merged


def _merge_into(target: dict[str, Any], values: Mapping[str, Any]) -> None:
    for name, value in values.items():
        if isinstance(value, Mapping):
            below = target.get(name)
            table = dict(below) if isinstance(below, dict) else {}
            _merge_into(table, value)
            target[name] = table
        else:
            target[name] = value


def leaves(values: Mapping[str, Any], above: Names = ()) -> Iterator[tuple[Names, Any]]:
    """Every value that is no table, with the names that lead to it; empty tables too."""
    for name, value in values.items():
        if isinstance(value, Mapping) and value:
            yield from leaves(value, (*above, name))
        else:
            yield (*above, name), value


def setter_of(layers: Iterable[Layer], names: Names) -> Layer | None:
    """The highest layer that says anything at these names, or at the nearest table above them."""
    found: Layer | None = None
    reached = 0
    for layer in layers:
        depth = _depth(layer.values, names)
        if depth and depth >= reached:
            found, reached = layer, depth
    return found


def _depth(values: Any, names: Names) -> int:
    depth = 0
    for name in names:
        if not isinstance(values, Mapping) or name not in values:
            break
        values, depth = values[name], depth + 1
    return depth
