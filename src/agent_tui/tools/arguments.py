"""The border between a model's JSON and a tool: its schema out, its arguments in."""

from __future__ import annotations

import json
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from agent_tui.core.errors import ToolError
from agent_tui.core.text import format_count
from agent_tui.tools.base import AnyTool, Parameters, Tool

_LONGEST = 8_000_000


def schema_of(tool: AnyTool) -> dict[str, Any]:
    """A tool as a model is told of it: ``name``, ``description`` and ``parameters``."""
    schema = _without_titles(tool.schema())
    return {"name": tool.name, "description": tool.description, "parameters": schema}


def _without_titles(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema without pydantic's titles, which repeat the names and cost tokens."""
    kept = {key: value for key, value in schema.items() if key not in ("title", "description")}
    kept["properties"] = {
        name: {key: value for key, value in field.items() if key != "title"}
        for name, field in schema.get("properties", {}).items()
    }
    return kept


def parse_arguments(tool: Tool[Parameters], text: str) -> Parameters:
    """The arguments of a call, from the JSON text that the model wrote.

    Raises:
        ToolError: the text is not one JSON object, or has wrong fields; written for the model.
    """
    value = _decode(tool.name, text)
    try:
        return tool.parameters.model_validate(value)
    except ValidationError as error:
        wrong = "; ".join(_describe(detail) for detail in error.errors(include_url=False)[:5])
        known = _fields_of(tool.parameters)
        raise ToolError(
            f"Wrong arguments for {tool.name}: {wrong}. Its fields are: {known}."
        ) from error


def _fields_of(parameters: type[BaseModel]) -> str:
    """The names of all fields; behind those that hold objects, the names in these."""
    told = []
    for name, field in parameters.model_fields.items():
        inner = "; ".join(map(_fields_of, _models_in(field.annotation)))
        told.append(f"{name} ({inner})" if inner else name)
    return ", ".join(told)


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for each in get_args(annotation) for model in _models_in(each)]


def _decode(name: str, text: str) -> dict[str, Any]:
    if not text.strip():
        return {}
    if len(text) > _LONGEST:
        raise ToolError(
            f"The arguments of {name} are too long: {format_count(len(text), 'character')}."
        )
    try:
        value = json.loads(text, object_pairs_hook=_without_duplicates, strict=False)
    except RecursionError as error:
        raise ToolError(f"The arguments of {name} are nested too deeply.") from error
    except ValueError as error:
        raise ToolError(
            f"The arguments of {name} are not valid JSON ({error}). Send one JSON object."
        ) from error
    if not isinstance(value, dict):
        raise ToolError(
            f"The arguments of {name} should be one JSON object, not {_kind(value)}: {text[:80]}"
        )
    return value


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise ValueError("a key occurs twice in one object")
    return value


def _kind(value: object) -> str:
    kinds = {list: "a list", str: "a string", bool: "a boolean", int: "a number", float: "a number"}
    return kinds.get(type(value), "null")


def _describe(detail: Any) -> str:
    place = ".".join(str(part) for part in detail["loc"]) or "the object"
    match detail["type"]:
        case "missing":
            return f"{place!r} is missing"
        case "extra_forbidden":
            return f"{place!r} is not a field"
        case _:
            message = str(detail["msg"])
            return f"{place!r}: {message[:1].lower()}{message[1:]}, got {detail['input']!r:.60}"
