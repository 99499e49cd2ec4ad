"""Servers on loopback for the tests of providers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.providers.mock_ai_server import run_mock_ai_server
from tests.providers.sse_server import SseServer


@pytest.fixture
def sse_server() -> Iterator[SseServer]:
    """A chat server that answers by a script."""
    with SseServer() as server:
        yield server


@pytest.fixture(scope="session")
def mock_ai_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The base URL of the third-party server mock-ai-api, running in its own session."""
    with run_mock_ai_server(tmp_path_factory.mktemp("mock-ai") / "server.log") as url:
        yield url
