"""Send a message back in time, to an earlier checkpoint of the same session."""

from __future__ import annotations

from collections.abc import Callable

from pydantic import Field

from agent_tui.core.dmail import DMail
from agent_tui.core.messages import ToolResult
from agent_tui.core.text import first_line, reveal
from agent_tui.tools.base import Arguments, Tool, ToolContext


class SendDMailArguments(Arguments):
    """Where to, and what."""

    checkpoint: int = Field(
        description="The number of the checkpoint to go back to, as a CHECKPOINT notice tells it."
    )
    message: str = Field(
        min_length=1,
        description="What you need to know there: what you found out, what you changed in files, "
        "what to do and what to leave. Nothing else of your present will be remembered.",
    )


class SendDMail(Tool[SendDMailArguments]):
    """Hands a D-Mail to the loop, which goes back when the step is over.

    Args:
        post: takes the D-Mail; raises ToolError where it cannot be delivered.
    """

    name = "send_dmail"
    description = (
        "Send a message to your own past: the conversation goes back to a checkpoint, forgets what "
        "came after it, and continues with your message. Files are not changed back. Use it when "
        "much of your context turned out useless: a large file without what you looked for, a "
        "wrong path, a fix that took many tries. Tell your past self the result."
    )
    parameters = SendDMailArguments

    def __init__(self, post: Callable[[DMail], None]) -> None:
        self._post = post

    def title(self, arguments: SendDMailArguments) -> str:
        return f"to checkpoint {arguments.checkpoint}: {reveal(first_line(arguments.message, 80))}"

    async def run(self, arguments: SendDMailArguments, context: ToolContext) -> ToolResult:
        self._post(DMail(arguments.checkpoint, arguments.message))
        return ToolResult(
            f"Accepted: it goes to checkpoint {arguments.checkpoint} after this step."
        )
