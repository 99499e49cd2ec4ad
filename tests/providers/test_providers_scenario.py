"""A scenario file is read whole, or refused in words that name the place."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_tui.core.errors import ConfigError
from agent_tui.providers.demo.scenario import Fault, Scenario, Scene, ScriptedCall, load_scenario

GOOD = """
window = 5000
suggestions = ["Hello"]

[[script]]
text = "Hi"
faults = [{ status = 429, retry_after_seconds = 1 }]

[[scenes]]
name = "fix"
on = ["fix bug"]
[[scenes.replies]]
calls = [{ name = "read_file", arguments = { path = "x" } }]
"""


def write(folder: Path, text: str | bytes) -> Path:
    path = folder / "scenario.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_a_file_becomes_a_scenario(tmp_path: Path) -> None:
    scenario = load_scenario(write(tmp_path, GOOD))
    assert isinstance(scenario, Scenario)
    assert scenario.window == 5000
    assert scenario.script[0].faults == (Fault(status=429, retry_after_seconds=1),)
    assert scenario.scenes[0].replies[0].calls == (ScriptedCall("read_file", {"path": "x"}),)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("window = \n", "line 1"),
        ("window = 'big'", "window: Input should be a valid integer"),
        ("windoe = 5", "windoe: there is no such field"),
        ("window = 0", "must be positive"),
        ("[[scenes]]\nname = 'a'", "scenes[0].on"),
        ("[[scenes]]\nname = 'a'\non = []\nreplies = []", "has no replies"),
        ("[[scenes]]\nname = 'A b'\non = []\nreplies = [{}]", "letters, digits and dashes"),
        (
            "[[scenes]]\nname = 'a'\non = []\nreplies = [{}]\n" * 2,
            "two scenes are called 'a'",
        ),
        ("[[script]]\ncalls = [{ nam = 'x' }]", "script[0].calls[0].name"),
        ("[[script]]\nexpects = '('", "script[0]: expects is not a regular expression"),
        ("[[script]]\nfaults = [{ kind = 'fire' }]", "script[0].faults[0].kind"),
        (b"\xff\xfe", "not UTF-8 text (byte 0)"),
        ("x = '\x1b[2J'", "line 1"),
    ],
)
def test_a_wrong_file_is_refused_in_words(tmp_path: Path, text: str | bytes, words: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(ConfigError) as refused:
        load_scenario(path)
    assert words in str(refused.value)
    assert str(path) in str(refused.value)
    assert str(refused.value).isprintable()


def test_a_missing_file_or_a_folder_is_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read: No such file"):
        load_scenario(tmp_path / "none.toml")
    with pytest.raises(ConfigError, match="cannot be read: Is a directory"):
        load_scenario(tmp_path)


def test_a_scenario_made_in_code_is_checked_as_well() -> None:
    with pytest.raises(ValueError, match="has no replies"):
        Scene("a", (), ())
