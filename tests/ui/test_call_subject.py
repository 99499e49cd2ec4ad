"""Behind the name of every tool stands a sentence for people, never raw JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agent_tui.agent.permissions import _tool_names
from agent_tui.ui.renderers.call_subject import describe_call

TODO = [{"text": "Look", "state": "done"}, {"text": "Mend it", "state": "doing"}, {"text": "Say"}]
CALLS: list[tuple[str, dict[str, Any], str]] = [
    ("ask_user", {"question": "Which one?\nTell me.", "choices": ["a", "b"]}, "Which one?"),
    ("background_command", {"number": 2, "action": "stop"}, "stop command 2"),
    ("edit_file", {"path": "a.py", "edits": [{"old_text": "x", "new_text": "y"}]}, "a.py"),
    ("fetch_url", {"url": "https://example.org/a"}, "https://example.org/a"),
    ("find_files", {"pattern": "*.py", "path": "src"}, "*.py  in src"),
    ("list_folder", {"path": "src"}, "src"),
    ("present_plan", {"plan": "# Round once\n\n1. Do it."}, "Round once"),
    ("read_file", {"path": "a.py"}, "a.py"),
    ("read_file", {"path": "a.py", "start_line": 40, "line_count": 20}, "a.py  lines 40-59"),
    ("read_file", {"path": "a.py", "start_line": 40}, "a.py  from line 40"),
    ("read_file", {"path": "a.py", "start_line": -20}, "a.py  the last 20 lines"),
    ("recall", {"query": "datum"}, "datum"),
    ("recall", {"message": "m12"}, "message m12"),
    ("run_command", {"command": "make\nmake check", "timeout_seconds": 5}, "make"),
    ("run_command", {"command": "serve", "background": True}, "serve  in the background"),
    ("search_files", {"pattern": "def ", "path": "src", "glob": "*.py"}, "def   in src"),
    ("search_web", {"query": "tides"}, "tides"),
    ("send_dmail", {"checkpoint": 3, "message": "Look\nin b"}, "✉ to checkpoint 3: Look"),
    ("task", {"agent": "explorer", "prompt": "Survey it."}, "explorer: Survey it."),
    ("think", {"thought": "Hm.\nSo."}, "Hm."),
    ("todo", {"items": TODO}, "1 of 3 done · Mend it"),
    ("write_file", {"path": "a.py", "content": "x = {}", "append": True}, "a.py  appended to"),
]


@pytest.mark.parametrize(("name", "arguments", "said"), CALLS)
def test_a_call_is_said_in_words(name: str, arguments: dict[str, Any], said: str) -> None:
    assert describe_call(name, json.dumps(arguments)) == said


def test_every_tool_there_is_has_a_sentence() -> None:
    assert set(_tool_names()) - {"edits"} == {name for name, _, _ in CALLS}


def test_half_written_arguments_say_what_is_there() -> None:
    assert describe_call("read_file", '{"path": "a.py", "start_l') == "a.py"
    assert describe_call("todo", '{"items": [{"text": "Lo') == ""
    assert describe_call("server__tool", '{"path": "x", "depth": 2}') == "x"
