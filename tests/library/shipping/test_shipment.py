"""Shipments: flat rows that a database reads as they are, once, without content or secrets."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any

import duckdb
import pytest

from agent_tui.core.errors import UsageError
from agent_tui.library.redaction import Redactor
from agent_tui.library.search.sources import own_refs
from agent_tui.library.shipping import shipment
from agent_tui.library.shipping.rows import RowReader
from agent_tui.library.shipping.shipment import STATE, Shipment, Shipper
from agent_tui.library.shipping.spans import split_request
from tests.library.search.conftest import Library, assistant, call, user

README = Path(__file__).resolve().parents[3] / "README.md"
CANARY = "canary-5d1f-key"
SECOND = "2026-11-01T10:00:0{}Z"


def talk() -> list[dict[str, Any]]:
    lines = [
        user(f"Fix it with {CANARY}", at=SECOND.format(0)),
        assistant(
            "", call("edit_file", path="a.py"), at=SECOND.format(1), model="gpt-5-mini", content="x"
        ),
        {"role": "_usage", "token_count": 1, "usage": {"input_tokens": 900, "output_tokens": 90}},
        {"role": "tool", "tool_call_id": "call-edit_file", "content": "no", "is_error": True},
        {"role": "_compaction", "pre_tokens": 900, "post_tokens": 100, "dropped": 4, "archive": 1},
    ]
    return [{**line, "uuid": f"u{number}"} for number, line in enumerate(lines)]


@pytest.fixture
def library(tmp_path: Path) -> Library:
    return Library(tmp_path)


def ship(library: Library, folder: Path, form: str = "jsonl", *, content: bool = False) -> Shipment:
    shipper = Shipper(folder, Redactor([CANARY]), with_content=content)
    return shipper.ship(own_refs(library.data), form)


def rows(folder: Path) -> list[dict[str, Any]]:
    files = sorted(folder.glob("events-*.jsonl"))
    return [json.loads(line) for file in files for line in file.read_text().splitlines()]


def ask(query: str) -> list[Any]:
    return duckdb.connect().execute(query).fetchall()


def test_a_session_becomes_rows_once(library: Library, tmp_path: Path) -> None:
    log = library.log("one", talk())
    out = tmp_path / "out"
    assert ship(library, out).rows == len(rows(out)) > 5
    before = rows(out)
    assert ship(library, out).rows == 0
    with log.open("a") as file:
        file.write(json.dumps(user("More", uuid="u9")) + "\n")
    assert ship(library, out).rows == 1
    assert rows(out)[: len(before)] == before
    assert rows(out)[-1]["id"] == "one/u9"


def test_each_of_several_results_in_one_line_joins_its_own_call(
    library: Library, tmp_path: Path
) -> None:
    results = [
        {"type": "tool_result", "tool_use_id": call, "content": call, "is_error": call == "c2"}
        for call in ("c1", "c2", "c3")
    ]
    library.log("one", [{"role": "user", "content": results, "uuid": "u1"}])
    ship(library, tmp_path / "out")
    told = [(row["call_id"], row["is_error"]) for row in rows(tmp_path / "out") if row["call_id"]]
    assert told == [("c1", False), ("c2", True), ("c3", False)]


def test_each_of_several_calls_in_one_line_has_its_own_files(
    library: Library, tmp_path: Path
) -> None:
    paths = ("a.py", "b.py", "a.py")
    calls = [
        {"type": "tool_use", "id": f"c{number}", "name": name, "input": {"file_path": path}}
        for number, (name, path) in enumerate(zip(("Read", "Read", "Edit"), paths, strict=True))
    ]
    library.log("one", [{"role": "assistant", "content": calls, "uuid": "a1"}])
    ship(library, tmp_path / "out")
    answer, *called = rows(tmp_path / "out")[-4:]
    assert [(row["tool"], row["files"]) for row in called] == [
        ("Read", "a.py"),
        ("Read", "b.py"),
        ("Edit", "a.py"),
    ]
    assert answer["files"] == "a.py"


def test_a_line_of_very_many_calls_becomes_rows_in_linear_time() -> None:
    def seconds(count: int) -> float:
        calls = [
            {"type": "tool_use", "id": f"t{each}", "name": "Edit", "input": {"path": f"f{each}"}}
            for each in range(count)
        ]
        line = json.dumps({"type": "assistant", "message": {"content": calls}}).encode()
        began = time.process_time()
        assert sum(1 for _ in RowReader("one", "claude-code", "/w").rows(line)) == count + 1
        return time.process_time() - began

    assert seconds(4_000) < 9 * min(seconds(1_000) for _ in range(3))


def test_a_shipment_that_was_cut_off_comes_again_with_the_same_ids(
    library: Library, tmp_path: Path
) -> None:
    library.log("one", talk())
    out = tmp_path / "out"
    ship(library, out)
    (out / STATE).unlink()
    ship(library, out)
    ids = [row["id"] for row in rows(out)]
    assert len(ids) == 2 * len(set(ids))


def test_what_two_logs_of_a_session_share_is_shipped_once(library: Library, tmp_path: Path) -> None:
    log = library.log("one", talk())
    log.rename(log.with_name("context.jsonl.1"))
    library.log("one", talk()[:2])
    ship(library, tmp_path / "out")
    ids = [row["id"] for row in rows(tmp_path / "out") if "/u" in row["id"]]
    assert len(ids) == len(set(ids))


def test_content_goes_only_where_it_was_asked_for_and_never_with_a_secret(
    library: Library, tmp_path: Path
) -> None:
    library.log("one", talk())
    ship(library, tmp_path / "plain")
    assert {row["content"] for row in rows(tmp_path / "plain")} == {""}
    shipment = ship(library, tmp_path / "full", content=True)
    said = [row["content"] for row in rows(tmp_path / "full")]
    assert "Fix it with [redacted]" in said
    assert shipment.redacted == "Redacted: 1 known value."
    for file in (tmp_path / "full").iterdir():
        assert CANARY not in file.read_text()
        assert file.stat().st_mode & 0o077 == 0


def test_parquet_holds_the_same_rows(library: Library, tmp_path: Path) -> None:
    library.log("one", talk())
    ship(library, tmp_path / "lines")
    ship(library, tmp_path / "parquet", "parquet")
    (file,) = (tmp_path / "parquet").glob("*.parquet")
    found = ask(f"SELECT id, kind FROM '{file}'")
    assert found == [(row["id"], row["kind"]) for row in rows(tmp_path / "lines")]


def test_spans_follow_the_conventions(library: Library, tmp_path: Path) -> None:
    library.log("one", talk())
    ship(library, tmp_path / "out", "otlp")
    (file,) = (tmp_path / "out").glob("*.otlp.json")
    (resource,) = json.loads(file.read_text())["resourceSpans"]
    spans = resource["scopeSpans"][0]["spans"]
    names = {span["name"] for span in spans}
    assert names == {"invoke_agent agent-tui", "chat gpt-5-mini", "execute_tool edit_file"} | {
        "compaction"
    }
    assert len({span["traceId"] for span in spans}) == 1
    assert all(re.fullmatch("[0-9a-f]{16}", span["spanId"]) for span in spans)
    (turn,) = [span for span in spans if span["name"].startswith("invoke_agent")]
    children = [span for span in spans if span is not turn]
    assert {span["parentSpanId"] for span in children} == {turn["spanId"]}
    for span in spans:
        assert int(span["startTimeUnixNano"]) <= int(span["endTimeUnixNano"])
    (tool,) = [span for span in spans if span["name"].startswith("execute_tool")]
    assert tool["status"] == {"code": 2}
    assert CANARY not in file.read_text()


def test_the_span_of_an_answer_has_the_tokens_of_a_line_of_their_own(
    library: Library, tmp_path: Path
) -> None:
    library.log("one", talk())
    ship(library, tmp_path / "out", "otlp")
    ship(library, tmp_path / "rows")
    (chat,) = [
        span
        for span in spans_of(*(tmp_path / "out").glob("*.otlp.json"))
        if span["name"].startswith("chat")
    ]
    told = {each["key"]: next(iter(each["value"].values())) for each in chat["attributes"]}
    assert (told["gen_ai.usage.input_tokens"], told["gen_ai.usage.output_tokens"]) == ("900", "90")
    assert told["gen_ai.provider.name"] == "openai"
    assert told["agent_tui.cost_usd"] == sum(row["cost"] for row in rows(tmp_path / "rows")) > 0


def test_of_an_answer_in_several_lines_the_largest_count_is_shipped_once() -> None:
    def line(number: int, tokens: int) -> bytes:
        usage = {"input_tokens": 4, "output_tokens": tokens}
        message = {"id": "m1", "role": "assistant", "content": "x", "usage": usage}
        return json.dumps({"uuid": f"u{number}", "type": "assistant", "message": message}).encode()

    reader = RowReader("one", "claude-code", "/w")
    counts = [row.output_tokens for n in (9, 3, 9, 12) for row in reader.rows(line(n, n))]
    assert counts == [9, 0, 0, 3]


def test_no_number_in_a_log_is_more_than_a_collector_takes(
    library: Library, tmp_path: Path
) -> None:
    library.log(
        "one",
        [
            user("Go", at=SECOND.format(0)),
            {"role": "_usage", "at": "9999-12-31T00:00:00Z", "usage": {"input_tokens": 10**18}},
            {"role": "_usage", "at": "0001-01-01T00:00:00", "usage": {"input_tokens": 7}},
            {"role": "_usage", "at": "1950-01-01T00:00:00Z", "usage": {"output_tokens": 7}},
            {"role": "_compaction", "pre_tokens": 10**18, "post_tokens": -1, "dropped": True},
            {"role": "_compaction", "compactMetadata": {"preTokens": 10**30}},
            assistant("Done", at=SECOND.format(0)),
        ],
    )
    ship(library, tmp_path / "out", "otlp")
    spans = spans_of(*(tmp_path / "out").glob("*.otlp.json"))
    assert len(spans) == 4
    told = [span[end] for span in spans for end in ("startTimeUnixNano", "endTimeUnixNano")]
    assert {int(each) for each in told} == {1793527200 * 10**9}
    values = [each["value"] for span in spans for each in span["attributes"]]
    numbers = [int(value["intValue"]) for value in values if "intValue" in value]
    assert len(numbers) == 8
    assert not any(numbers)


def test_a_model_that_only_sounds_like_one_has_no_price(library: Library, tmp_path: Path) -> None:
    usage = {"role": "_usage", "token_count": 1, "usage": {"input_tokens": 9, "output_tokens": 9}}
    for model in ("gpt-5-mini", "gpt-5.2"):
        library.log(model, [assistant("Done.", model=model), usage])
    ship(library, tmp_path / "out")
    priced = {row["session_id"] for row in rows(tmp_path / "out") if row["cost"]}
    assert priced == {"gpt-5-mini"}


def spans_of(*files: Path) -> list[dict[str, Any]]:
    requests = [json.loads(file.read_text()) for file in files]
    return [
        span
        for request in requests
        for resource in request["resourceSpans"]
        for scope in resource["scopeSpans"]
        for span in scope["spans"]
    ]


def test_a_call_that_was_never_answered_is_a_span_without_a_status(
    library: Library, tmp_path: Path
) -> None:
    library.log("one", [line for line in talk() if line["role"] != "tool"])
    ship(library, tmp_path / "out", "otlp")
    spans = spans_of(*(tmp_path / "out").glob("*.otlp.json"))
    (tool,) = [span for span in spans if span["name"].startswith("execute_tool")]
    (turn,) = [span for span in spans if span["name"].startswith("invoke_agent")]
    assert (tool["status"], tool["parentSpanId"]) == ({}, turn["spanId"])
    assert tool["endTimeUnixNano"] == tool["startTimeUnixNano"]


def test_a_call_that_ends_after_a_shipment_is_a_span_of_the_next(
    library: Library, tmp_path: Path
) -> None:
    answered = next(place for place, line in enumerate(talk()) if line["role"] == "tool")
    log = library.log("one", talk()[:answered])
    ship(library, tmp_path / "out", "otlp")
    with log.open("a") as file:
        file.writelines(json.dumps(line) + "\n" for line in talk()[answered:])
    ship(library, tmp_path / "out", "otlp")
    ship(library, tmp_path / "whole", "otlp")
    parts = spans_of(*sorted((tmp_path / "out").glob("*.otlp.json")))
    latest = {span["spanId"]: span for span in parts}
    whole = {span["spanId"]: span for span in spans_of(*(tmp_path / "whole").glob("*.otlp.json"))}
    assert latest == whole
    assert any(span["name"].startswith("execute_tool") for span in latest.values())


def test_a_file_of_spans_ends_between_turns_only(
    library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    more = [{**line, "uuid": f"v{number}"} for number, line in enumerate(talk())]
    library.log("one", [*talk(), *more])
    library.log("two", talk())
    ship(library, tmp_path / "whole", "otlp")
    monkeypatch.setattr(shipment, "_ROWS_A_FILE", 1)
    assert len(ship(library, tmp_path / "out", "otlp").files) >= 3
    parts = spans_of(*sorted((tmp_path / "out").glob("*.otlp.json")))
    whole = spans_of(*(tmp_path / "whole").glob("*.otlp.json"))
    assert sorted(map(answer_of, parts)) == sorted(map(answer_of, whole))
    assert len(ship(library, tmp_path / "rows").files) > 10


def answer_of(span: dict[str, Any]) -> tuple[str, int]:
    """The name of a span, and the status that an answer gave it."""
    return (span["name"], span["status"].get("code", 0))


def test_one_folder_takes_every_form(library: Library, tmp_path: Path) -> None:
    library.log("one", talk())
    first = ship(library, tmp_path / "out")
    assert ship(library, tmp_path / "out", "otlp").rows == first.rows
    assert ship(library, tmp_path / "out").rows == 0


def test_a_large_request_is_split_and_loses_no_span(library: Library, tmp_path: Path) -> None:
    library.log("one", talk())
    library.log("two", talk())
    ship(library, tmp_path / "out", "otlp")
    (file,) = (tmp_path / "out").glob("*.otlp.json")
    request = json.loads(file.read_text())
    parts = list(split_request(request, 900))
    assert len(parts) > 2
    for number, part in enumerate(parts):
        (tmp_path / f"{number:03}.json").write_text(json.dumps(part))
    assert spans_of(*sorted(tmp_path.glob("*.json"))) == spans_of(file)
    assert list(split_request(request, 1 << 20)) == [request]


def queries() -> list[str]:
    return re.findall(r"```sql\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)


def test_the_readmes_queries_run_on_a_shipment(library: Library, tmp_path: Path) -> None:
    library.log("one", talk())
    ship(library, tmp_path / "out")
    (text,) = queries()
    asked = [query.strip() for query in text.split(";") if query.strip()]
    assert len(asked) == 3
    cost, losses, failing = (ask(query.replace("shipment/", f"{tmp_path}/out/")) for query in asked)
    assert cost[0][0] == "/home/ada/tide"
    assert cost[0][1] > 0
    assert losses == [("/home/ada/tide", 1, 800, 4)]
    assert failing == [("edit_file", 1, 1)]


def test_an_unknown_form_is_told(library: Library, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="Expected one of jsonl, parquet, otlp"):
        ship(library, tmp_path / "out", "xml")
