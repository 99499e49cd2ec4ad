"""Several providers in one run: each session asks its own, and a choice of model can be undone."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_tui.config import ProviderSettings, Settings
from agent_tui.providers.demo.scenario import Reply, Scenario
from agent_tui.providers.demo.scripted import Scripted
from agent_tui.providers.presets import PRESETS
from agent_tui.runtime.connect.connecting import with_scheme
from agent_tui.runtime.connect.connections import Connections
from agent_tui.sessions.replay import read_log
from tests.agent.stage import Stage

TWO = Settings(providers={"two": ProviderSettings(base_url="http://127.0.0.1:9/v1")})


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for preset in PRESETS.values():
        if preset.key_env:
            monkeypatch.delenv(preset.key_env, raising=False)


def connections(*, only: bool = False) -> Connections:
    return Connections(TWO, Scripted(Scenario()), "scripted", 1_000, only=only)


async def test_a_log_that_names_another_provider_is_continued_there() -> None:
    known = connections()
    there = known.find("two", "small")
    assert (there.provider.name, there.model) == ("two", "small")
    assert known.find("two", "large").provider is there.provider, "made once"
    assert known.find("gone", "small") is known.default
    assert known.find(known.default.provider.name, "scripted") is known.default
    await known.aclose()


async def test_a_model_is_chosen_by_name_or_with_its_provider() -> None:
    known = connections()
    here = known.default.provider.name
    other, own = known.choose("two/small", here), known.choose("org/small", here)
    assert other is not None
    assert own is not None
    assert (other.provider.name, other.model) == ("two", "small")
    assert (own.provider.name, own.model) == (here, "org/small"), "a slash is part of many names"
    assert known.choose("small", "gone") is None
    await known.aclose()


async def test_a_demo_asks_nobody_else() -> None:
    known = connections(only=True)
    assert known.find("two", "small") is known.default
    chosen = known.choose("two/small", known.default.provider.name)
    assert chosen is not None
    assert chosen.provider is known.default.provider
    await known.aclose()


async def test_a_change_of_provider_is_written_and_undone(tmp_path: Path) -> None:
    stage = Stage(tmp_path, Reply(text="ok"), Reply(text="ok again"))
    stage.engine.connections._settings = TWO
    async with stage:
        await stage.say("one")
        here = read_log(stage.log).provider
        await stage.operations.use_model("two/small")
        state = read_log(stage.log)
        assert (state.provider, state.model) == ("two", "small")
        assert (await stage.operations.undo()).told == "Model: scripted"
        state = read_log(stage.log)
        assert (state.provider, state.model) == (here, "scripted")
        assert await stage.say("two") == "done", "the first provider is asked again"


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("127.0.0.1:8000/v1", "http://127.0.0.1:8000/v1"),
        ("localhost:11434", "http://localhost:11434"),
        ("192.168.0.7:1234", "http://192.168.0.7:1234"),
        ("8.8.8.8:8000", "https://8.8.8.8:8000"),
        ("999.1:8000", "https://999.1:8000"),
        ("models.example.org/v1", "https://models.example.org/v1"),
        ("https://models.example.org", "https://models.example.org"),
        ("ftp://models.example.org", "ftp://models.example.org"),
        ("//models.example.org", "//models.example.org"),
        ("a server", "a server"),
        ("name", "name"),
        ("key@models.example.org", "key@models.example.org"),
    ],
)
def test_the_scheme_of_an_address_may_be_left_out(typed: str, meant: str) -> None:
    assert with_scheme(typed) == meant
