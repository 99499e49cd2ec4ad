"""Requests are made again only where that can help, and never behind a person's back."""

import pytest

from agent_tui.agent import retry
from agent_tui.core.errors import ProviderError
from agent_tui.core.events import StepRetried


class Server:
    """Fails with each error in turn, then answers."""

    def __init__(self, *errors: ProviderError) -> None:
        self.errors = list(errors)
        self.asked = 0

    async def ask(self) -> str:
        self.asked += 1
        if self.errors:
            raise self.errors.pop(0)
        return "answer"


@pytest.fixture(autouse=True)
def _no_backoff(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retry, "back_off", lambda _state: 0.0)


async def ask(server: Server, told: list[StepRetried] | None = None, most: int = 5) -> str:
    heard: list[StepRetried] = [] if told is None else told
    return await retry.ask_again(server.ask, max_attempts=most, on_retry=heard.append)


async def test_a_transient_failure_is_retried_and_every_retry_is_told() -> None:
    told: list[StepRetried] = []
    server = Server(ProviderError("busy", retryable=True), ProviderError("busy", retryable=True))
    assert await ask(server, told) == "answer"
    assert [(event.attempt, event.reason) for event in told] == [(1, "busy"), (2, "busy")]


async def test_a_refusal_is_not_retried() -> None:
    server = Server(ProviderError("wrong key", status=401))
    with pytest.raises(ProviderError, match="wrong key"):
        await ask(server)
    assert server.asked == 1


async def test_the_last_failure_is_the_one_that_is_raised() -> None:
    server = Server(*(ProviderError(f"try {n}", retryable=True) for n in range(9)))
    with pytest.raises(ProviderError, match="try 2"):
        await ask(server, most=3)


async def test_the_wait_is_what_the_server_asked_for() -> None:
    told: list[StepRetried] = []
    await ask(Server(ProviderError("slow", retryable=True, retry_after_seconds=0.01)), told)
    assert [event.wait_seconds for event in told] == [0.01]
