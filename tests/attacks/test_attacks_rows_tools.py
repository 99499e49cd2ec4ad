"""Promises about tools, commands and files, one test to a row; ``pytest -s`` prints the counts."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import pytest

from agent_tui.agent.approval import Approvals, approval_key
from agent_tui.agent.narrow_yaml import read_yaml
from agent_tui.agent.toolset import Toolset
from agent_tui.core.errors import BadRecord, ConfigError, ToolError
from agent_tui.core.events import ApprovalAnswer, ApprovalRequested, Event
from agent_tui.core.jsonl import decode_line
from agent_tui.core.messages import ToolCall, ToolResult
from agent_tui.mcp.names import check_server_name
from agent_tui.mcp.offered_tool import read_tools
from agent_tui.mcp.pins import Pins
from agent_tui.sessions.lineage import SESSION_ID
from agent_tui.tools.arguments import parse_arguments
from agent_tui.tools.base import ToolContext
from agent_tui.tools.catalogue import builtin_tools
from agent_tui.tools.commands.command_rules import command_is_allowed
from agent_tui.tools.glob import matches
from agent_tui.tools.think import Think
from tests.tools.hostile_commands import ALLOWED, BENIGN, HOSTILE
from tests.waiting import PATIENCE_SECONDS

CANARY = "canary-7d41"


async def call(workspace: Path, name: str, **arguments: object) -> ToolResult:
    """What becomes of one call, everything allowed."""
    tools = builtin_tools()
    toolset = Toolset(lambda: tools, ToolContext(workspace))
    work = toolset.carry_out(
        ToolCall("c", name, json.dumps(arguments)), Approvals(lambda _: None, yolo=True)
    )
    return (await asyncio.wait_for(work, PATIENCE_SECONDS)).result


def names_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def test_s5_no_hostile_command_is_allowed() -> None:
    wrong = [each for each in HOSTILE if command_is_allowed(ALLOWED, each)]
    right = [each for each in BENIGN if command_is_allowed(ALLOWED, each)]
    assert not wrong
    assert len(HOSTILE) >= 200
    assert len(right) >= 0.95 * len(BENIGN)
    print(f"S5  commands: {len(HOSTILE)} hostile, 0 allowed; {len(BENIGN)} benign, {len(right)}")


async def test_s6_a_remembered_approval_is_for_exactly_that_action() -> None:
    asked: list[str] = []

    def hear(event: Event) -> None:
        if isinstance(event, ApprovalRequested):
            asked.append(event.request.id)
            answer = ApprovalAnswer("session")
            asyncio.get_running_loop().call_soon(approvals.answer, event.request.id, answer)

    approvals = Approvals(hear)
    base: dict[str, object] = {"path": "a.py", "text": "x", "deep": {"b": [1, 2]}}
    variants: list[tuple[str, dict[str, object], str]] = [("write_file", base, "/w")]
    variants += [(tool, base, "/w") for tool in ("write_fil", "write_file2", "a__write_file")]
    variants += [("write_file", base, cwd) for cwd in ("/", "/w/", "/w/a", "/W")]
    for name in base:
        others: list[object] = ["", "x ", "X", None, 0, True, [], {}, "x\x00"]
        variants += [("write_file", base | {name: value}, "/w") for value in others]
    variants += [("write_file", base | {"more": n}, "/w") for n in range(20)]
    keys = {approval_key(tool, fields, cwd) for tool, fields, cwd in variants}
    assert len(keys) == len(variants)
    for key in keys:
        await approvals.ask(ToolCall("c", "w", "{}"), key=key, title="", display=None)
    assert len(asked) == len(variants)
    shuffled = dict(reversed(base.items()))
    for _ in range(2):
        key = approval_key("write_file", shuffled, "/w")
        await approvals.ask(ToolCall("c", "w", "{}"), key=key, title="", display=None)
    assert len(asked) == len(variants)
    print(f"S6  actions that differ a little: {len(variants) - 1} asked again; the same: 0")


def test_s8_tools_of_servers_stay_what_was_accepted(tmp_path: Path) -> None:
    def listed(name: str, description: str = "d", **schema: object) -> SimpleNamespace:
        return SimpleNamespace(name=name, description=description, input_schema=schema)

    first = [listed(f"t{n}", properties={"a": {"type": "string"}}) for n in range(20)]
    pins = Pins(tmp_path / "pins.json")
    assert not pins.changed("s", read_tools("s", first, ()).tools)
    held = 0
    for number in range(20):
        for change in (
            listed(f"t{number}", "other"),
            listed(f"t{number}", "d", properties={"a": {"type": "number"}}),
            listed(f"t{number}", "d", properties={"a": {}, "b": {}}),
        ):
            now = [*first[:number], change, *first[number + 1 :]]
            (found,) = pins.changed("s", read_tools("s", now, ()).tools)
            assert found.own_name == f"t{number}"
            held += 1
    names = [tool.name for tool in builtin_tools()]
    taken = read_tools("s", map(listed, names), ()).tools
    assert all(tool.name.startswith("s__") for tool in taken)
    reserved = read_tools("s", map(listed, names), {f"s__{name}" for name in names})
    assert not reserved.tools
    assert len(reserved.refused) == len(names)
    twice = [listed("a.b"), listed("a-b"), listed("a b"), listed("a/b"), listed("a_b")]
    assert [tool.own_name for tool in read_tools("s", twice, ()).tools] == ["a-b"]
    evil = ["agent", "mcp", "a__b", "../x", "", "a b", "\x1b[2J", "é", "x" * 40, "tools", "BUILTIN"]
    for name in evil:
        with pytest.raises(ConfigError):
            check_server_name(name)
    print(
        f"S8  changed tools: {held} held back; reserved names: {len(names)} refused; "
        f"server names: {len(evil)} refused"
    )


SECRETS = [
    "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "NPM_TOKEN",
    "DATABASE_URL", "SSH_AUTH_SOCK", "GPG_AGENT_INFO", "KUBECONFIG", "LD_PRELOAD",
    "LD_LIBRARY_PATH", "BASH_ENV", "ENV", "PROMPT_COMMAND", "GIT_SSH_COMMAND", "EDITOR",
    "PYTHONSTARTUP", "NODE_OPTIONS", "PERL5OPT", "RUBYOPT", "DBUS_SESSION_BUS_ADDRESS", "DISPLAY",
    "XAUTHORITY", "VAULT_TOKEN", "HTTP_PROXY", "MY_PASSWORD", "IFS", "PS4", "SHELLOPTS_X",
]  # fmt: skip


async def test_s9_a_child_inherits_nothing_that_it_could_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in SECRETS:
        monkeypatch.setenv(name, f"http://u:{CANARY}@h/")
    probe = (
        "import os, sys\n"
        "print([n for n, v in os.environ.items() if 'canary' in v], os.isatty(0), "
        "sys.stdin.read())\n"
        "try: open('/dev/tty'); print('terminal')\n"
        "except OSError: print('no terminal')"
    )
    (tmp_path / "probe.py").write_text(probe)
    result = await call(tmp_path, "run_command", command=f"{sys.executable} probe.py")
    assert result.output.startswith("[] False \nno terminal"), result.output
    print(f"S9  variables: {len(SECRETS)} set, 0 passed on; no terminal, nothing on stdin")


GOOD_IDS = ["a", "A1", "0", "a.b-c_d", "x" * 64, "2026-11-22T10.00.00"]
BAD_IDS = [
    "", ".", "..", "a/b", "../a", "/a", "a\\b", "a b", "a\n", "\na", "-a", "_a", ".a", "é", "a\x00",
    "x" * 65, "a:b", "~", "a*", "a\u202e", "%2e%2e", "a;b", "$(a)", "con/", "a\u200b", "\uff41",
]  # fmt: skip


def test_s11_a_session_id_is_never_a_path() -> None:
    assert all(SESSION_ID.fullmatch(each) for each in GOOD_IDS)
    assert not [each for each in BAD_IDS if SESSION_ID.fullmatch(each)]
    print(f"S11 session ids: {len(BAD_IDS)} hostile, 0 taken; {len(GOOD_IDS)} good, all taken")


async def test_s12_no_racing_write_leaves_the_workspace(tmp_path: Path) -> None:
    workspace, outside = tmp_path / "work", tmp_path / "outside"
    workspace.mkdir()
    outside.mkdir()
    done, tries, written = threading.Event(), 1_500, 0

    def swap() -> None:
        flip, number = workspace / "flip", 0
        while not done.is_set():
            number += 1
            with suppress(OSError):
                flip.symlink_to(outside)
            with suppress(OSError):
                flip.unlink()
            with suppress(OSError):
                flip.mkdir()
            with suppress(OSError):
                flip.rename(workspace / f"old{number}")

    swapper = threading.Thread(target=swap)
    swapper.start()
    tool = next(tool for tool in builtin_tools() if tool.name == "write_file")
    try:
        for number in range(tries):
            fields = {"path": "flip/f", "content": str(number)}
            arguments = parse_arguments(tool, json.dumps(fields))
            try:
                await tool.run(arguments, ToolContext(workspace))
                written += 1
            except (ToolError, OSError):
                pass
    finally:
        done.set()
        swapper.join()
    assert list(outside.iterdir()) == []
    closed = 0
    for path in (".git/hooks/x", "a/.git/config", ".agent-tui/config.toml", "../x", "/etc/x"):
        result = await call(workspace, "write_file", path=path, content="x")
        assert result.is_error, path
        closed += 1
    print(f"S12 racing writes: {tries}, {written} inside, 0 outside; {closed} closed places")


async def test_s13_an_edit_replaces_whole_and_never_over_what_changed(tmp_path: Path) -> None:
    refused = kept = 0
    for mode in (0o600, 0o644, 0o755, 0o700, 0o640):
        for how in ("longer", "same size", "deleted", "as it was"):
            path = tmp_path / f"{mode:o}-{how.replace(' ', '')}.txt"
            path.write_text("one two\n")
            path.chmod(mode)
            tools = builtin_tools()
            toolset = Toolset(lambda tools=tools: tools, ToolContext(tmp_path))  # type: ignore[misc]  # bound now
            free = Approvals(lambda _: None, yolo=True)
            read = ToolCall("r", "read_file", json.dumps({"path": path.name}))
            await toolset.carry_out(read, free)
            before = path.stat().st_ino
            match how:
                case "longer":
                    path.write_text("one two three\n")
                case "same size":
                    path.write_text("one TWO\n")
                case "deleted":
                    path.unlink()
            fields = {"path": path.name, "old_text": "one", "new_text": "1"}
            edit = ToolCall("e", "edit_file", json.dumps(fields))
            result = (await toolset.carry_out(edit, free)).result
            assert result.is_error == (how != "as it was"), (how, result.output)
            if how == "as it was":
                assert path.read_text() == "1 two\n"
                assert path.stat().st_mode & 0o777 == mode
                assert path.stat().st_ino != before
                kept += 1
            else:
                refused += 1
    assert all(name.endswith(".txt") for name in names_in(tmp_path))
    print(f"S13 edits: {refused} of changed files refused; {kept} replaced whole, modes kept")


YAMLS = [
    "!!python/object/apply:os.system ['touch PWN']",
    "!!python/name:os.system",
    "!!python/module:os",
    "a: !!python/tuple [1]",
    "a: 1\na: 2",
    "a: &x 1\nb: *x",
    "a: &x [*x]",
    "&a [&b [*a, *a], *b]",
    "[" * 200 + "]" * 200,
    "a: !foo 1",
    "a: 1\n---\nb: 2",
    "x: {<<: {a: 1}, a: 2, a: 3}",
    "a: " + "x" * 10_000_000,
]
JSONS = [
    '{"a": 1, "a": 2}',
    '{"a":' * 200 + "1" + "}" * 200,
    "[" * 100_000,
    '{"a": 1} x',
    "[1]",
    '{"a": 1e999',
    '{"thought": "a", "thought": "b"}',
]


def test_s17_no_document_runs_repeats_or_nests_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for text in YAMLS:
        with pytest.raises(ConfigError):
            read_yaml(text, "spec.yaml").mapping("spec.yaml")["a"].text("spec.yaml")
    for text in JSONS:
        with pytest.raises(ToolError):
            parse_arguments(Think(), text)
    deep = 0
    for depth in (101, 1_000, 100_000):
        for opened, closed in (("[", "]"), ('{"a":', "}")):
            with pytest.raises(BadRecord):
                decode_line(f'{{"role":"x","v":{opened * depth}1{closed * depth}}}'.encode())
            deep += 1
    assert not list(tmp_path.iterdir())
    print(f"S17 documents: {len(YAMLS)} YAML, {len(JSONS)} JSON, {deep} deep lines; 0 taken")


GLOBS = [
    "*a*a*a*a*a*a*a*a*b", "**/a/**/a/**/a/**/b", "{a,b}*" * 6 + "c", "?*" * 100 + "b",
    "[a-z]*" * 30 + "0", "{a,{b,{c,{d,*}}}}*x", "*" * 400 + "b", "**/" * 60 + "b",
]  # fmt: skip


async def test_s27_no_pattern_of_a_model_takes_for_ever(tmp_path: Path) -> None:
    names = ["a" * length for length in (40, 80, 160, 200)] + ["a/" * 60 + "a"]
    times = []
    for pattern in GLOBS:
        start = os.times().user
        for name in names * 10:
            matches(name, pattern)
        times.append(os.times().user - start)
    assert max(times) < 5, times
    (tmp_path / "a.txt").write_text("a" * 40 + "!\n")
    for pattern in ("(a+)+$", "(a|a)*$", "(a|aa)+$", "(.*)*x"):
        work = asyncio.create_task(call(tmp_path, "search_files", pattern=pattern))
        await asyncio.wait({work}, timeout=2)
        work.cancel()
        await asyncio.wait({work}, timeout=PATIENCE_SECONDS)
        assert work.done(), "a search can be cancelled"
    print(f"S27 patterns: {len(GLOBS)} globs by {len(names)} names, 4 expressions; 0 held the loop")


async def test_s28_our_own_children_import_nothing_of_the_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted = (
        "sitecustomize", "usercustomize", "re", "json", "os", "sys", "agent_tui", "signal", "socket"
    )  # fmt: skip
    for name in planted:
        (tmp_path / f"{name}.py").write_text(f"open('PWN-{name}', 'w')\n")
    (tmp_path / "a.txt").write_text("needle\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.chdir(tmp_path)
    result = await call(tmp_path, "search_files", pattern="needle")
    assert "a.txt:1:needle" in result.output
    assert not any(name.startswith("PWN") for name in names_in(tmp_path))
    print(f"S28 modules planted: {len(planted)}, 0 imported")
