"""Laws of the scrubber: at every moment, exactly what the model was sent then."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path
from time import process_time

from agent_tui.context.filters import ContextFilter
from agent_tui.core.events import StreamPart
from agent_tui.core.messages import ToolCall
from agent_tui.core.records import (
    AssistantMessage,
    Checkpoint,
    CompactionRecord,
    Message,
    Record,
    SessionHeader,
    Stamp,
    ToolMessage,
    UsageRecord,
    UserMessage,
)
from agent_tui.history.records.compare import compare_branches
from agent_tui.history.scrub import Scrub
from agent_tui.importers.imported import ImportedCompaction
from agent_tui.providers.base import ModelRequest
from agent_tui.providers.demo.scenario import Scenario
from agent_tui.providers.demo.scripted import Scripted
from agent_tui.sessions.sent_messages import repaired_messages
from tests.agent.stage import Reply, Stage, call
from tests.history.views import source_of

LONG = "long " * 400


class Listening(Scripted):
    """The scripted provider, keeping what it was sent."""

    def __init__(self, scenario: Scenario) -> None:
        super().__init__(scenario)
        self.sent: list[tuple[Message, ...]] = []

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamPart, None]:
        if request.messages[-1:] and getattr(request.messages[-1], "origin", "") != "compaction":
            self.sent.append(request.messages)
        async for part in super().stream(request):
            yield part


def scenario() -> Scenario:
    replies = [
        Reply(text="Looking.", calls=(call("find_files", pattern="*"),)),
        *(Reply(text=f"Answer {number}.") for number in range(12)),
    ]
    summary = Reply(text="## Current focus\nThe letters.")
    return Scenario(script=tuple(replies), compactions=(summary,))


async def test_every_moment_shows_exactly_what_its_request_held(tmp_path: Path) -> None:
    provider = Listening(scenario())
    async with Stage(tmp_path, provider=provider) as stage:
        session = stage.session
        for letter in "abc":
            await stage.say(LONG + letter)
        await session.operations.revert(session.view.checkpoints()[-2].id)
        await stage.say(LONG + "d")
        await stage.say(LONG + "e")
        await session.operations.compact()
        await stage.say("f")
        tree = await session.view.tree()
        outline = tree.outline("turns")
        rows = [outline.row(index) for index in range(len(outline))]
        records = await tree.describe([row.place for row in rows])
        d = next(r for r in rows if getattr(records[r.place], "content", "") == LONG + "d")
        await session.operations.branch(await tree.branch_place(d))
        await stage.say("g")
        await session.operations.undo()
        scrub = Scrub(await session.view.tree())
        looks = [scrub.look(index) for index in range(len(scrub))]
        steps = [
            tuple(look.messages)
            for index, look in enumerate(looks)
            if scrub.moment(index).kind == "step"
        ]
        assert sorted(steps, key=repr) == sorted(provider.sent, key=repr)
        assert len(steps) >= 8
        changes = [look.happened for look in looks if look.happened]
        assert "compacted (manual)" in changes
        assert any(change.startswith("reverted to checkpoint") for change in changes)
        present = repaired_messages(r for r in session.view.records if isinstance(r, Message))
        assert list(looks[-1].messages) == present
        assert {look.system_prompt for look in looks} == {looks[0].system_prompt} != {""}
        assert all(look.at for look in looks)


async def test_turns_are_walked_from_prompt_to_prompt(tmp_path: Path) -> None:
    async with Stage(tmp_path, provider=Scripted(scenario())) as stage:
        for letter in "abc":
            await stage.say(letter)
        scrub = Scrub(await stage.session.view.tree())
        assert len(scrub) == 5, "four requests and now"
        forward = [0]
        while forward[-1] < len(scrub) - 1:
            forward.append(scrub.next_turn(forward[-1], 1))
        assert forward == [0, 2, 3, 4]
        back = [4]
        while back[-1]:
            back.append(scrub.next_turn(back[-1], -1))
        assert back == [4, 3, 2, 0]
        assert [scrub.look(i).turn for i in forward[:3]] == [1, 2, 3]


def imported(*records: Record, compactions: tuple[ImportedCompaction, ...] = ()) -> Scrub:
    source = source_of(records, compactions=compactions)
    return Scrub(source.build_tree(related=False))


def test_an_agent_that_keeps_compacted_messages_in_its_log_begins_anew_after_them() -> None:
    old = (UserMessage("a", "human"), AssistantMessage("1"))
    record = CompactionRecord("auto", "", 9, 3, 1)
    summary = UserMessage("summary", "compaction")
    later = (UserMessage("b", "human"), AssistantMessage("2"))
    compaction = ImportedCompaction(1, old, (record, summary, old[1]), "summary", 9)
    scrub = imported(*old, record, summary, *later, compactions=(compaction,))
    said = [[m.content for m in scrub.look(index).messages] for index in range(len(scrub))]
    assert said == [["a"], ["summary", "1"], ["summary", "1", "b"], ["summary", "1", "b", "2"]]
    assert "compacted (automatic)" in [scrub.look(index).happened for index in range(len(scrub))]


def test_what_was_sent_is_repaired() -> None:
    calls = AssistantMessage("", (ToolCall("c1", "run_command", "{"),))
    scrub = imported(UserMessage("a", "human"), calls, UserMessage("b", "human"))
    look = scrub.look(len(scrub) - 1)
    assert look.message_count == 3, "a repair adds to what is sent, not to what was said"
    now = look.messages
    assert [type(message) for message in now] == [
        UserMessage,
        AssistantMessage,
        ToolMessage,
        UserMessage,
    ]


def test_a_part_of_what_was_sent_is_its_newest_end() -> None:
    said = [UserMessage(str(n), "human", stamp=Stamp(at=f"2026-01-0{n}")) for n in range(1, 6)]
    scrub = imported(*said)
    whole = scrub.look(len(scrub) - 1)
    for part, kept in (
        (ContextFilter(max_messages=2), ["4", "5"]),
        (ContextFilter(since="2026-01-03"), ["3", "4", "5"]),
        (ContextFilter(max_tokens=7), ["5"]),
    ):
        look = scrub.look(len(scrub) - 1, part)
        assert [message.content for message in look.messages] == kept
        assert look.message_count == whole.message_count == 5


def test_a_step_in_ten_thousand_messages_takes_no_time() -> None:
    records: list[Record] = [SessionHeader("s", "/", "", "")]
    for turn in range(3_400):
        ask = ToolCall(f"c{turn}", "read_file", '{"path": "a"}')
        records += [
            Checkpoint(turn, turn, 0),
            UserMessage(f"prompt {turn}", "human", turn),
            AssistantMessage("text", (ask,), turn=turn),
            UsageRecord(turn * 10),
            ToolMessage(f"c{turn}", "out", turn=turn),
        ]
    scrub = imported(*records)
    scrub.look(0)
    began = process_time()
    for index in range(1_000, 1_050):
        assert len(scrub.look(index).messages) == index * 3 + 1
    assert (process_time() - began) / 50 < 0.02


def test_branches_are_aligned_where_they_say_the_same() -> None:
    def talk(*texts: str) -> list[Record]:
        return [UserMessage(text, "human") for text in texts]

    found = compare_branches(("l", talk(*"abcdxe")), ("r", talk(*"abwwe")), lambda _m: 2)
    assert found.common == 2
    assert found.pairs == ((0, 0), (1, 1), (2, 2), (3, 3), (4, None), (5, 4))
    assert (found.left.tokens, found.right.tokens) == (12, 10)
    same = compare_branches(("l", talk(*"ab")), ("r", talk(*"ab")), lambda _m: 1)
    assert (same.common, len(same.pairs)) == (2, 2)
    kept = compare_branches(("l", talk(*"abcd")), ("r", talk(*"scd")), lambda _m: 1)
    assert kept.pairs == ((0, 0), (1, None), (2, 1), (3, 2))
