"""First frame and first answer come before everything heavy: held by what is loaded by then."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest
from textual.theme import Theme

from agent_tui.resources import stylesheets
from agent_tui.runtime.starting.launch import Launch
from agent_tui.ui.app import AgentTui
from agent_tui.ui.themes.theme import tokens_of
from tests.benchmarks.chat_server import ChatServer
from tests.terminal import environment
from tests.ui.stage import Stage

HEAVY = (
    "aiofiles",
    "httpx2",
    "msgspec",
    "openai",
    "pydantic",
    "pygments",
    "rich.markdown",
    "sqlite3",
    "tenacity",
    "tiktoken",
    "tree_sitter",
    "agent_tui.agent",
    "agent_tui.context",
    "agent_tui.core.events",
    "agent_tui.core.records",
    "agent_tui.runtime.engine",
    "agent_tui.sessions",
    "agent_tui.ui.widgets.timeline.timeline",
)

PROGRAM = """
import json, sys
from pathlib import Path
from textual.css.tokenizer import Tokenizer
from agent_tui.runtime.starting.launch import Launch
from agent_tui.ui.app import AgentTui
from agent_tui.ui.themes.themed import ThemedStylesheet

styled, parsed, tokens = [], [], []

class Counted(ThemedStylesheet):
    def apply(self, node, **options):
        styled.append(node)
        super().apply(node, **options)

    def parse(self):
        parsed.append(self)
        super().parse()

read = Tokenizer.get_token

def count(tokenizer, expect):
    tokens.append(expect)
    return read(tokenizer, expect)

Tokenizer.get_token = count

class FirstFrame(AgentTui):
    def on_ready(self):
        counts = len(styled), len(self.stylesheet.rules), len(parsed), len(tokens)
        print(json.dumps([sorted(sys.modules), *counts]))
        self.exit(0)

app = FirstFrame(Launch(cwd=Path.cwd(), demo=True))
app.stylesheet.__class__ = Counted
app.run(headless=True, size=(120, 40))
"""


class FirstFrame(NamedTuple):
    """What is loaded by then, and what was done for the styles."""

    loaded: set[str]
    styled: int
    rules: int
    parsed: int
    tokens: int


def first_frame(folder: Path) -> FirstFrame:
    """What the first frame takes."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=folder, capture_output=True, text=True, check=True
    )
    modules, *counts = json.loads(done.stdout.splitlines()[-1])
    return FirstFrame(set(modules), *counts)


def test_nothing_heavy_is_loaded_before_the_first_frame(tmp_path: Path) -> None:
    loaded = first_frame(tmp_path).loaded
    assert "textual.app" in loaded
    assert not sorted(loaded & set(HEAVY))


MOST_FOR_THE_FRAME = 271
MOST_STYLED_FOR_THE_FRAME, MOST_RULES_FOR_THE_FRAME = 20, 54
MOST_TOKENS_FOR_THE_FRAME = 1_480
MOST_FOR_AN_ANSWER, MOST_OF_OURS = 740, 297
"""How many modules that are not Python's own are loaded by then, and how many of ours.

For the frame also: how often a widget or a part of one is styled, how many rules are parsed, and
how many tokens are read for that.

These go down, never up.
"""

LATE = (
    "agent_tui.context.compaction.compaction",
    "agent_tui.history.scrub",
    "agent_tui.history.tree.session_tree",
    "agent_tui.importers.registry",
    "agent_tui.library",
    "agent_tui.mcp.servers",
    "agent_tui.runtime.operations.operations",
    "agent_tui.runtime.stored.sessions",
    "agent_tui.tools.recall",
    "agent_tui.tools.web.web_page",
    "html.parser",
    "openai.types.chat.chat_completion",
    "openai.types.responses.response",
    "pygments.lexers",
    "sqlite3",
    "tenacity",
    "tiktoken",
)

ANSWER = """
import asyncio, json, sys
from pathlib import Path
import agent_tui.ui.app
import agent_tui.ui.conversation.wire_view
import agent_tui.ui.widgets.timeline.timeline
from agent_tui.runtime.engine import Engine
from agent_tui.runtime.starting.launch import Launch

async def main():
    engine = await asyncio.to_thread(Engine.assemble, Launch(cwd=Path.cwd()))
    await engine.warm()
    session = await engine.open_launched()
    loaded = {}
    def hear(event):
        if type(event).__name__ == "TextDelta":
            loaded.setdefault("first", sorted(sys.modules))
    session.subscribe(hear)
    await session.run_turn("hello")
    print(json.dumps(loaded["first"]))
    await engine.close_session(session)
    await engine.aclose()

asyncio.run(main())
"""


SCREEN = """
import json, os, sys
from pathlib import Path
from textual.css.stylesheet import Stylesheet
from agent_tui.runtime.starting.launch import Launch
from agent_tui.ui.app import AgentTui

styled = []

class Counted(Stylesheet):
    def update_nodes(self, nodes, animate=False):
        nodes = list(nodes)
        styled.append(len(nodes))
        super().update_nodes(nodes, animate)

class FirstAnswer(AgentTui):
    def on_ready(self):
        self.stylesheet.__class__ = Counted
        listen = self.chat.wire.listen
        def listen_too(session, view):
            session.subscribe(self.hear)
            listen(session, view)
        self.chat.wire.listen = listen_too  # the app's own on_ready is called after this one

    def hear(self, event):
        if type(event).__name__ == "TextDelta":
            with open(os.environ["AGENT_TUI_HOME"] + "/told", "w") as file:
                file.write(json.dumps([sorted(sys.modules), sum(styled)]))
            os._exit(0)

app = FirstAnswer(Launch(cwd=Path.cwd(), prompt="hello"))
app.run(headless=True, size=(120, 40))
"""

