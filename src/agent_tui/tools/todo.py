"""The agent's list of what is to do, whole at each call."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from agent_tui.core import todo
from agent_tui.core.messages import ToolResult
from agent_tui.core.text import first_line
from agent_tui.core.todo import TODO_TOOL, TodoState, describe_todo
from agent_tui.tools.base import Arguments, Tool, ToolContext

_MARKS = {"done": "[x]", "doing": "[~]", "open": "[ ]"}


class TodoItem(BaseModel):
    """One thing to do."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    text: str = Field(
        min_length=1, max_length=400, description="What is to be done, in a few words."
    )
    state: TodoState = Field(default="open", description="One item at a time is 'doing'.")


class TodoArguments(Arguments):
    """The whole list."""

    items: list[TodoItem] = Field(max_length=50, description="Every item, in order.")


class Todo(Tool[TodoArguments]):
    """Keeps a plan in view of the person and of the model."""

    name = TODO_TOOL
    description = (
        "Keep a to-do list, for tasks of three steps and more. Send the whole list each "
        "time: mark one item as 'doing' when you begin it and 'done' as soon as it is."
    )
    parameters = TodoArguments

    def title(self, arguments: TodoArguments) -> str:
        return describe_todo([todo.TodoItem(item.text, item.state) for item in arguments.items])

    async def run(self, arguments: TodoArguments, context: ToolContext) -> ToolResult:
        lines = [f"{_MARKS[item.state]} {first_line(item.text, 400)}" for item in arguments.items]
        return ToolResult("\n".join(lines) or "[the list is empty]")
