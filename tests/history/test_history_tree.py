"""Laws of the tree as people see and use it: nothing is lost, and every act on it can be undone."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_tui.core.errors import SessionError
from agent_tui.core.events import Reverted
from agent_tui.core.messages import text_of
from agent_tui.core.records import AssistantMessage, BranchSummary, HeadRecord, UserMessage
from agent_tui.core.tree import Detail, TreePlace, TreeRow
from agent_tui.history.tree.outline import find_rails
from agent_tui.history.tree.session_tree import SessionTree
from tests.agent.stage import Reply, Stage, call

ANSWERS = tuple(Reply(text=f"Answer {number}.") for number in range(12))


async def grow(stage: Stage) -> SessionTree:
    return await stage.session.view.tree()


async def told(stage: Stage, detail: Detail = "turns") -> list[str]:
    """The rows in words: indent, what they are, and the logs that end there."""
    return await tell(await grow(stage), detail)


async def tell(tree: SessionTree, detail: Detail = "turns") -> list[str]:
    outline = tree.outline(detail)
    rows = [outline.row(index) for index in range(len(outline))]
    records = await tree.describe([row.place for row in rows])
    lines = []
    for row in rows:
        record = records[row.place]
        words: str = row.kind
        if row.kind == "prompt" and isinstance(record, UserMessage):
            words = text_of(record.content)
        mark = "+ " if row.opens else ""
        names = [*(leaf for leaf in row.leaves if leaf.split()[0] in {"live", "archive"})]
        names += [f"“{title}”" for title in row.leaf_titles]
        ends = f" [{', '.join(names)}]" if names else ""
        lines.append(f"{'  ' * row.depth}{mark}{words}{ends}")
    return lines


async def find(stage: Stage, prompt: str, nth: int = 0) -> tuple[SessionTree, TreeRow]:
    """The row of a prompt."""
    tree = await grow(stage)
    outline = tree.outline("turns")
    rows = [outline.row(index) for index in range(len(outline))]
    records = await tree.describe([row.place for row in rows])
    found = [row for row in rows if getattr(records[row.place], "content", "") == prompt]
    return tree, found[nth]


async def branch_at(stage: Stage, prompt: str, nth: int = 0) -> TreePlace:
    """Where a branch from a prompt begins."""
    tree, row = await find(stage, prompt, nth)
    return await tree.branch_place(row)


async def end_at(stage: Stage, prompt: str, nth: int = 0) -> TreePlace:
    """Where the newest branch through a prompt ends."""
    tree, row = await find(stage, prompt, nth)
    return await tree.end_place(row)


async def summarise_from(stage: Stage, prompt: str, heard: list[str]) -> str:
    """Have the branch that goes through a prompt summarised."""
    tree, row = await find(stage, prompt)
    leaf, left = await tree.end_place(row), await tree.messages_left(row)
    return await stage.operations.summarise_branch(leaf.name, left, heard.append)


def prompts(stage: Stage) -> list[str]:
    """What a person said, as the context has it now."""
    records = [r for r in stage.session.view.records if isinstance(r, UserMessage)]
    return [text_of(r.content) for r in records if r.origin == "human"]


async def say(stage: Stage, *texts: str) -> None:
    for text in texts:
        await stage.say(text)


async def test_a_session_without_branches_is_one_row_a_prompt(tmp_path: Path) -> None:
    async with Stage(tmp_path, *ANSWERS) as stage:
        await say(stage, "a", "b")
        tree = await grow(stage)
        assert [line for line in await told(stage) if line != "record"] == ["a", "b [live]"]
        assert tree.branch_count == 0
        last = tree.outline("turns").row(len(tree.outline("turns")) - 1)
        assert last.standing == "context"
        assert last.end == tree.shape.leaf


async def test_what_a_revert_left_stands_beside_what_came_after(tmp_path: Path) -> None:
    async with Stage(tmp_path, *ANSWERS) as stage:
        await say(stage, "a", "b", "c")
        await stage.operations.revert(stage.session.view.checkpoints()[2].id)
        await say(stage, "d")
        assert (await told(stage))[-5:] == ["a", "  + b", "  c [archive 1]", "user", "d [live]"]


async def test_what_a_dmail_left_is_named_by_what_the_agent_did_there(tmp_path: Path) -> None:
    """It was named by the note that counts checkpoints for the model, tags included."""
    back = Reply(calls=(call("send_dmail", checkpoint=1, message="Not here."),))
    script = (Reply(text="I look.", calls=(call("list_folder", path="."),)), back, *ANSWERS)
    async with Stage(tmp_path, *script, spec="time-traveller") as stage:
        await say(stage, "a")
        tree = await grow(stage)
        outline = tree.outline("turns")
        (row,) = (outline.row(index) for index in outline.branch_rows())
        record = (await tree.describe([row.place]))[row.place]
        assert isinstance(record, AssistantMessage)
        assert text_of(record.content) == "I look."


async def test_a_branch_begins_before_a_prompt_which_comes_back(tmp_path: Path) -> None:
    async with Stage(tmp_path, *ANSWERS) as stage:
        await say(stage, "a", "b")
        before = stage.log.read_bytes()
        report = await stage.operations.branch(await branch_at(stage, "b"))
        assert (report.prompt, report.archive) == ("b", 0)
        assert isinstance(stage.events[-1], Reverted)
        assert prompts(stage) == ["a"]
        assert stage.log.read_bytes().startswith(before), "a branch only appends"
        await say(stage, "B")
        assert prompts(stage) == ["a", "B"]
        assert (await told(stage))[-4:] == ["a", "  + b", "head", "B [live]"]


async def test_a_branch_begins_behind_any_other_entry(tmp_path: Path) -> None:
    async with Stage(tmp_path, *ANSWERS) as stage:
        await say(stage, "a", "b")
        tree = await grow(stage)
        outline = tree.outline("steps")
        answer = next(r for r in map(outline.row, range(len(outline))) if r.kind == "step")
        assert (await stage.operations.branch(await tree.branch_place(answer))).prompt == ""
        assert prompts(stage) == ["a"]
        await say(stage, "c")
        assert prompts(stage) == ["a", "c"]


async def test_branches_are_undone_and_redone_one_by_one(tmp_path: Path) -> None:
    async with Stage(tmp_path, *ANSWERS) as stage:
        await say(stage, "a", "b")
        await stage.operations.branch(await branch_at(stage, "b"))
        await say(stage, "c")
        await stage.operations.branch(await branch_at(stage, "c"))
        seen = [prompts(stage)]
        for act in (
            stage.operations.undo,
            stage.operations.undo,
            stage.operations.redo,
            stage.operations.redo,
        ):
            await act()
            seen.append(prompts(stage))
        assert seen == [["a"], ["a", "c"], ["a", "b"], ["a", "c"], ["a"]]
        with pytest.raises(SessionError, match="nothing to redo"):
            await stage.operations.redo()
        await stage.operations.undo()
        assert prompts(stage) == ["a", "c"]


async def test_a_switch_goes_to_the_end_of_the_other_branch(tmp_path: Path) -> None:
    async with Stage(tmp_path, *ANSWERS) as stage:
        await say(stage, "a", "b", "c")
        await stage.operations.branch(await branch_at(stage, "b"))
        await say(stage, "d")
        await stage.operations.switch_branch(await end_at(stage, "b"))
        assert prompts(stage) == ["a", "b", "c"]
        assert not await stage.session.view.archives(), "both branches are in the live log"
        await stage.operations.undo()
        assert prompts(stage) == ["a", "d"]


async def test_a_switch_into_an_archive_restores_it(tmp_path: Path) -> None:
    async with Stage(tmp_path, *ANSWERS) as stage:
        await say(stage, "a", "b", "c")
        await stage.operations.revert(stage.session.view.checkpoints()[2].id)
        await say(stage, "d")
        report = await stage.operations.switch_branch(await end_at(stage, "b"))
        assert report.archive == 2
        assert prompts(stage) == ["a", "b", "c"]
        assert "  d [archive 2]" in await told(stage)


async def test_a_branch_from_an_archive_is_one_act_to_undo(tmp_path: Path) -> None:
    async with Stage(tmp_path, *ANSWERS) as stage:
        await say(stage, "a", "b", "c")
        await stage.operations.revert(stage.session.view.checkpoints()[2].id)
        await say(stage, "d")
        report = await stage.operations.branch(await branch_at(stage, "c"))
        assert (report.prompt, report.archive) == ("c", 2)
        assert prompts(stage) == ["a", "b"]
        await stage.operations.undo()
        assert prompts(stage) == ["a", "d"]
        await stage.operations.redo()
        assert prompts(stage) == ["a", "b"]


async def test_a_compaction_goes_on_from_what_it_compacted(tmp_path: Path) -> None:
    summaries = (Reply(text="## Current focus\nThe letters."),)
    async with Stage(tmp_path, *ANSWERS, compactions=summaries) as stage:
        await say(stage, *("long " * 400 + letter for letter in "abcd"))
        await stage.operations.compact()
        await say(stage, "e")
        lines = [line.replace("long ", "") for line in await told(stage)]
        assert lines[-6:] == ["a", "b", "c", "d [archive 1]", "compaction", "e [live]"]
        tree = await grow(stage)
        rows = [tree.outline("turns").row(i) for i in range(len(tree.outline("turns")))]
        assert [row.standing for row in rows[-3:]] == ["lineage", "context", "context"]


async def test_a_fork_goes_on_from_what_was_compacted_before_it(tmp_path: Path) -> None:
    summaries = (Reply(text="## Current focus\nThe letters."),)
    async with Stage(tmp_path, *ANSWERS, compactions=summaries) as stage:
        await say(stage, *("long " * 400 + letter for letter in "abcd"))
        await stage.operations.compact()
        fork = await stage.engine.open_session(await stage.operations.fork())
        await fork.run_turn("e")
        lines = await tell(await fork.view.tree())
        left = "compaction [“long…”]"
        short = [line.replace("long ", "") for line in lines]
        assert short[-6:] == ["a", "b", "c", "d", left, "e [live]"]
        await fork.close()


async def test_a_branch_from_before_a_compaction_restores_what_it_compacted(tmp_path: Path) -> None:
    summaries = (Reply(text="## Current focus\nThe letters."),)
    async with Stage(tmp_path, *ANSWERS, compactions=summaries) as stage:
        texts = ["long " * 400 + letter for letter in "abcd"]
        await say(stage, *texts)
        await stage.operations.compact()
        report = await stage.operations.branch(await branch_at(stage, texts[3]))
        assert report.prompt == texts[3]
        assert prompts(stage) == texts[:3]
        await stage.operations.undo()
        assert "compaction" in (await told(stage))[-1] or "compaction" in (await told(stage))[-2]


async def test_labels_survive_reverts_compactions_and_restores(tmp_path: Path) -> None:
    summaries = (Reply(text="## Current focus\nThe letters."),)
    async with Stage(tmp_path, *ANSWERS, compactions=summaries) as stage:
        await say(stage, *("long " * 400 + letter for letter in "abcd"))
        for prompt, label in (("a", "start"), ("c", "the end")):
            tree, row = await find(stage, "long " * 400 + prompt)
            await stage.operations.label(tree.entry_id(row), label, tree.label_of(row))

        async def labels() -> list[str]:
            outline = (await grow(stage)).outline("turns")
            rows = map(outline.row, range(len(outline)))
            return [row.label for row in rows if row.label]

        assert await labels() == ["start", "the end"]
        await stage.operations.revert(stage.session.view.checkpoints()[2].id)
        assert await labels() == ["start", "the end"]
        await stage.operations.undo()
        await stage.operations.compact()
        assert await labels() == ["start", "the end"]
        await stage.operations.restore(1)
        assert await labels() == ["start", "the end"]
        tree, row = await find(stage, "long " * 400 + "c")
        await stage.operations.label(tree.entry_id(row), "", tree.label_of(row))
        assert await labels() == ["start"]


async def test_a_summary_of_the_branch_left_behind_is_told_to_the_model(tmp_path: Path) -> None:
    summaries = (Reply(text="## What was tried\nA regular expression."),)
    async with Stage(tmp_path, *ANSWERS, compactions=summaries) as stage:
        await say(stage, "a", "b")
        await stage.operations.branch(await branch_at(stage, "b"))
        heard: list[str] = []
        summary = await summarise_from(stage, "b", heard)
        assert summary == "".join(heard).strip() == "## What was tried\nA regular expression."
        written = stage.session.view.records[-2:]
        assert isinstance(written[0], BranchSummary)
        assert isinstance(written[1], UserMessage)
        assert written[1].origin == "branch"
        assert "A regular expression." in text_of(written[1].content)
        with pytest.raises(SessionError, match="Nothing new to summarise"):
            await summarise_from(stage, "a", heard)


async def test_an_act_where_the_session_is_already_changes_nothing(tmp_path: Path) -> None:
    async with Stage(tmp_path, *ANSWERS) as stage:
        await say(stage, "a")
        before = stage.log.read_bytes()
        with pytest.raises(SessionError, match="Already on this branch"):
            await stage.operations.switch_branch(await end_at(stage, "a"))
        with pytest.raises(SessionError, match="nothing to undo"):
            await stage.operations.undo()
        assert stage.log.read_bytes() == before


async def test_any_point_opens_with_the_context_as_it_was(tmp_path: Path) -> None:
    async with Stage(tmp_path, *ANSWERS) as stage:
        await say(stage, "a", "b", "c")
        await stage.operations.revert(stage.session.view.checkpoints()[2].id)
        await say(stage, "d")
        tree, row = await find(stage, "b")
        then = await stage.session.view.at_row(tree, row, "then")
        said = [text_of(r.content) for r in then.records if isinstance(r, UserMessage)]
        assert said == ["a", "b"]
        tree, row = await find(stage, "d")
        assert list(tree.contents_at(row).records) == list(stage.session.view.records)


async def test_every_record_has_a_row_when_all_is_shown(tmp_path: Path) -> None:
    async with Stage(tmp_path, *ANSWERS) as stage:
        await say(stage, "a", "b")
        await stage.operations.branch(await branch_at(stage, "b"))
        await say(stage, "c")
        tree = await grow(stage)
        outline = tree.outline("records")
        places = [outline.row(index).place for index in range(len(outline))]
        assert sorted(places) == list(range(len(tree.tree)))
        assert [outline.row_of(place) for place in places] == list(range(len(places)))
        assert sum(isinstance(r, HeadRecord) for r in stage.session.view.records) == 1


async def test_forks_are_part_of_the_tree(tmp_path: Path) -> None:
    async with Stage(tmp_path, *ANSWERS) as stage:
        await say(stage, "a", "b")
        await stage.operations.revert(stage.session.view.checkpoints()[2].id)
        await say(stage, "c")
        fork = (await stage.operations.undo()).fork
        assert fork
        lines = await told(stage)
        title = (await stage.engine.open_session(fork)).view.title
        assert any(f"“{title}”]" in line for line in lines), "a fork has a name, not an id"
        other = await stage.engine.open_session(fork)
        tree = await other.view.tree()
        names = {source.session_id for source in tree.tree.sources}
        assert names == {fork, stage.session.session_id}
        await other.close()


@pytest.mark.parametrize(
    ("rows", "drawn"),
    [
        ("0 1o 1 0", ["", "├─", "│ ", ""]),
        ("0 1o 1", ["", "└─", "  "]),
        ("0 1o 1 1o 0", ["", "├─", "│ ", "├─", ""]),
        ("0 1o 2o 2 1o 1", ["", "├─", "│ └─", "│   ", "└─", "  "]),
        ("0 1o 2o 1 0", ["", "├─", "│ ├─", "│ ", ""]),
    ],
)
def test_a_rail_ends_where_nothing_follows_it(rows: str, drawn: list[str]) -> None:
    depths = [int(row[0]) for row in rows.split()]
    opens = [row.endswith("o") for row in rows.split()]
    rails = find_rails(depths, opens)

    def draw(index: int) -> str:
        on = [bool(rails[index] >> column & 1) for column in range(depths[index])]
        drawn = ["│ " if goes_on else "  " for goes_on in on]
        if opens[index]:
            drawn[-1] = "├─" if on[-1] else "└─"
        return "".join(drawn)

    assert [draw(index) for index in range(len(depths))] == drawn
