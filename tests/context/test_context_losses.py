from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from agent_tui.context.compaction.diff import compare, find_losses, view_past
from agent_tui.context.compaction.selection import Selection
from agent_tui.context.tokens.tokens import TokenCounter
from agent_tui.core.messages import ToolCall
from agent_tui.core.records import AssistantMessage, Message, ToolMessage, UserMessage
from agent_tui.core.summary import CompactionReport, Loss
from agent_tui.importers.registry import import_session
from tests.importers.session_files import pi_answer, pi_entry, pi_header, pi_user, write_lines


def user(text: str) -> UserMessage:
    return UserMessage(text, "human")


def ran(number: int, command: str, output: str, *, failed: bool = False) -> list[Message]:
    call = ToolCall(f"c{number}", "run_command", f'{{"command": "{command}"}}')
    return [AssistantMessage("", (call,)), ToolMessage(call.id, output, is_error=failed)]


def named(losses: tuple[Loss, ...], kind: str) -> list[str]:
    return [loss.text for loss in losses if loss.kind == kind]


def test_what_the_summary_does_not_mention_is_a_loss() -> None:
    messages = [
        user("Never touch the billing tables. See https://example.org/spec for details."),
        AssistantMessage(
            "It took 340 ms before.",
            (ToolCall("e", "edit_file", '{"path": "src/billing.py"}'),),
        ),
        *ran(1, "make deploy", "ValueError: no region"),
    ]
    losses = find_losses(messages, "Nothing of note.")
    assert {loss.kind for loss in losses} == {
        "request", "url", "file", "command", "error", "number",
    }  # fmt: skip
    assert named(losses, "file") == ["src/billing.py"]
    assert named(losses, "command") == ["make deploy"]
    assert named(losses, "error") == ["ValueError: no region"]
    assert named(losses, "number") == ["340 ms"]


def test_what_is_mentioned_or_kept_is_no_loss() -> None:
    messages = [
        user("Please port the colour parser to the new tokenizer module."),
        AssistantMessage("", (ToolCall("e", "edit_file", '{"path": "/w/src/colour.py"}'),)),
        *ran(1, "make check 2>&1 | tail -5", "ok"),
    ]
    assert find_losses(messages, "Ported the colour parser to the new tokenizer module; "
                       "`make check` passes; changed colour.py.") == ()  # fmt: skip
    kept = "port the colour parser to the new tokenizer module, colour.py, make check"
    assert find_losses(messages, "", [kept]) == ()


def test_a_message_that_is_kept_is_searched_to_its_end() -> None:
    files = [f"src/mod{number}.py" for number in range(400)]
    listing = "\n".join(f"{path}: nothing to do here at all" for path in files)
    assert listing.index("src/mod300.py") > 8_000
    edit = ToolCall("e", "edit_file", '{"path": "x.py", "text": "%s\\nlate.py"}' % ("word " * 900))
    messages: list[Message] = [
        user("Look at src/mod300.py, src/mod399.py, late.py and src/gone.py."),
        user(listing),
        AssistantMessage("", (edit,)),
    ]
    view = compare(
        messages, [1] * 3, Selection((1, 2), (), (0,)), user("Summed up."), 1,
        CompactionReport("manual", "s", 3, 3, 2, 0, 1, 1),
    )  # fmt: skip
    assert named(view.losses, "file") == ["src/gone.py"]


def test_a_name_within_a_longer_name_is_no_mention() -> None:
    messages = [user("Look at src/mod8.py.")]
    assert named(find_losses(messages, "", ["src/mod80.py", "mod8x.py"]), "file") == ["src/mod8.py"]


def test_an_error_that_was_solved_weighs_less_than_one_that_stands() -> None:
    messages = [
        *ran(1, "make check", "ValueError: bad colour in theme"),
        *ran(2, "make check", "all good"),
        *ran(3, "make docs", "KeyError: missing anchor in index"),
    ]
    solved, standing = 0.0, 0.0
    for loss in find_losses(messages, ""):
        if loss.text.startswith("ValueError"):
            solved = loss.weight
        elif loss.text.startswith("KeyError"):
            standing = loss.weight
    assert 0 < solved < standing / 2


def test_commands_that_only_look_are_not_reported() -> None:
    messages = ran(1, "cd /w && ls -la && git status && grep -n 'a && b' x.py", "x")
    assert named(find_losses(messages, ""), "command") == []


