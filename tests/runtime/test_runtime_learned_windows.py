"""A window that a server told of by refusing is kept for its model, and only ever narrows."""

from __future__ import annotations

from pathlib import Path

from agent_tui.runtime.connect.learned_windows import LearnedWindows
from tests.agent.stage import Stage
from tests.agent.test_agent_compaction import Cramped


def test_what_was_learned_is_known_in_the_next_run(tmp_path: Path) -> None:
    LearnedWindows(tmp_path / "w.json").learn("small", 8_192)
    known = LearnedWindows(tmp_path / "w.json")
    assert (known.apply("small", 128_000), known.apply("small", 4_000)) == (8_192, 4_000)
    assert known.apply("other", 128_000) == 128_000


def test_a_damaged_file_is_nothing_known(tmp_path: Path) -> None:
    for text in ("{", '["a"]', '{"small": "8k", "b": -1, "c": true}'):
        (tmp_path / "w.json").write_text(text)
        assert LearnedWindows(tmp_path / "w.json").apply("small", 9) == 9


async def test_a_session_begins_with_the_window_that_an_earlier_one_learned(
    tmp_path: Path,
) -> None:
    async with Stage(tmp_path, provider=Cramped(12_000), window=100_000) as stage:
        for turn in range(7):
            assert await stage.say(f"Question {turn}") == "done"
        learned = stage.session.gauge.window
        assert learned < 100_000
    async with Stage(tmp_path, provider=Cramped(12_000), window=100_000) as stage:
        assert stage.session.gauge.window == learned


async def test_a_window_that_the_refusal_of_a_summary_names_is_kept_too(tmp_path: Path) -> None:
    """Asked for by hand, in a context that no turn had found too long."""
    server = Cramped(100_000, told=4_096)
    async with Stage(tmp_path, provider=server, window=100_000) as stage:
        for turn in range(6):
            assert await stage.say(f"Question {turn}") == "done"
        server.narrow(8_000)
        report = await stage.operations.compact()
        assert not report.fallback
        assert stage.session.gauge.window == 4_096
    async with Stage(tmp_path, provider=server, window=100_000) as stage:
        assert stage.session.gauge.window == 4_096
