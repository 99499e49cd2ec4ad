"""Arguments can be read by people while a model still writes them."""

from hypothesis import given
from hypothesis import strategies as st

from agent_tui.core.arguments import show_arguments


def test_fields_are_shown_as_text() -> None:
    text = '{"path": "a\\nb", "lines": [1, 2], "deep": {"x": true}}'
    assert show_arguments(text) == {"path": "a\nb", "lines": "[1, 2]", "deep": '{"x": true}'}


def test_unfinished_arguments_show_what_is_there() -> None:
    assert show_arguments('{"path": "src/pa') == {"path": "src/pa"}
    assert show_arguments('{"count": 3, "te') == {"count": "3"}
    assert show_arguments("") == {}


@given(st.text(alphabet='{}[]":,\\abc1 \n\ud800'))
def test_no_text_is_too_broken(text: str) -> None:
    assert isinstance(show_arguments(text), dict)
