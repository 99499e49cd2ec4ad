"""The exported page in a browser: found words are marked, and folds come back as they were."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from agent_tui.core.messages import ToolCall
from agent_tui.core.records import AssistantMessage, Record, ToolMessage, UserMessage
from agent_tui.library.exports.html import export_html

TALK: list[Record] = [
    UserMessage("first line\nsecond line", "human"),
    AssistantMessage("I look.", (ToolCall("t1", "grep", '{"word": "tide"}'),), "m"),
    ToolMessage("t1", "a tide\nno\nthe Tide tide"),
    AssistantMessage("Nothing here.", (), "m"),
]
ACTS = """<script>
const told = [], find = document.getElementById("find");
const folds = [...document.querySelectorAll("details")];
const open = () => folds.map((each) => Number(each.open)).join("");
const type = (text) => { find.value = text; find.dispatchEvent(new Event("input")); };
const press = () => find.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter" }));
folds[0].open = true;
type("tide");
told.push(document.getElementById("count").textContent, open(), CSS.highlights.get("found").size);
press();
press();
const [here] = CSS.highlights.get("here");
told.push(here.toString(), here.startOffset);
type("");
told.push(open(), CSS.highlights.get("found").size);
document.getElementById("fold").click();
told.push(open());
document.body.dataset.told = told.join(",");
</script>"""


def test_a_page_marks_what_is_found_and_folds_again_as_it_was(tmp_path: Path) -> None:
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("there is no Chromium on PATH")
    text = b"".join(export_html(TALK, "Tide")).decode()
    text = re.sub("<meta http-equiv=.*?>", "", text)  # it lets no script in but its own
    page = tmp_path / "page.html"
    page.write_text(text.replace("</body>", f"{ACTS}</body>"))
    options = ("--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path}/profile")
    command = (browser, *options, "--virtual-time-budget=5000", "--dump-dom", page.as_uri())
    shown = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
    told = re.search('data-told="(.*?)"', shown)
    assert told is not None
    # The call says it in its head and its body, the result three times; the second is in the body.
    second = '{\n "word": "'
    assert told[1] == f"2 of 4,11,5,tide,{len(second)},10,0,11"


def test_each_line_of_what_was_typed_stays_a_line() -> None:
    text = b"".join(export_html(TALK, "Tide")).decode()
    assert "first line<br />\nsecond line" in text
