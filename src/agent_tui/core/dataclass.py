"""Dataclasses with slots, defined in a fraction of the time: all but ``__init__`` is shared.

For every class the standard library compiles six functions of its own. Of hundreds of classes that
is more than a tenth of what the first answer waits for. Here ``__init__`` alone is compiled, when
the first object of a class is made: of most classes that is long after the first answer.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

__all__ = ["dataclass"]

_OURS = {"slots": True}, {"slots": True, "frozen": True}

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(cls: type[Any] | None = None, /, **options: bool) -> Any:
        """``dataclasses.dataclass``, with the same result for whatever is asked of it."""

        def make(cls: type[Any]) -> type[Any]:
            if options not in _OURS or not _is_plain(cls):
                return dataclasses.dataclass(**options)(cls)
            own, is_frozen = vars(cls), "frozen" in options
            made = dataclasses.dataclass(init=False, repr=False, eq=False, slots=True)(cls)
            for name, method in (_methods(made) | (_FROZEN if is_frozen else _LOOSE)).items():
                if name not in own:
                    setattr(made, name, method)
            made.__dataclass_params__.frozen = is_frozen
            return made

        return make if cls is None else make(cls)


def _is_plain(cls: type[Any]) -> bool:
    """Whether it has nothing for which the standard library's ``__init__`` is needed."""
    kinds = getattr(cls, "__annotations__", {}).values()
    own = vars(cls)
    is_alone = cls.__bases__ == (object,) and not hasattr(cls, "__post_init__")
    given = (value for value in own.values() if isinstance(value, Field))
    return (
        is_alone
        and "__eq__" not in own  # it decides whether there is a hash
        and not any("KW_ONLY" in str(kind) or "InitVar" in str(kind) for kind in kinds)
        and all(each.init and each.kw_only is MISSING and each.hash is None for each in given)
    )


def _methods(cls: type[Any]) -> dict[str, Any]:
    fields = dataclasses.fields(cls)
    shown = [field.name for field in fields if field.repr]
    values = _getter([field.name for field in fields if field.compare])

    @recursive_repr()
    def represent(self: Any) -> str:
        inner = ", ".join([f"{name}={getattr(self, name)!r}" for name in shown])
        return f"{type(self).__qualname__}({inner})"

    def is_equal(self: Any, other: object) -> Any:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return values(self) == values(other)

    def make_hash(self: Any) -> int:
        return hash(values(self))

    def make_init(self: Any, *args: Any, **named: Any) -> None:
        init = _make_init(cls, fields)
        cls.__init__ = init
        init(self, *args, **named)

    return {
        "__init__": make_init,
        "__repr__": represent,
        "__eq__": is_equal,
        "__hash__": make_hash,
    }


def _getter(names: list[str]) -> Callable[[Any], tuple[Any, ...]]:
    """What gives the values of some attributes as a tuple."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda self: tuple([getattr(self, name) for name in names])


def _make_init(cls: type[Any], fields: tuple[Field[Any], ...]) -> Callable[..., None]:
    names: dict[str, Any] = {"_missing": MISSING}
    parameters, lines = [], []
    for field in fields:
        name = value = field.name
        if field.default_factory is not MISSING:
            names[f"_make_{name}"] = field.default_factory
            value = f"_make_{name}() if {name} is _missing else {name}"
            parameters.append(f"{name}=_missing")
        elif field.default is not MISSING:
            names[f"_default_{name}"] = field.default
            parameters.append(f"{name}=_default_{name}")
        else:
            parameters.append(name)
        names[f"_set_{name}"] = vars(cls)[name].__set__  # faster than to set it by its name
        lines.append(f"\n _set_{name}(self, {value})")
    text = f"def __init__(self, {', '.join(parameters)}):{''.join(lines) or ' pass'}"
    exec(text, names)
    init: Callable[..., None] = names["__init__"]
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    return init


def _refuse_to_set(self: Any, name: str, _value: object) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(self: Any, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _get_state(self: Any) -> list[Any]:
    return [getattr(self, field.name) for field in dataclasses.fields(self)]


def _set_state(self: Any, state: list[Any]) -> None:
    for field, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, field.name, value)


_FROZEN = {
    "__setattr__": _refuse_to_set,
    "__delattr__": _refuse_to_delete,
    "__getstate__": _get_state,
    "__setstate__": _set_state,
}
_LOOSE = {"__hash__": None}
