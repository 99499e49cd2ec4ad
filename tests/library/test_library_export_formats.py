"""HTML, JSON and pi: what an exported session holds, and what it can never do."""

from __future__ import annotations

import json
import re
import time
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from agent_tui.cli.table import EXPORT_FORMATS
from agent_tui.core.messages import MediaPart, TextPart, ThinkPart, ToolCall, text_of
from agent_tui.core.records import (
    AssistantMessage,
    CompactionRecord,
    LabelRecord,
    Record,
    SessionHeader,
    Stamp,
    ToolMessage,
    UserMessage,
    WorkspaceRecord,
)
from agent_tui.importers.registry import import_session
from agent_tui.library.exports.html import export_html
from agent_tui.library.exports.json_document import export_json
from agent_tui.library.exports.pi import export_pi
from agent_tui.library.exports.table import FORMATS, About
from agent_tui.library.redaction import Redactor, secret_values
from agent_tui.runtime.stored.exporting import export_file
from tests.importers.foreign_files import claude_user
from tests.importers.session_files import write_lines

AT = "2026-11-01T10:00:00.000Z"


def stamp(number: int) -> Stamp:
    return Stamp(f"u{number}", None, AT)


TALK: list[Record] = [
    SessionHeader("s1", "/home/ada/tide", AT, "0.1.0"),
    UserMessage("Fix **the** table", "human", 1, stamp=stamp(1)),
    AssistantMessage(
        (ThinkPart("it rounds late"), TextPart("I look first.")),
        (ToolCall("c1", "read_file", '{"path": "report.py"}'),),
        "gpt-5-mini",
        1,
        stamp=stamp(2),
    ),
    ToolMessage("c1", "whole = int(metres)", is_error=True, stamp=stamp(3)),
    CompactionRecord("manual", "last-messages", 900, 100, 1, stamp=stamp(4)),
    UserMessage("Summary of before", "compaction", None, stamp=stamp(5)),
    UserMessage("<script>alert(1)</script> [x](javascript:alert(1))", "human", 2, stamp=stamp(6)),
    LabelRecord("u6", "Friday", stamp=stamp(7)),
]