LOADED_WHERE = """
import json, os, sys, threading
from pathlib import Path
from agent_tui.runtime.starting.launch import Launch
from agent_tui.ui.app import AgentTui

on_the_loop = []

class Watch:
    def find_spec(self, name, path=None, target=None):
        if threading.current_thread() is threading.main_thread():
            on_the_loop.append(name)

class Furnished(AgentTui):
    def on_ready(self):
        sys.meta_path.insert(0, Watch())
        self.set_interval(0.05, self.look)

    def look(self):
        heavy = ("agent_tui.context.compaction.filling", "agent_tui.runtime.stored.sessions")
        screens = ("dialogs.help", "sessions.session_list", "time.tree")
        heavy += tuple(f"agent_tui.ui.screens.{name}" for name in screens)
        if all(name in sys.modules for name in heavy):
            with open(os.environ["AGENT_TUI_HOME"] + "/told", "w") as file:
                file.write(json.dumps(on_the_loop))
            os._exit(0)

app = Furnished(Launch(cwd=Path.cwd(), prompt="hello"))
app.run(headless=True, size=(120, 40))
"""
OFF_THE_LOOP = (
    "agent_tui.context.compaction",
    "agent_tui.history.tree",
    "agent_tui.importers",
    "agent_tui.runtime.starting.hints",
    "agent_tui.ui.conversation.side",
    "agent_tui.ui.screens.sessions",
    "agent_tui.ui.screens.time",
    "agent_tui.ui.widgets.panes.side_panel",
)
"""What takes tens of milliseconds to load, for which a key would wait."""

LATE_ON_SCREEN = (
    "agent_tui.context.compaction.attribution",
    "agent_tui.ui.conversation.side",
    "agent_tui.ui.flows.servers",
    "agent_tui.ui.screens.dialogs.choice",
)
"""What stands around a conversation, and comes when nobody waits for an answer."""
MOST_STYLED = 4
"""How many widgets are styled anew between the first frame and the first word of an answer."""


def installed(modules: Iterable[str]) -> list[str]:
    """The modules that are not Python's own, which differ from version to version."""
    return [name for name in modules if name.partition(".")[0] not in sys.stdlib_module_names]


def test_the_first_frame_takes_no_more_modules_and_styles_than_before(tmp_path: Path) -> None:
    frame = first_frame(tmp_path)
    assert len(installed(frame.loaded)) <= MOST_FOR_THE_FRAME
    assert frame.styled <= MOST_STYLED_FOR_THE_FRAME
    assert frame.rules <= MOST_RULES_FOR_THE_FRAME
    assert frame.tokens <= MOST_TOKENS_FOR_THE_FRAME


def test_styles_are_parsed_once_for_the_first_frame(tmp_path: Path) -> None:
    assert first_frame(tmp_path).parsed == 1


def test_colours_are_derived_once_for_the_first_frame(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    derived: list[str] = []

    def count(theme: Theme, base: Mapping[str, str]) -> dict[str, str]:
        derived.append(theme.name)
        return tokens_of(theme, base)

    monkeypatch.setattr("agent_tui.ui.themes.themed.tokens_of", count)
    app = AgentTui(Launch(cwd=tmp_path))
    assert derived == [app.theme]
    assert app.stylesheet._variables == app.theme_variables


def test_no_style_inside_depends_on_where_the_focus_is() -> None:
    app = Stage()
    app.stylesheet.read_all(stylesheets())
    chains = [chain.selectors for rule in app.stylesheet.rules for chain in rule.selector_set]
    within = [[("focus-within" in each.pseudo_classes) for each in chain] for chain in chains]
    assert any(chain[-1] for chain in within)
    assert not any(any(chain[:-1]) for chain in within)


async def answered(program: str, folder: Path) -> str:
    """What a program prints that asks a server on loopback."""
    server = await asyncio.start_server(ChatServer().converse, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    more = {"OPENAI_API_KEY": "k" * 20, "OPENAI_BASE_URL": f"http://127.0.0.1:{port}/v1"}
    async with server:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            program,
            cwd=folder,
            env=environment(folder / "home", **more),
            stdout=asyncio.subprocess.PIPE,
        )
        try:
            told, _ = await asyncio.wait_for(process.communicate(), 60)
        finally:
            if process.returncode is None:
                process.kill()
    return told.decode()


async def test_nothing_that_it_does_not_need_is_loaded_before_the_first_answer(
    tmp_path: Path,
) -> None:
    loaded = set(json.loads((await answered(ANSWER, tmp_path)).splitlines()[-1]))
    assert "openai" in loaded
    assert not sorted(loaded & set(LATE))
    assert len(installed(loaded)) <= MOST_FOR_AN_ANSWER
    assert sum(name.startswith("agent_tui.") for name in loaded) <= MOST_OF_OURS


async def test_the_screen_brings_in_nothing_and_styles_little_before_the_first_answer(
    tmp_path: Path,
) -> None:
    await answered(SCREEN, tmp_path)
    modules, styled = json.loads((tmp_path / "home" / "told").read_text())
    assert "agent_tui.ui.conversation.wire_view" in modules
    assert not sorted(set(modules) & {*LATE, *LATE_ON_SCREEN})
    assert styled <= MOST_STYLED


async def test_what_is_heavy_is_never_loaded_on_the_event_loop(tmp_path: Path) -> None:
    await answered(LOADED_WHERE, tmp_path)
    on_the_loop = json.loads((tmp_path / "home" / "told").read_text())
    assert not [name for name in on_the_loop if name.startswith(OFF_THE_LOOP)]
