"""When a request to a model is repeated: transient failures only, never after the first token."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

from agent_tui.core.errors import ProviderError
from agent_tui.core.events import StepRetried

if TYPE_CHECKING:
    from tenacity import RetryCallState

_LONGEST_WAIT_SECONDS = 120.0

Result = TypeVar("Result")


def is_transient(error: BaseException) -> bool:
    """Whether the same request may succeed later."""
    return isinstance(error, ProviderError) and error.retryable


def wait_seconds(state: RetryCallState) -> float:
    """How long to wait: what the server asked for, else an exponential backoff with jitter."""
    error = state.outcome.exception() if state.outcome else None
    if isinstance(error, ProviderError) and error.retry_after_seconds is not None:
        return min(error.retry_after_seconds, _LONGEST_WAIT_SECONDS)
    return back_off(state)


def back_off(state: RetryCallState) -> float:
    """Seconds that grow with each attempt, with a little jitter."""
    from tenacity import wait_exponential_jitter

    return wait_exponential_jitter(multiplier=0.5, max=30, jitter=0.5)(state)


async def ask_again(
    ask: Callable[[], Awaitable[Result]],
    *,
    max_attempts: int,
    on_retry: Callable[[StepRetried], None],
) -> Result:
    """Call ``ask`` until it succeeds, fails for good, or ``max_attempts`` are used up.

    ``ask`` must raise a ProviderError with ``retryable`` false once a token has been shown.
    """
    try:
        return await ask()
    except ProviderError as error:
        if not is_transient(error) or max_attempts <= 1:
            raise
        failed = [error]
    # Seldom needed, so it is not loaded before the first answer.
    from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt

    async def attempt() -> Result:
        if failed:
            raise failed.pop()
        return await ask()

    def announce(state: RetryCallState) -> None:
        error = state.outcome.exception() if state.outcome else None
        wait = state.next_action.sleep if state.next_action else 0.0
        on_retry(StepRetried(state.attempt_number, wait, str(error)))

    retrying = AsyncRetrying(
        retry=retry_if_exception(is_transient),
        wait=wait_seconds,
        stop=stop_after_attempt(max_attempts),
        before_sleep=announce,
        reraise=True,
    )
    return await retrying(attempt)
