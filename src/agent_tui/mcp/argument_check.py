"""Whether a call's arguments fit the schema of a server, looked at with bounded effort.

A schema is a small program that its server wrote: references fan out, patterns never end. What
takes more than a few steps is not checked here; the server has to check it anyway.
"""

from __future__ import annotations

from functools import cache
from typing import Any

_MOST_STEPS = 5_000
"""Keywords of a schema that are looked at; a long one counts as many."""
_LARGEST = 20_000
"""Characters of arguments: what is said of a mistake may repeat them all, once a step."""
_UNBOUNDED = frozenset(
    (
        *("pattern", "patternProperties", "uniqueItems", "unevaluatedItems"),
        *("unevaluatedProperties", "$dynamicRef", "$recursiveRef", "$schema"),
    )
)
"""What may never end within one step, or hands over to a validator that counts none."""
_COMPARED = frozenset(("const", "dependentRequired", "enum"))
"""What is gone through to its last part within one step."""
_REPEATED, _READ = 500, 16
"""Characters that cost as much as a step: of arguments, which each mistake repeats; of values."""


class _NotChecked(Exception):
    """It cannot be told with little effort."""


def find_mistake(schema: dict[str, Any], arguments: dict[str, Any]) -> str:
    """Where arguments do not fit a schema, and why; empty where they do, or nobody can say."""
    try:
        _refuse_unbounded(schema)
        written = len(repr(arguments))
        if written > _LARGEST:
            return ""
        validator = _validator()(schema, 1 + written // _REPEATED)
        mistake = next(iter(validator.iter_errors(arguments)), None)
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

    left = cost = 0

    def counted(keyword: str, check: Any) -> Any:
        is_compared = keyword in _COMPARED

        def step(validator: Any, value: Any, instance: Any, schema: Any) -> Any:
            nonlocal left
            left -= cost + _parts_of(value) + _parts_of(instance)
            if is_compared and left >= 0:
                left -= len(repr(value)) // _READ
            if left < 0:
                raise _NotChecked
            return check(validator, value, instance, schema)

        return step

    def make(schema: dict[str, Any], cost_of_step: int) -> Any:
        nonlocal left, cost
        left, cost = _MOST_STEPS, cost_of_step
        return counting(schema, registry=Registry())  # an empty one: nothing is fetched

    checks = Draft202012Validator.VALIDATORS.items()
    counting: Any = extend(
        Draft202012Validator, {name: counted(name, each) for name, each in checks}
    )
    return make


def _parts_of(value: Any) -> int:
    """How many parts a keyword or an argument has, each of which a step may look at."""
    return len(value) if isinstance(value, list | dict) else 0


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
