"""Ask the user what only they can decide."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from agent_tui.core.errors import ToolError
from agent_tui.core.messages import ToolResult
from agent_tui.core.text import first_line, reveal
from agent_tui.tools.base import Arguments, Tool, ToolContext

NO_ANSWER = (
    "The question was not answered: the user did not want to, or nobody is there. Do not ask it "
    "again. Decide yourself, and say in your answer what you assumed."
)
_Choice = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]


class AskUserArguments(Arguments):
    """What to ask, and the answers to choose from."""

    question: str = Field(
        min_length=1, max_length=4_000, description="One question, complete in itself."
    )
    choices: list[_Choice] = Field(
        default=[],
        max_length=8,
        description="Answers to choose from, the one you recommend first. The user can always type "
        "another one. Leave it out for an open question.",
    )


class AskUser(Tool[AskUserArguments]):
    """Puts a question on screen, in the place of the prompt, and waits for the answer."""

    name = "ask_user"
    description = (
        "Ask the user a question and wait for the answer. Only for decisions that are theirs and "
        "that you cannot find out: a choice between designs, a missing requirement. Never ask for "
        "permission with it: actions that need one are asked about by themselves."
    )
    parameters = AskUserArguments

    def title(self, arguments: AskUserArguments) -> str:
        return reveal(first_line(arguments.question, 80))

    def queue(self, arguments: AskUserArguments) -> str:
        return self.name  # a person answers one question after the other

    async def run(self, arguments: AskUserArguments, context: ToolContext) -> ToolResult:
        if context.ask is None:
            raise ToolError(
                "Only the main agent can ask the user: put the question in your report."
            )
        answer = await context.ask(arguments.question, tuple(arguments.choices))
        if not answer.strip():
            return ToolResult(NO_ANSWER, is_error=True)
        return ToolResult(f"The user answered: {answer}")
