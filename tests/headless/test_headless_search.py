"""``index``, ``search`` and ``why`` from the command line."""

from __future__ import annotations

import fcntl
import json
import os
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

from agent_tui.library.search import search_index
from agent_tui.library.search.finding import Finder, SearchAnswer
from tests.headless.command_line import CommandLine
from tests.importers.foreign_files import codex_session
from tests.importers.session_files import write_lines
from tests.library.search.conftest import Library, assistant, call, user


@pytest.fixture(autouse=True)
def _library(run: CommandLine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    library = Library(tmp_path)
    library.data = run.home
    edit = call("edit_file", path="tide.py", old="x", new="return round(height, 1)")
    library.log("one", [user("Round to a tenth"), assistant("Done.", edit)])
    (run.workspace / "tide.py").write_text("return round(height, 1)\n")


def test_a_search_prints_sessions_with_their_lines(run: CommandLine) -> None:
    ran = run("search", "tenth")
    assert ran.code == 0
    assert "user: Round to a tenth" in ran.out
    (found,) = run("search", "tenth", "--json").lines
    assert (found["session_id"], found["matches"]) == ("one", 1)
    assert run("search", "nothing of the kind").out == "Nothing found.\n"
    (found,) = run("search", "agent:agent-tui", "after:2026", "--json").lines
    assert (found["session_id"], found["matches"]) == ("one", 2)


def test_a_search_that_was_cut_off_says_so_on_its_last_line(
    run: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut = SearchAnswer(stopped_by="time", unsearched=1)
    monkeypatch.setattr(Finder, "find", lambda *_: cut)
    told = "Stopped after 2 s; 1 session was not searched. "
    told += "Add a word, or a filter such as project: or after:7d."
    assert run("search", "tenth").out == f"Nothing found yet.\n{told}\n"
    (last,) = run("search", "tenth", "--json").lines
    assert last == {"stopped_by": "time", "unsearched_sessions": 1, "warning": told}


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("agent:nope", "No sessions of agent nope; known agents: agent-tui."),
        ("tenth agent:nope agent:agent", ""),
        ("nothing agent:agent-tui", ""),
        ("project:tide/nope", "No sessions of project tide/nope."),
        ("session:two", "No sessions of session two."),
        ("session:on nothing", ""),
        ("tool:Nope", "No calls of tool Nope; known tools: edit_file."),
        ("tool:edit nothing", ""),
        ("model:gpt-9", "No sessions of model gpt-9."),
        (
            "agnet:agent-tui",
            "There is no filter agnet:. There are: agent, project, session, role, model, tool, "
            "file, touched, has, after, before.",
        ),
        ("std::nothing http://nothing", ""),
        ("agent:\x1b[31m", "No sessions of agent \u241b[31m; known agents: agent-tui."),
    ],
)
def test_a_search_that_finds_nothing_names_the_filter_that_nothing_fits(
    run: CommandLine, query: str, told: str
) -> None:
    ran = run("search", query, "--json")
    if query.startswith("tenth"):
        assert ran.lines
        return
    assert (ran.out, ran.err) == ("", told and f"agent-tui: {told}\n")
    assert run("search", query).out == f"Nothing found. {told}".strip() + "\n"


