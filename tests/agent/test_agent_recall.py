"""What left the context is found again, word for word."""

from __future__ import annotations

from pathlib import Path

from agent_tui.config import ContextSettings
from agent_tui.context.recall import Recall
from agent_tui.providers.demo.scenario import Reply
from agent_tui.providers.demo.scripted import Scripted
from tests.agent.stage import Stage, call

LONG = "Nothing was decided about it. " * 60


def talk() -> tuple[Reply, ...]:
    return (
        Reply(text=f"The port is 8123, as docs/ports.md says. {LONG}"),
        *(Reply(text=f"Answer {n}. {LONG}") for n in range(4)),
    )


async def compacted(stage: Stage, more: int = 4) -> None:
    assert await stage.say("Which port?") == "done"
    for n in range(more):
        assert await stage.say(f"Question {n}") == "done"
    await stage.operations.compact()


def tools(stage: Stage) -> list[str]:
    assert isinstance(stage.provider, Scripted)
    return [tool.name for tool in stage.provider.requests[-1].tools]


async def test_recall_finds_what_was_compacted_and_reads_it_whole(tmp_path: Path) -> None:
    search = Reply(calls=(call("recall", query="ports.md 8123"),))
    async with Stage(tmp_path, *talk(), search, Reply(text="8123.")) as stage:
        assert isinstance(stage.provider, Scripted)
        await compacted(stage)
        assert "recall" not in tools(stage)
        assert await stage.say("Which port was it?") == "done"
        assert "recall" in tools(stage)
        (result,) = stage.on_disk("tool")
        head, snippet = result["content"].split("\n\n")
        assert head.startswith("1 of ")
        assert "agent (archive 1" in snippet
        assert "The port is 8123, as docs/ports.md says." in snippet
        key = snippet[1 : snippet.index("]")]
        log = stage.session._log
        whole = Recall(log).message(key[:12])
        assert whole is not None
        assert whole.text == f"The port is 8123, as docs/ports.md says. {LONG}"


async def test_a_wrong_id_and_an_empty_search_say_so(tmp_path: Path) -> None:
    ask = Reply(
        calls=(
            call("recall", id="a", message="nowhere"),
            call("recall", id="b", query="xyzzy plugh"),
            call("recall", id="c"),
        )
    )
    async with Stage(tmp_path, *talk(), ask, Reply(text="ok")) as stage:
        await compacted(stage)
        await stage.say("Look")
        told = {m["tool_call_id"]: m["content"] for m in stage.on_disk("tool")}
        assert told["a"].startswith("There is no earlier message 'nowhere'")
        assert told["b"].startswith("Nothing found in ")
        assert "earlier messages. Try fewer" in told["b"]
        assert "give either 'query' or 'message'" in told["c"]


async def test_recall_finds_what_a_revert_took_out_and_what_was_masked(tmp_path: Path) -> None:
    read = Reply(calls=(call("read_file", path="a.txt"),))
    script = (read, Reply(text="Read."), Reply(text=f"Ok. {LONG * 12}"), Reply(text="The moon."))
    settings = ContextSettings(unmasked_tokens=500)
    async with Stage(tmp_path, *script, context=settings) as stage:
        (stage.workspace / "a.txt").write_text("The secret is 4711.\n" * 60)
        await stage.say("Read a.txt")
        await stage.say("And?")
        await stage.operations.compact(strategy="mask")
        log = stage.session._log
        found = Recall(log).search("secret 4711")
        assert [snippet.message.speaker[:24] for snippet in found.snippets] == [
            'result of read_file {"pa'
        ]
        assert found.snippets[0].message.text.count("4711") == 60
        await stage.say("What is up there?")
        last = max(point.id for point in stage.session.view.checkpoints() if not point.step)
        await stage.operations.revert(last)
        assert [s.message.text for s in Recall(log).search("moon").snippets] == ["The moon."]


async def test_what_is_in_the_context_is_not_found(tmp_path: Path) -> None:
    async with Stage(tmp_path, *talk()) as stage:
        await compacted(stage)
        log = stage.session._log
        everything = {s.message.text for s in Recall(log).search("question", 30).snippets}
        in_context = {m["content"] for m in stage.on_disk("user") if m["origin"] == "human"}
        assert in_context
        assert not everything & in_context


async def test_the_rows_of_a_table_stay_rows_in_a_snippet(tmp_path: Path) -> None:
    table = "| place | height |\n|---|---|\n\n| Grey Bar |   1.2 |"
    async with Stage(tmp_path, Reply(text=table), *(Reply(text=LONG),) * 3) as stage:
        for prompt in ("How high?", "And?", "And then?"):
            await stage.say(prompt)
        first = min(point.id for point in stage.session.view.checkpoints() if not point.step)
        await stage.operations.revert(first)
        found = Recall(stage.session._log).search("grey bar")
        assert found.snippets[0].text.split("\n") == [
            "| place | height |",
            "|---|---|",
            "| Grey Bar | 1.2 |",
        ]
