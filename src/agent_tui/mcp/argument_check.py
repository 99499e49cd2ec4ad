"""Whether a call's arguments fit the schema of a server, looked at with bounded effort.

A schema is a small program that its server wrote: references fan out, patterns never end. What
takes more than a few steps is not checked here; the server has to check it anyway.
"""

from __future__ import annotations

from functools import cache
from typing import Any

_MOST_STEPS = 5_000
"""Keywords of a schema that are looked at."""
_LARGEST = 20_000
"""Characters of arguments: what is said of a mistake may repeat them all, once a step."""
_UNBOUNDED = frozenset(
    (
        *("pattern", "patternProperties", "uniqueItems", "unevaluatedItems"),
        *("unevaluatedProperties", "$dynamicRef", "$recursiveRef", "$schema"),
    )
)
"""What may never end within one step, or hands over to a validator that counts none."""


class _NotChecked(Exception):
    """It cannot be told with little effort."""


def find_mistake(schema: dict[str, Any], arguments: dict[str, Any]) -> str:
    """Where arguments do not fit a schema, and why; empty where they do, or nobody can say."""
    try:
        _refuse_unbounded(schema)
        if len(repr(arguments)) > _LARGEST:
            return ""
        mistake = next(iter(_validator()(schema).iter_errors(arguments)), None)
    except Exception:  # whatever an odd schema makes the library raise
        return ""  # what nobody can check here is the server's to check
    if mistake is None:
        return ""
    where = ".".join(str(each) for each in mistake.absolute_path) or "the object"
    return f"{where}: {mistake.message[:300]}"


@cache
def _validator() -> Any:
    """Makes a validator that gives up after so many steps."""
    from jsonschema import Draft202012Validator
    from jsonschema.validators import extend
    from referencing import Registry

    left = 0

    def counted(check: Any) -> Any:
        def step(*given: Any) -> Any:
            nonlocal left
            left -= 1
            if left < 0:
                raise _NotChecked
            return check(*given)

        return step

    def make(schema: dict[str, Any]) -> Any:
        nonlocal left
        left = _MOST_STEPS
        return counting(schema, registry=Registry())  # an empty one: nothing is fetched

    checks = Draft202012Validator.VALIDATORS.items()
    counting: Any = extend(Draft202012Validator, {name: counted(each) for name, each in checks})
    return make


def _refuse_unbounded(schema: dict[str, Any]) -> None:
    """Raise _NotChecked where it points elsewhere, or holds what may never end."""
    waiting: list[Any] = [schema]
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict):
            if not _UNBOUNDED.isdisjoint(each) or not str(each.get("$ref", "#")).startswith("#"):
                raise _NotChecked
            waiting += each.values()
        elif isinstance(each, list):
            waiting += each
