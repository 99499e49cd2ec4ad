"""Names, labels and models are undone and redone in order with every other act."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from agent_tui.core.errors import SessionError
from agent_tui.core.events import Reverted
from agent_tui.core.messages import text_of
from agent_tui.core.records import ModelRecord, TitleRecord, UserMessage
from agent_tui.core.tree import TreeRow
from agent_tui.history.tree.session_tree import SessionTree
from agent_tui.providers.demo.scenario import Reply
from agent_tui.sessions.store import Durability
from tests.agent.stage import Stage, read_log


def numbered(count: int) -> tuple[Reply, ...]:
    return tuple(Reply(text=f"answer {number}") for number in range(1, count + 1))


async def talk(stage: Stage, *prompts: str) -> None:
    for prompt in prompts:
        assert await stage.say(prompt) == "done"


def asked(stage: Stage) -> list[str]:
    records = [r for r in stage.session.view.records if isinstance(r, UserMessage)]
    return [text_of(record.content) for record in records]


def seen(stage: Stage) -> tuple[str, int]:
    """The name, and how many prompts the context holds."""
    return stage.session.view.title, len(asked(stage))


def labels(stage: Stage) -> list[str]:
    """The labels, as the log on disk has them."""
    return list(read_log(stage.log).labels.values())


async def first_row(stage: Stage) -> tuple[SessionTree, TreeRow]:
    tree = await stage.session.view.tree(related=False)
    return tree, next(
        row for row in map(tree.outline("turns").row, range(9)) if row.kind == "prompt"
    )


async def name_first(stage: Stage, label: str) -> None:
    """Label the first prompt."""
    tree, row = await first_row(stage)
    await stage.operations.label(tree.entry_id(row), label, tree.label_of(row))


def place_of(stage: Stage, prompt: str) -> int:
    return next(c.id for c in stage.session.view.checkpoints() if c.prompt == prompt)


async def test_a_rename_before_a_revert_is_undone_behind_it(tmp_path: Path) -> None:
    async with Stage(tmp_path, *numbered(2)) as stage:
        await talk(stage, "one", "two")
        await stage.operations.rename("good name")
        await stage.operations.revert(place_of(stage, "two"))
        assert seen(stage) == ("good name", 1), "a name outlives the revert"
        story = []
        for act in (
            stage.operations.undo,
            stage.operations.undo,
            stage.operations.redo,
            stage.operations.redo,
        ):
            told = (await act()).told
            story.append((told, *seen(stage)))
        assert story == [
            ("Undid the revert", "good name", 2),
            ("Name: “one”", "one", 2),
            ("Name: “good name”", "good name", 2),
            ("Redid the revert", "good name", 1),
        ]
        with pytest.raises(SessionError, match="nothing to redo"):
            await stage.operations.redo()


async def test_a_rename_behind_a_revert_is_undone_before_it(tmp_path: Path) -> None:
    async with Stage(tmp_path, *numbered(2)) as stage:
        await talk(stage, "one", "two")
        await stage.operations.rename("first name")
        await stage.operations.revert(place_of(stage, "two"))
        await stage.operations.rename("second name")
        states = []
        for _ in range(3):
            await stage.operations.undo()
            states.append(seen(stage))
        assert states == [("first name", 1), ("first name", 2), ("one", 2)]
        with pytest.raises(SessionError, match="nothing to undo"):
            await stage.operations.undo()
        for _ in range(3):
            await stage.operations.redo()
            states.append(seen(stage))
        assert states[3:] == [("first name", 2), ("first name", 1), ("second name", 1)]


async def test_only_what_a_person_named_is_an_act(tmp_path: Path) -> None:
    async with Stage(tmp_path, *numbered(2)) as stage:
        await talk(stage, "one", "two")
        await stage.session._log.append(TitleRecord("as logs of old say"), durability=Durability.D1)
        await stage.operations.rename("as logs of old say")
        with pytest.raises(SessionError, match="nothing to undo"):
            await stage.operations.undo()
        await stage.operations.rename("by hand")
        await stage.operations.revert(place_of(stage, "two"))
        (said_again,) = stage.on_disk("_title")[1:]
        assert "before" not in said_again
        await stage.operations.undo()
        assert seen(stage) == ("by hand", 2)


async def test_undoing_goes_on_when_the_session_is_opened_again(tmp_path: Path) -> None:
    async with Stage(tmp_path, *numbered(1)) as stage:
        await talk(stage, "one")
        await stage.operations.rename("a")
        await stage.operations.rename("b")
        await stage.operations.undo()
        session_id = stage.session.session_id
    async with Stage(tmp_path, resume=session_id) as stage:
        assert stage.session.view.title == "a"
        await stage.operations.undo()
        assert stage.session.view.title == "one"
        for name in ("a", "b"):
            await stage.operations.redo()
            assert stage.session.view.title == name


async def test_a_new_name_ends_what_could_be_redone(tmp_path: Path) -> None:
    async with Stage(tmp_path, *numbered(2)) as stage:
        await talk(stage, "one", "two")
        await stage.operations.revert(place_of(stage, "two"))
        await stage.operations.undo()
        await stage.operations.rename("another act")
        with pytest.raises(SessionError, match="nothing to redo"):
            await stage.operations.redo()


async def test_an_undo_of_a_name_only_appends_and_says_that_nothing_moved(tmp_path: Path) -> None:
    async with Stage(tmp_path, *numbered(1)) as stage:
        await talk(stage, "one")
        await stage.operations.rename("a")
        before = stage.log.read_bytes()
        report = await stage.operations.undo()
        assert stage.log.read_bytes().startswith(before)
        (line,) = stage.lines()[len(before.splitlines()) :]
        assert {key: line[key] for key in ("role", "title", "before", "reason")} == {
            "role": "_title",
            "title": "one",
            "before": "a",
            "reason": "undo",
        }
        assert (report.moved, report.archive, report.fork) == (False, 0, "")
        assert stage.events[-1] == Reverted(report)


async def test_labels_are_undone_and_redone(tmp_path: Path) -> None:
    async with Stage(tmp_path, *numbered(1)) as stage:
        await talk(stage, "one")
        for label in ("here", "there", ""):
            await name_first(stage, label)
        story = []
        for act in (stage.operations.undo,) * 3 + (stage.operations.redo,) * 3:
            story.append(((await act()).told, labels(stage)))
        assert story == [
            ("Label: “there”", ["there"]),
            ("Label: “here”", ["here"]),
            ("Label removed", []),
            ("Label: “here”", ["here"]),
            ("Label: “there”", ["there"]),
            ("Label removed", []),
        ]


async def test_a_label_that_was_changed_stays_changed_when_the_change_is_reverted(
    tmp_path: Path,
) -> None:
    async with Stage(tmp_path, *numbered(2)) as stage:
        await talk(stage, "one")
        await name_first(stage, "old")
        await talk(stage, "two")
        for label in ("new", ""):
            await name_first(stage, label)
            await stage.operations.revert(place_of(stage, "two"))
            assert labels(stage) == ([label] if label else [])
            await stage.operations.undo()
            assert labels(stage) == ([label] if label else [])
        await stage.operations.undo()
        await stage.operations.undo()
        assert labels(stage) == ["old"]


async def test_a_label_that_only_an_archive_tells_is_changed_and_undone(tmp_path: Path) -> None:
    async with Stage(tmp_path, *numbered(1)) as stage:
        await talk(stage, "one")
        await name_first(stage, "old")
        await stage.operations.clear()
        assert labels(stage) == []

        async def shown() -> str:
            _, row = await first_row(stage)
            return row.label

        for label in ("new", ""):
            await name_first(stage, label)
            assert await shown() == label
            assert (await stage.operations.undo()).told == "Label: “old”"
            assert await shown() == "old"
        await stage.operations.redo()
        assert await shown() == ""


async def test_a_change_of_model_is_undone_and_outlives_a_revert(tmp_path: Path) -> None:
    async with Stage(tmp_path, *numbered(3)) as stage:
        await talk(stage, "one", "two")
        window = stage.session.gauge.window
        await stage.operations.use_model("gpt-4.1-mini")
        await stage.operations.revert(place_of(stage, "two"))
        assert read_log(stage.log).model == "gpt-4.1-mini"
        await stage.operations.undo()
        assert (await stage.operations.undo()).told == "Model: scripted"
        assert (stage.session.model, stage.session.gauge.window) == ("scripted", window)
        assert await stage.say("three") == "done"
        assert stage.on_disk("assistant")[-1]["model"] == "scripted"


async def test_a_rename_before_a_compaction_is_undone_behind_it(tmp_path: Path) -> None:
    long = [Reply(text="What was said at length. " * 80) for _ in range(3)]
    async with Stage(tmp_path, *long, compactions=(Reply(text="Summed up."),)) as stage:
        await talk(stage, "one", "two", "three")
        whole = asked(stage)
        await stage.operations.rename("good name")
        await stage.operations.compact()
        assert stage.session.view.title == "good name"
        assert (await stage.operations.undo()).told == "Undid the compaction"
        assert (stage.session.view.title, asked(stage)) == ("good name", whole)
        await stage.operations.undo()
        assert (stage.session.view.title, asked(stage)) == ("one", whole)


async def test_a_model_of_another_provider_is_put_back_in_the_log_alone(tmp_path: Path) -> None:
    async with Stage(tmp_path, *numbered(1)) as stage:
        await talk(stage, "one")
        change = ModelRecord("elsewhere", "small", "large")
        await stage.session._log.append(change, durability=Durability.D1)
        await stage.operations.undo()
        state = read_log(stage.log)
        assert (state.provider, state.model) == ("elsewhere", "large")
        assert stage.session.model == "scripted"


async def test_a_choice_is_undone_in_a_fork_too_and_leaves_the_other_session_alone(
    tmp_path: Path,
) -> None:
    async with Stage(tmp_path, *numbered(1)) as stage:
        await talk(stage, "one")
        await stage.operations.rename("a")
        await stage.operations.rename("b")
        await stage.operations.undo()
        fork = await stage.engine.open_session(await stage.operations.fork())
        await fork.operations.rename("its own")
        names = []
        for act in (
            fork.operations.undo,
            fork.operations.undo,
            fork.operations.redo,
            fork.operations.redo,
        ):
            await act()
            names.append(fork.view.title)
        assert names == ["a (fork)", "one", "a (fork)", "its own"]
        assert stage.session.view.title == "a"
        await fork.close()


@dataclass
class Ledger:
    """What the name, the label, the model and the prompts should be, act by act."""

    now: dict[str, object]
    done: list[tuple[str, object]] = field(default_factory=list)
    taken_back: list[tuple[str, object]] = field(default_factory=list)

    def change(self, key: str, value: object) -> None:
        if value != self.now[key]:
            self.done.append((key, self.now[key]))
            self.now[key] = value
            self.taken_back.clear()

    def swap(self, source: list[tuple[str, object]], target: list[tuple[str, object]]) -> None:
        key, value = source.pop()
        target.append((key, self.now[key]))
        self.now[key] = value


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 6))]
)
async def test_any_mixture_of_acts_is_undone_and_redone_in_order(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    async with Stage(tmp_path, *numbered(60)) as stage:
        await talk(stage, "one", "two", "three")
        session = stage.session

        def found() -> dict[str, object]:
            state = read_log(stage.log)
            label = next(iter(state.labels.values()), "")
            assert (state.title, state.model) == (session.view.title, session.model)
            return {
                "title": state.title,
                "label": label,
                "model": state.model,
                "prompts": asked(stage),
            }

        ledger = Ledger(found())

        async def rename() -> None:
            name = chance.choice("abc")
            await session.operations.rename(name)
            ledger.change("title", name)

        async def label() -> None:
            name = chance.choice(["", "here", "there"])
            await name_first(stage, name)
            ledger.change("label", name)

        async def use_model() -> None:
            model = chance.choice(["scripted", "gpt-4.1-mini"])
            await session.operations.use_model(model)
            ledger.change("model", model)

        async def revert() -> None:
            prompts = asked(stage)
            if len(prompts) > 1:
                await session.operations.revert(place_of(stage, prompts[-1]))
                ledger.change("prompts", prompts[:-1])

        async def branch() -> None:
            tree = await session.view.tree(related=False)
            outline = tree.outline("turns")
            rows = [outline.row(index) for index in range(len(outline))]
            here = [r for r in rows if r.kind == "prompt" and r.standing == "context"]
            prompts = asked(stage)
            if len(prompts) > 1:
                await session.operations.branch(await tree.branch_place(here[-1]))
                ledger.change("prompts", prompts[:-1])

        async def say() -> None:
            await talk(stage, prompt := f"prompt {len(stage.lines())}")
            ledger.now["prompts"] = asked(stage)
            assert asked(stage)[-1] == prompt
            ledger.taken_back.clear()

        async def undo() -> None:
            if ledger.done:
                await session.operations.undo()
                ledger.swap(ledger.done, ledger.taken_back)

        async def redo() -> None:
            if ledger.taken_back:
                await session.operations.redo()
                ledger.swap(ledger.taken_back, ledger.done)

        acts: list[Callable[[], Awaitable[None]]] = [rename, label, use_model, revert, branch, say]
        for _ in range(40):
            await chance.choice([*acts, undo, undo, undo, redo, redo])()
            assert found() == ledger.now
        while ledger.done:
            await undo()
            assert found() == ledger.now
        with pytest.raises(SessionError, match="nothing to undo"):
            await session.operations.undo()
