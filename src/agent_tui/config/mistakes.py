"""What is wrong with a setting, in one sentence: file, line, field, and what to do."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ValidationError

from agent_tui.config.layers import Layer, setter_of
from agent_tui.config.reading import line_of
from agent_tui.config.settings import Settings
from agent_tui.core.errors import ConfigError

_MOVED = {"provider": "[provider] is now [providers.NAME], such as [providers.openai]"}
_LIKE_A_KEY = re.compile(r"[A-Za-z0-9_+/=-]{20,}|://[^/\s]*@")
_SECRET_WORDS = ("key", "token", "secret", "password", "headers", "env")


def config_error(layers: Sequence[Layer], error: ValidationError) -> ConfigError:
    """The first mistake; never what stands in a field that may hold a key."""
    first = error.errors()[0]
    names = [str(name) for name in first["loc"]]
    where, field = _place(layers, names), ".".join(names)
    if field in _MOVED and isinstance(first["input"], dict):
        return ConfigError(f"{where}: {_MOVED[field]}.")
    if first["type"] == "extra_forbidden":
        return ConfigError(f"{where}: there is no setting {field}; {_name_known(names)}.")
    if names[-1] == "api_key_env":
        return ConfigError(
            f"{where}, field {field}: expected the name of an environment variable, such as "
            "OPENAI_API_KEY, never a key itself."
        )
    if may_be_secret(names):
        return ConfigError(f"{where}, field {field}: {first['msg']}.")
    got = repr(first["input"])
    if _LIKE_A_KEY.search(got):
        return ConfigError(
            f"{where}, field {field}: {first['msg']}. It looks like a key, which "
            "belongs in an environment variable."
        )
    return ConfigError(f"{where}, field {field}: {first['msg']}, but it is {got[:80]}.")


def may_be_secret(names: Iterable[str]) -> bool:
    """Whether a value must not be shown: a person may have put a key there."""
    return any(word in name.lower() for name in names for word in _SECRET_WORDS)


def _place(layers: Sequence[Layer], names: Sequence[str]) -> str:
    layer = setter_of(layers, tuple(names))
    if layer is None:
        return "settings"
    if layer.path is not None:
        line = line_of(layer.path, names)
        return f"{layer.path}, line {line}" if line else str(layer.path)
    return next(
        (source for place, source in layer.sources.items() if list(place) == names[: len(place)]),
        layer.name,
    )


def _name_known(names: list[str]) -> str:
    known = known_fields(names[:-1])
    near = get_close_matches(names[-1], known, n=1)
    guess = f"did you mean {'.'.join([*names[:-1], near[0]])}? Known" if near else "known"
    return f"{guess} here: {', '.join(known)}"


def known_fields(names: Sequence[str]) -> list[str]:
    """The fields of the table at these names."""
    section: Any = Settings
    for name in names:
        section = _below(section, name)
    return list(section.model_fields) if _is_section(section) else []


def _below(section: Any, name: str) -> Any:
    """The type of a field, or of every value of a table with free names."""
    if get_origin(section) is dict:
        return get_args(section)[1]
    if _is_section(section) and name in section.model_fields:
        return section.model_fields[name].annotation
    return None


def _is_section(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)