def test_small_talk_is_not_reported_and_a_request_is() -> None:
    messages = [user("ok, nice"), user("Rename the settings module and update every import of it.")]
    assert {loss.message for loss in find_losses(messages, "")} == {1}


def test_chinese_requests_are_found_and_found_to_be_mentioned() -> None:
    messages = [user("请不要修改队列的存储格式,否则旧版本无法回滚。")]
    assert find_losses(messages, "整理了调度逻辑。")
    assert find_losses(messages, "约定:不要修改队列的存储格式,否则旧版本无法回滚。") == ()


def test_one_message_does_not_fill_the_top_of_the_report() -> None:
    flood = user(
        "\n".join(f"You must never remove rule number {n} of the house." for n in range(9))
    )
    losses = find_losses([flood, user("Write the changelog entry for the new parser.")], "")
    assert 1 in [loss.message for loss in losses[:2]]


def test_losses_point_into_the_old_context() -> None:
    losses = find_losses([user("Rename the settings module everywhere.")], "", indices=[41])
    assert [loss.message for loss in losses] == [41]


_VOCABULARY = (
    "never use src/a.py https://h.org/x 12 ms Error: must keep the 请不要修改 parser port 8080 . ?"
)
WORDS = st.sampled_from([*_VOCABULARY.split(" "), "\n"])
MESSAGES = st.lists(
    st.one_of(
        st.lists(WORDS, max_size=20).map(lambda words: user(" ".join(words))),
        st.lists(WORDS, max_size=20).map(lambda words: AssistantMessage(" ".join(words))),
        st.text(max_size=200).map(lambda text: ToolMessage("c", text, is_error=True)),
    ),
    max_size=12,
)


@given(MESSAGES, st.text(max_size=100))
def test_the_report_is_the_same_every_time_and_worst_first(
    messages: list[Message], summary: str
) -> None:
    losses = find_losses(messages, summary)
    assert losses == find_losses(messages, summary)
    weights = [loss.weight for loss in losses]
    assert weights == sorted(weights, reverse=True)
    assert all(0 <= loss.message < len(messages) for loss in losses)


@given(MESSAGES)
def test_a_summary_that_says_everything_loses_nothing_but_spelling(messages: list[Message]) -> None:
    everything = "\n".join(str(message.content) for message in messages)
    assert len(find_losses(messages, everything)) <= len(find_losses(messages, ""))


def test_the_report_on_a_foreign_compaction_is_as_reviewed(tmp_path: Path) -> None:
    """A session in pi's format, made for this test, and what a reader finds missing in it."""
    summary = "The user asked for a tide table. write_table now lives in tidewatch/table.py."
    texts = (
        "Please print a tide table of the harbour, one line for each day.",
        "I want the heights rounded half to even, never up. This must hold for the export as well.",
        "Looks good. Please also drop the --utc flag and explain it in docs/changelog.md.",
    )
    entries = [pi_header()]
    for number, text in enumerate(texts):
        before = f"a{number - 1}" if number else None
        entries.append(pi_user(text, f"q{number}", before))
        entries.append(pi_answer("Done; 412 rows in 38 ms.", f"a{number}", f"q{number}"))
    kept = {"tokensBefore": 900, "firstKeptEntryId": "a2"}
    entries.append(pi_entry("compaction", "c", "a2", summary=summary, **kept))
    made = import_session(write_lines(tmp_path / "s.jsonl", entries)).compactions[0]
    view = view_past(made.before, made.after, TokenCounter().count_message)
    assert [f"{loss.kind}: {loss.text}" for loss in view.losses] == [
        f"request: {texts[2]}",
        f"request: {texts[1]}",
        f"request: {texts[0]}",
        "decision: This must hold for the export as well.",
        "file: docs/changelog.md",
    ]


def test_both_sides_of_a_compaction_name_the_tool_of_a_result() -> None:
    messages: list[Message] = [user("Check it."), *ran(1, "make check", "all good")]
    report = CompactionReport("manual", "s", 3, 3, 2, 0, 1, 1)
    view = compare(messages, [1] * 3, Selection((1, 2), (), (0,)), None, 0, report)
    assert [message.tool for message in view.before] == ["", "", "run_command"]
