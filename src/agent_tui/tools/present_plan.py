"""Put a plan before the person: the way out of plan mode."""

from __future__ import annotations

from pydantic import Field

from agent_tui.core.messages import ToolResult
from agent_tui.core.modes import PRESENT_PLAN
from agent_tui.core.text import first_line
from agent_tui.tools.base import Arguments, Tool, ToolContext


class PresentPlanArguments(Arguments):
    """The plan."""

    plan: str = Field(min_length=1, description="What you intend to do, step by step, in Markdown.")


class PresentPlan(Tool[PresentPlanArguments]):
    """Asks whether a plan may be carried out; there is this tool only while a plan is wanted."""

    name = PRESENT_PLAN
    description = (
        "You are in plan mode: read, search and think, but change and run nothing. When you know "
        "what to do, call this with the whole plan. If it is approved, carry it out."
    )
    parameters = PresentPlanArguments
    ends_plan = True

    def needs_approval(self, arguments: PresentPlanArguments) -> bool:
        return True

    def title(self, arguments: PresentPlanArguments) -> str:
        return first_line(arguments.plan.lstrip("# "))

    async def run(self, arguments: PresentPlanArguments, context: ToolContext) -> ToolResult:
        return ToolResult("The plan is approved. Carry it out.")
