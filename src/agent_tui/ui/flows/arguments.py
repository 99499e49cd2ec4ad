"""What is typed behind a command, read."""

from agent_tui.core.errors import UsageError


def read_number(argument: str, what: str) -> int:
    """The number that was typed; raises UsageError with what it should be the number of."""
    if not argument.isdecimal():
        raise UsageError(f"Expected the number of {what}, got {argument!r}.")
    return int(argument)