def test_a_search_waits_with_a_limit_for_another_process_that_updates_the_index(
    run: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("index")
    monkeypatch.setattr(search_index, "WAIT_SECONDS", 0.2)
    monkeypatch.setattr(search_index, "PATIENCE_SECONDS", 0.3)
    with (run.home / "index.lock").open("rb+") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        ran = run("search", "tenth")
        assert "user: Round to a tenth" in ran.out
        told = f"Another process (pid {os.getpid()}) has been updating the search index for over"
        assert ran.sentence == f"{told} 0.2 s. Results may be incomplete until it ends."
        assert run("statistics").code == run("why", "tide.py:1").code == 0
        ran = run("index", "--json")
        assert (ran.code, ran.out) == (1, "")
        assert ran.sentence.startswith(f"{told} 0.3 s")


def test_why_names_the_prompt_behind_a_line(run: CommandLine) -> None:
    told = run("why", "tide.py:1").out
    assert "prompt: Round to a tenth" in told
    assert "the prompt was still in the context · " in told
    (found,) = run("why", "tide.py:1", "--json").lines
    assert found["in_context"] is True
    assert run("why", "tide.py:7").code == 2


def test_the_index_is_checked_and_made_anew(run: CommandLine) -> None:
    assert run("index").out.startswith("1 file, 1 new or changed")
    assert run("index", "--check").out == "2 lines of 1 file compared: 0 differences.\n"
    assert run("index", "--rebuild", "--json").json["lines"] == 2


def test_checkpoints_and_archives_of_any_session_are_listed_by_its_path(
    run: CommandLine, tmp_path: Path
) -> None:
    log = tmp_path / "kimi" / "context.jsonl"
    log.parent.mkdir()
    log.write_text(
        '{"role":"_checkpoint","id":0}\n{"role":"user","content":"hello there"}\n'
        '{"role":"assistant","content":"Hi."}\n'
    )
    assert "hello there" in run("checkpoints", str(log)).out
    assert "no archives" in run("archives", str(log)).out
    assert run("checkpoints", "nobody").code != 0


def test_a_folder_that_the_settings_name_is_searched(run: CommandLine, tmp_path: Path) -> None:
    folder = tmp_path / "moved" / "sessions"
    folder.mkdir(parents=True)
    write_lines(folder / "rollout-1.jsonl", codex_session())
    moved = f"library.folders.codex={json.dumps(str(tmp_path / 'moved'))}"
    (found,) = run("search", "one file", "--json", "--set", moved).lines
    assert found["source"] == "codex"
    assert run("search", "one file", "--json").lines == []


def test_the_demo_is_searched_counted_and_shipped_apart(run: CommandLine, tmp_path: Path) -> None:
    library = Library(tmp_path)
    library.data = run.home / "demo"
    library.log("tour", [user("Where is high water?"), assistant("At noon.")])
    (found,) = run("search", "water", "--demo", "--json").lines
    assert found["session_id"] == "tour"
    assert run("search", "tenth", "--demo").out == "Nothing found.\n"
    assert run("search", "water").out == "Nothing found.\n"
    (model,) = run("statistics", "--by", "project", "--demo", "--json").lines
    assert model["prompts"] == 1
    out = tmp_path / "out"
    assert " of 1 session written" in run("ship", str(out), "--demo").out
    assert run("ship", str(out), "--demo").out == f"Nothing new to write to {out}.\n"
    assert "tour" in (tmp_path / "out" / "events-000001.jsonl").read_text()


class Collector(BaseHTTPRequestHandler):
    """Takes spans, or refuses them."""

    status = 200
    bodies: ClassVar[list[dict[str, Any]]] = []

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.status < 300:
            self.bodies.append(body)
        self.send_response(self.status)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        return


def test_spans_that_a_collector_refused_are_sent_with_the_next_shipment(
    run: CommandLine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(Collector, "bodies", [])
    with ThreadingHTTPServer(("127.0.0.1", 0), Collector) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        url = f"http://127.0.0.1:{server.server_port}/v1/traces"
        ship = ("ship", str(tmp_path / "out"), "--format", "otlp", "--endpoint", url)
        try:
            monkeypatch.setattr(Collector, "status", 503)
            refused = run(*ship)
            monkeypatch.setattr(Collector, "status", 415)
            assert "does not accept OTLP as JSON (415)" in run(*ship).sentence
            monkeypatch.setattr(Collector, "status", 200)
            assert (refused.code, Collector.bodies) == (1, [])
            assert "answered 503" in refused.err
            assert run(*ship).code == 0
            assert len(Collector.bodies) == 1
            assert run(*ship).code == 0
        finally:
            server.shutdown()
            thread.join()
    (body,) = Collector.bodies
    assert body["resourceSpans"][0]["scopeSpans"][0]["spans"]
