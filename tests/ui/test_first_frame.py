"""The first frame comes before everything heavy: held by what is loaded when it is drawn."""

import json
import subprocess
import sys
from pathlib import Path

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
from agent_tui.runtime.launch import Launch
from agent_tui.ui.app import AgentTui

class FirstFrame(AgentTui):
    def on_ready(self):
        print(json.dumps(sorted(sys.modules)))
        self.exit(0)

FirstFrame(Launch(cwd=Path.cwd(), demo=True)).run(headless=True, size=(120, 40))
"""


def test_nothing_heavy_is_loaded_before_the_first_frame(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    loaded = set(json.loads(done.stdout.splitlines()[-1]))
    assert "textual.app" in loaded
    assert not sorted(loaded & set(HEAVY))
