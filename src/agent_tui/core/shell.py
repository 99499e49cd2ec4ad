"""Commands: how the model is told what one printed and how it ended, in plain words."""

from __future__ import annotations

from agent_tui.core.origins import Origin
from agent_tui.core.text import format_count, late_pattern

_LEFT_OUT = late_pattern(r"(?<=\n)\[… (\d[\d,]{0,19}) lines? \([\d,]+ bytes\) not shown")

_BEGINS = "I ran this command: "

SHELL: Origin = "shell"
"""The origin of a message that tells of such a command."""
SHELL_INTERRUPTED = "[interrupted]"
"""The last line of what one printed that a person stopped."""


def shell_text(command: str, output: str) -> str:
    """What the model is told of a command and what it printed."""
    return f"{_head(command)}{output.rstrip()}"


def shell_command(text: str) -> str:
    """The command, given what the model was told."""
    return text.removeprefix(_BEGINS).partition("\n\n")[0]


def shell_output(command: str, text: str) -> str:
    """What the command printed, given what the model was told."""
    return text.removeprefix(_head(command))


def exit_line(code: int, remark: str = "") -> str:
    """The last line of a command's output: how it ended, and a remark about that."""
    return f"[exit code {code}{remark}]"


def without_exit_line(output: str, code: int | None) -> str:
    """What a command printed, without the line that tells its exit code and nothing else."""
    printed = output.rstrip()
    if code is None:
        return printed
    head, _, last = printed.rpartition("\n")
    return head.rstrip() if last == exit_line(code) else printed


def left_out_line(lines: int, size_bytes: int, where: str = "") -> str:
    """The line of an output that stands for its middle, which was too long to keep."""
    size = f"{size_bytes:,} bytes"
    what = f"{format_count(lines, 'line')} ({size})" if lines else size
    return f"[… {what} not shown{where} …]"


def find_left_out(output: str) -> tuple[int, int]:
    """Where in an output such a line begins, and how many lines it stands for; -1 and 0: none."""
    found = _LEFT_OUT.search(output)
    return (found.start(), int(found[1].replace(",", ""))) if found else (-1, 0)


def _head(command: str) -> str:
    return f"{_BEGINS}{command}\n\n"
