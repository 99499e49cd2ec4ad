"""The doctor: it says what is wrong, and shows no key."""

from __future__ import annotations

import pytest

from agent_tui.config import Settings
from agent_tui.runtime.machine import doctor
from tests.headless.command_line import CommandLine

KEY = "sk-canary-0123456789abcdef"


def states(run: CommandLine) -> dict[str, tuple[str, str]]:
    return {row["name"]: (row["state"], row["detail"]) for row in run("doctor", "--json").json}


def test_an_empty_home_is_healthy_but_has_no_provider(run: CommandLine) -> None:
    ran = run("doctor")
    assert ran.code == 0
    assert "! providers" in ran.out
    assert not run.home.exists()


def test_what_is_wrong_is_told_and_no_key_is_shown(run: CommandLine) -> None:
    run.home.mkdir(mode=0o755)
    run.home.chmod(0o755)
    run.set("OPENAI_API_KEY", KEY)
    (run.home / "config.toml").write_text("[mcp.servers.x]\ncommand = 'no-such-program'\n")
    found = states(run)
    assert found["mcp"] == ("warning", "x: no-such-program is not on PATH")
    assert found["providers"][0] == "ok"
    assert KEY not in str(found)
    assert "chmod 700" in run("doctor").out
    (run.home / "config.toml").write_text("[context]\nration = 1\n")
    ran = run("doctor")
    assert ran.code == 1
    assert "did you mean context.ratio?" in ran.out


@pytest.mark.parametrize(
    ("kind", "told"), [("landlock", "can write to .git"), ("none", "wherever you can")]
)
def test_what_a_weak_sandbox_leaves_open_is_told(
    monkeypatch: pytest.MonkeyPatch, kind: str, told: str
) -> None:
    monkeypatch.setattr(doctor, "sandbox_of", lambda _: kind)
    finding = doctor._check_sandbox(Settings())
    assert finding.state == "warning"
    assert told in finding.detail