class Page(HTMLParser):
    """Every tag and every address of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.addresses: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        names = ("src", "href", "action", "srcset", "onclick", "onload", "onerror")
        self.addresses += [value or "" for name, value in attrs if name in names]


def page_of(*records: Record) -> tuple[str, Page]:
    text = b"".join(export_html(records, "Tide")).decode()
    return text, Page(text)


def test_a_page_shows_the_talk_and_asks_no_network_for_anything() -> None:
    text, page = page_of(*TALK)
    for said in ("<strong>the</strong>", "whole = int(metres)", "it rounds late", "900 → 100"):
        assert said in text
    assert page.tags.count("script") == 1
    assert not [address for address in page.addresses if not address.startswith("data:image/")]
    assert "http://" not in text
    assert "https://" not in text
    assert "prefers-color-scheme: dark" in text


@pytest.mark.parametrize(
    "hostile",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "[x](javascript:alert(1))",
        "</pre></details><script>alert(1)</script>",
        "![x](http://127.0.0.1/track.png)",
        '"><svg onload=alert(1)>',
    ],
)
def test_nothing_that_was_said_becomes_a_part_of_the_page(hostile: str) -> None:
    calls = (ToolCall(hostile, hostile, hostile),)
    records: list[Record] = [
        UserMessage(hostile, "human"),
        AssistantMessage(hostile, calls, "m"),
        ToolMessage(hostile, hostile),
        UserMessage((MediaPart("image_url", f"data:image/png;base64,{hostile}"),), "human"),
    ]
    _, page = page_of(*records)
    assert page.tags.count("script") == 1
    assert "svg" not in page.tags
    assert not [each for each in page.addresses if each.lower().startswith("javascript:")]


def test_a_page_fetches_no_picture_from_anywhere() -> None:
    text, _ = page_of(UserMessage("![x](http://127.0.0.1/track.png)", "human"))
    assert "img-src data:" in text  # a browser refuses every other picture


def test_json_holds_every_record_but_what_is_known_of_files() -> None:
    kept = WorkspaceRecord(checkpoint=1, cause="human")
    document = json.loads(b"".join(export_json([*TALK, kept], "Tide")))
    assert document["title"] == "Tide"
    assert [each["role"] for each in document["records"]] == [
        *("_session", "user", "assistant", "tool", "_compaction", "user", "user", "_label"),
    ]


def entries_of(lines: list[bytes]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in lines]


def test_pi_reads_back_the_same_conversation(tmp_path: Path) -> None:
    file = tmp_path / "session.jsonl"
    file.write_bytes(b"".join(export_pi(TALK, "s1", "Tide")))
    found = import_session(file)
    assert (found.source, found.session_id, found.cwd, found.title) == (
        *("pi", "s1", "/home/ada/tide", "Tide"),
    )
    assert found.accounting.damaged == 0
    said = [text_of(r.content) for r in found.records if isinstance(r, UserMessage)]
    assert said == ["Fix **the** table", "Summary of before", TALK[6].content]  # type: ignore[union-attr]
    (calls,) = [r.tool_calls for r in found.records if isinstance(r, AssistantMessage)]
    assert [(call.id, call.name) for call in calls] == [("c1", "read_file")]
    assert [r.is_error for r in found.records if isinstance(r, ToolMessage)] == [True]


def test_pis_entries_form_one_chain() -> None:
    header, *entries = entries_of(list(export_pi(TALK, "s1", "Tide")))
    assert (header["type"], header["version"]) == ("session", 3)
    parents = [None, *(entry["id"] for entry in entries[:-1])]
    assert [entry["parentId"] for entry in entries] == parents
    (compaction,) = [entry for entry in entries if entry["type"] == "compaction"]
    ids = [entry["id"] for entry in entries]
    assert compaction["firstKeptEntryId"] == ids[ids.index(compaction["id"]) + 1]
    assert [entry["targetId"] for entry in entries if entry["type"] == "label"] == [ids[4]]


def test_the_command_line_offers_the_formats_there_are() -> None:
    assert tuple(FORMATS) == EXPORT_FORMATS


CANARY = "canary-9f3b/77+aZ=="
TOKENS = [
    "sk-proj-abcdefghijklmnop1234",
    "sk-ant-" + "a1b2" * 6,
    "ghp_abcdefghijklmnopqrstuvwx",
    "AKIAABCDEFGHIJKLMNOP",
    "xoxb-123456789012-abcdef",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w",
    "https://user:hunter22@example.org/x",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIabc\n-----END RSA PRIVATE KEY-----",
    "DB_PASSWORD=Tr0ub4dor&3",
    'export SESSION_SECRET="battery-staple"',
    '{"client_secret": "correct-horse"}',
    "password = 'open-sesame'",
    "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG",
    '"password": "proper(donkey)charger"',
    "DB_PASSWORD=abcdefgh$remainder",
    'api_key    = "in-its-own-column"',
    "Password: 'with-a-capital'",
]
SET = (
    *("Tr0ub4dor", "battery-staple", "correct-horse", "open-sesame", "wJalrXUtnFEMI"),
    *("charger", "remainder", "in-its-own-column", "with-a-capital"),
)


@pytest.mark.parametrize("form", list(FORMATS))
def test_no_secret_leaves_in_any_format(form: str) -> None:
    said = "\n".join([f"the key is {CANARY}", *TOKENS])
    records: list[Record] = [
        UserMessage(said, "human"),
        AssistantMessage(said, (ToolCall("c", "run", json.dumps({"command": said})),), "m"),
        ToolMessage("c", said),
    ]
    redactor = Redactor(secret_values({"MY_API_KEY": CANARY, "HOME": "/home/ada"}))
    pieces = FORMATS[form].export(records, About("s", said.splitlines()[0]))
    text = "".join(redactor.redact(piece.decode()) for piece in pieces)
    for secret in (CANARY, *TOKENS[:6], "hunter22", "MIIabc", *SET):
        assert secret not in text
        assert json.dumps(secret)[1:-1] not in text
    assert redactor.report.found["known value"] >= 3
    assert redactor.report.sentence.startswith("Redacted: ")


@pytest.mark.parametrize(
    "kept",
    [
        "password = getpass.getpass()",
        "API_KEY=$OPENAI_API_KEY",
        "SECRET=${SECRET}",
        'token: str = ""',
        "MAX_TOKENS=200000000",
        "the password: it is long forgotten",
        'os.environ["DB_PASSWORD"]',
        "secret_values(environ)",
        "password = config.get_password(user)",
        'password = "${PASSWORD}"',
        "<p>password: '</p><p>forgotten",
    ],
)
def test_what_only_names_a_secret_stays(kept: str) -> None:
    assert Redactor().redact(kept) == kept


def test_what_only_looks_random_stays() -> None:
    kept = (
        "commit 9fceb02d0ae598e95dc970b74767f19372d61af8, id 123e4567-e89b-12d3-a456-426614174000"
    )
    redactor = Redactor()
    assert redactor.redact(kept) == kept
    assert redactor.report.sentence == ""
    assert re.search("redacted", redactor.redact(f"{kept} {TOKENS[0]}"))


@pytest.mark.parametrize("form", ["markdown", "html", "json", "kimi", "pi"])
def test_no_part_of_a_secret_is_left_where_a_title_was_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    """A title is the beginning of a prompt, so it may end within a secret."""
    key, known = "sk-ant-api03-" + "Abcdefgh" * 4, "correct-horse-battery-staple"
    monkeypatch.setenv("MY_PASSWORD", known)
    for secret, begin in ((key, "sk-ant"), (known, "correct")):
        for padding in range(40, 78, 6):
            line = claude_user("u1", None, 1, "x" * padding + " " + secret)
            path = write_lines(tmp_path / "S.jsonl", [line])
            exported = export_file(path, form)
            assert begin not in exported.content.decode()
            assert exported.redacted


def test_counts_of_what_was_redacted_agree_with_their_nouns() -> None:
    redactor = Redactor()
    redactor.redact("sk-" + "a" * 20 + " sk-" + "b" * 20 + " AKIAIOSFODNN7EXAMPLE")
    told = "Redacted: 1 AWS key, 2 OpenAI or Anthropic keys."
    assert redactor.report.sentence == told


def test_a_key_that_begins_very_often_is_looked_for_in_little_time() -> None:
    begin, end = "-----BEGIN RSA PRIVATE KEY-----\n", "-----END RSA PRIVATE KEY-----\n"
    key = f"{begin}MIIEow-IBAAK\nCAQEA----x\n{end}"
    began = time.process_time()
    redacted = Redactor().redact(begin * 10_000 + key)
    assert time.process_time() - began < 1.5
    assert redacted == begin * 10_000 + "[redacted]\n"
