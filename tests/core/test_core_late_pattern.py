"""A regular expression that is compiled when it is first used works like any other."""

import re

import pytest

from agent_tui.core.text import late_pattern


def test_it_finds_and_replaces_as_a_compiled_one_does() -> None:
    late, compiled = late_pattern("(b)a", re.IGNORECASE), re.compile("(b)a", re.IGNORECASE)
    assert late.sub("_", "aBab") == compiled.sub("_", "aBab") == "a_b"
    assert [found.group(1) for found in late.finditer("baBA")] == ["b", "B"]
    assert late.pattern == compiled.pattern
    assert late.match("x") is None


def test_it_is_compiled_once_and_only_when_it_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []
    compile_it = re.compile

    def count(pattern: str, flags: int = 0) -> re.Pattern[str]:
        compiled.append(pattern)
        return compile_it(pattern, flags)

    monkeypatch.setattr(re, "compile", count)
    late = late_pattern("a+")
    assert compiled == []
    assert [late.search(text) is not None for text in ("a", "b", "aa")] == [True, False, True]
    assert compiled == ["a+"]
