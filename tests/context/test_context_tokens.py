from __future__ import annotations

import json
import lzma
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_tui import resources
from agent_tui.context.tokens import ranks
from agent_tui.context.tokens.estimate import estimate_tokens, quick_token_count
from agent_tui.context.tokens.ranks import load_encoding
from agent_tui.context.tokens.tokens import TokenCounter
from agent_tui.core import messages as messages_module
from agent_tui.core.errors import StorageError
from agent_tui.core.messages import MediaPart, TextPart, ThinkPart, ToolCall
from agent_tui.core.records import AssistantMessage, Message, ToolMessage, UserMessage
from agent_tui.providers.base import ToolSchema

SAMPLES = Path(__file__).parent / "samples"
ROWS = [{"id": n * 7919, "name": f"user-{n}", "ok": n % 3 == 0, "score": n / 7} for n in range(40)]
LOG = "\n".join(
    f"2025-03-{n % 28 + 1:02} 10:{n:02}:09,{n * 37 % 1000:03} ERROR worker.{n % 7}: job "
    f"{n * 104729:x} timed out after {n * 0.37:.3f}s on 10.0.{n}.{n * 3 % 255}"
    for n in range(60)
)
CODE = Path(messages_module.__file__).with_name("records.py")


def texts() -> dict[str, str]:
    return {
        "english": (SAMPLES / "english.txt").read_text(encoding="utf-8"),
        "chinese": (SAMPLES / "chinese.txt").read_text(encoding="utf-8"),
        "code": CODE.read_text(encoding="utf-8"),
        "json": json.dumps(ROWS),
        "logs": LOG,
    }


@pytest.mark.parametrize("kind", ["english", "chinese", "code", "json", "logs"])
def test_the_estimate_is_within_ten_percent_of_tiktoken(kind: str) -> None:
    text = texts()[kind]
    exact = len(load_encoding("o200k_base").encode_ordinary(text))
    assert abs(estimate_tokens(text) - exact) <= exact / 10


@pytest.mark.parametrize("kind", ["english", "chinese", "code", "json"])
def test_a_glance_is_within_a_quarter_of_tiktoken(kind: str) -> None:
    text = texts()[kind]
    exact = len(load_encoding("o200k_base").encode_ordinary(text))
    assert abs(quick_token_count(text) - exact) <= exact / 4


def test_warm_counts_are_tiktokens_own() -> None:
    counter = TokenCounter("gpt-4o")
    text = texts()["english"]
    guess = counter.count_text(text)
    assert not counter.exact
    counter.warm()
    assert counter.exact
    exact = len(load_encoding("o200k_base").encode_ordinary(text))
    assert counter.count_text(text) == exact != guess


def test_ranks_come_from_the_package_and_leave_the_users_cache_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import socket

    from agent_tui.context.tokens import ranks

    def refuse(*_: object) -> None:
        raise AssertionError("the network was used")

    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(socket.socket, "connect", refuse)
    ranks._make_encoding.cache_clear()
    assert load_encoding("cl100k_base").encode_ordinary("tiktoken is great!") == [
        83, 1609, 5963, 374, 2294, 0,
    ]  # fmt: skip
    assert not list(tmp_path.iterdir())


def test_a_model_without_known_ranks_is_estimated() -> None:
    counter = TokenCounter("some-model-of-2031")
    counter.warm()
    assert not counter.exact


def test_everything_that_is_sent_is_counted() -> None:
    counter = TokenCounter()
    count = counter.count_message
    call = ToolCall("c", "read_file", '{"path": "src/very/long/path/to/a/module.py"}')
    plain, calling = AssistantMessage("done"), AssistantMessage("done", (call,))
    thinking = AssistantMessage((ThinkPart("a long thought about it"), TextPart("done")), (call,))
    picture = UserMessage((TextPart("see"), MediaPart("image_url", "https://x.y/z.png")))
    assert count(plain) < count(calling) < count(thinking)
    assert count(picture) - count(UserMessage("see")) == 765
    tool = ToolSchema("read_file", "Reads a file.", {"type": "object", "properties": {}})
    assert counter.count_tools([tool]) > counter.count_text("Reads a file.")


def test_thinking_that_is_not_sent_is_not_counted() -> None:
    thought = (ThinkPart("a long thought about it"), TextPart("done"))
    alone = TokenCounter().count_message(AssistantMessage(thought))
    assert alone == TokenCounter().count_message(AssistantMessage("done"))
    calling = AssistantMessage(thought, (ToolCall("c", "t", "{}"),))
    never = TokenCounter(thinking_sent=False)
    assert never.count_message(calling) < TokenCounter().count_message(calling)


def test_a_text_is_counted_once() -> None:
    counter = TokenCounter()
    for _ in range(3):
        counter.count_message(UserMessage("the same words"))
    assert (counter.statistics.hits, counter.statistics.misses) == (2, 1)


def test_a_huge_text_is_counted_from_samples_and_about_right() -> None:
    counter = TokenCounter("gpt-4o")
    counter.warm()
    text = texts()["english"] * 200
    exact = len(load_encoding("o200k_base").encode_ordinary(text))
    assert abs(counter.count_text(text) - exact) < exact / 10


messages = st.one_of(
    st.builds(UserMessage, st.text()),
    st.builds(ToolMessage, st.just("c"), st.text()),
    st.builds(AssistantMessage, st.text()),
)


@given(st.lists(messages), messages)
def test_one_more_message_never_makes_a_context_smaller(held: list[Message], new: Message) -> None:
    counter = TokenCounter()
    assert sum(counter.count_messages([*held, new])) > sum(counter.count_messages(held))


@given(st.text(), st.text())
def test_more_text_is_never_estimated_as_much_less(one: str, other: str) -> None:
    assert estimate_tokens(one + other) >= max(estimate_tokens(one), estimate_tokens(other)) - 1


def test_ranks_that_are_not_those_we_ship_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packed = bytearray(resources.token_ranks("cl100k_base").read_bytes())
    other = tmp_path / "cl100k_base.tiktoken.xz"
    other.write_bytes(lzma.compress(lzma.decompress(packed) + b"AAAA 200000\n", preset=0))
    monkeypatch.setattr(resources, "token_ranks", lambda _name: other)
    monkeypatch.setattr(ranks, "_make_encoding", ranks._make_encoding.__wrapped__)
    with pytest.raises(StorageError, match="damaged"):
        load_encoding("cl100k_base")
