"""Time travel: D-Mails are posted by a tool, and carried out by the loop between two steps."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from agent_tui.agent.wire import Wire
from agent_tui.context.context import Context
from agent_tui.context.tokens.message_tokens import messages_of
from agent_tui.core.dmail import DMail
from agent_tui.core.errors import ToolError, UnknownCheckpoint
from agent_tui.core.events import DMailSent, Reverted
from agent_tui.core.messages import text_of
from agent_tui.core.records import Checkpoint, Message, UserMessage, is_prompt
from agent_tui.core.summary import OperationReport
from agent_tui.sessions.store import Durability

_DELIVERED = (
    "<system>You just got a D-Mail: a message from your own future, which continued from this "
    "point and was then abandoned. Changes that were made to files there are still on disk. "
    "Act on it; the user does not see it as a message of theirs.</system>\n\n"
)
_SAID_SINCE = "\n\n<system>The user has asked since then, and still waits for it:</system>\n"
DISCARDED = "The D-Mail was not sent, because an action of the same step was rejected."
UNSENT = "The D-Mail was not sent, because its step was interrupted."


class DMailArrived(Exception):
    """Ends a step: the loop goes back to the checkpoint of the D-Mail and delivers it there."""

    def __init__(self, dmail: DMail) -> None:
        super().__init__(f"D-Mail to checkpoint {dmail.checkpoint}")
        self.dmail = dmail


class DMailDesk:
    """Takes one D-Mail at a time from the agent's tool and hands it to the loop."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._pending: DMail | None = None

    def post(self, dmail: DMail) -> None:
        """Accept a D-Mail.

        Raises:
            ToolError: the checkpoint is negative, unknown or before a prompt, or one waits already.
        """
        if self._pending is not None:
            raise ToolError("A D-Mail was already sent in this step: only one is allowed.")
        if dmail.checkpoint < 0:
            raise ToolError(f"Expected a checkpoint of 0 or more, got {dmail.checkpoint}.")
        entry = self._context.state.checkpoints.get(dmail.checkpoint)
        if entry is None or not _is_of_a_step(entry.record):
            every = self._context.state.checkpoints.items()
            known = [number for number, each in every if _is_of_a_step(each.record)]
            raise ToolError(str(UnknownCheckpoint.among(dmail.checkpoint, known)))
        self._pending = dmail

    def take(self) -> DMail | None:
        """Remove and return the D-Mail that waits, if any."""
        dmail, self._pending = self._pending, None
        return dmail


def _is_of_a_step(record: object) -> bool:
    """A checkpoint in front of a prompt would take the prompt away too."""
    return isinstance(record, Checkpoint) and record.step != 0


def checkpoint_notice(number: int, turn: int) -> UserMessage:
    """How an agent that can send D-Mails is told of a checkpoint."""
    return UserMessage(f"<system>CHECKPOINT {number}</system>", origin="checkpoint", turn=turn)


async def go_back(
    context: Context,
    wire: Wire,
    dmail: DMail,
    turn: int,
    mark: Callable[[], Awaitable[None]],
) -> None:
    """Revert to the checkpoint of a D-Mail, make a new one with ``mark``, and deliver it there."""
    state = context.state
    cut = state.checkpoints[dmail.checkpoint].offset
    leaving = messages_of([entry for entry in state.messages if entry.offset > cut])
    archive = await context.revert_to(dmail.checkpoint, "dmail")
    wire.emit(DMailSent(dmail.checkpoint, dmail.message))
    await mark()
    await context.append(_delivered(dmail, leaving, turn), durability=Durability.D1)
    report = OperationReport("dmail", archive, dmail.checkpoint, len(leaving))
    wire.emit(Reverted(report))


def _delivered(dmail: DMail, leaving: Sequence[Message], turn: int) -> UserMessage:
    """The D-Mail as the past receives it, repeating the prompts that the revert removed."""
    asked = [text_of(message.content) for message in leaving if is_prompt(message)]
    since = _SAID_SINCE + "\n\n".join(asked) if asked else ""
    return UserMessage(f"{_DELIVERED}{dmail.message}{since}", origin="dmail", turn=turn)
