"""Give a task to a subagent, which works in a session of its own."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field

from agent_tui.core.errors import ToolError
from agent_tui.core.messages import ToolResult
from agent_tui.core.text import first_line, reveal
from agent_tui.tools.base import Arguments, Tool, ToolContext


class TaskArguments(Arguments):
    """Who is to do what."""

    agent: str = Field(description="Which subagent: one of those named in the description.")
    prompt: str = Field(
        min_length=1,
        description="The task, complete in itself: the subagent knows nothing of this "
        "conversation. Say what you want to know or have done, and how to report it.",
    )


class Task(Tool[TaskArguments]):
    """Lets a subagent work on a prompt and gives back its last answer.

    Args:
        agents: what each subagent is for, by name.
    """

    name = "task"
    parameters = TaskArguments

    def __init__(self, agents: Mapping[str, str]) -> None:
        self._agents = dict(agents)
        told = "\n".join(f"- {name}: {purpose}" for name, purpose in agents.items())
        self.description = (
            "Give a task to a subagent. It has a context of its own and returns only its final "
            "report, so that long searches do not fill your context. Several tasks in one answer "
            f"run at the same time. Subagents:\n{told}"
        )

    @property
    def changes_files(self) -> bool:
        """By what the subagent does, which acts by tools of its own."""
        return True

    def title(self, arguments: TaskArguments) -> str:
        return f"{reveal(arguments.agent)}: {reveal(first_line(arguments.prompt, 80))}"

    async def run(self, arguments: TaskArguments, context: ToolContext) -> ToolResult:
        if arguments.agent not in self._agents:
            known = ", ".join(self._agents)
            raise ToolError(f"There is no subagent {arguments.agent!r}. There are: {known}.")
        if context.spawn is None:
            raise ToolError("No subagent can be started here.")
        return await context.spawn(arguments.agent, arguments.prompt)
