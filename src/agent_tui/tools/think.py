"""A place to think in words, for models that do not think by themselves."""

from __future__ import annotations

from pydantic import Field

from agent_tui.core.messages import ToolResult
from agent_tui.tools.base import Arguments, Tool, ToolContext


class ThinkArguments(Arguments):
    """The thought."""

    thought: str = Field(min_length=1, description="What you think, in full.")


class Think(Tool[ThinkArguments]):
    """Writes a thought down; nothing else happens."""

    name = "think"
    description = (
        "Think something through before you act: what is known, what is missing, what could go "
        "wrong. It changes nothing and finds nothing out."
    )
    parameters = ThinkArguments

    async def run(self, arguments: ThinkArguments, context: ToolContext) -> ToolResult:
        return ToolResult("Noted.")
