"""The command line itself: help, version, and what is refused before anything is loaded."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from datetime import date
from pathlib import Path
from shutil import which

import pytest

from agent_tui import __version__, cli
from agent_tui.cli.manual import argument_words
from agent_tui.cli.options import CHAT_OPTIONS, ENGINE_OPTIONS
from agent_tui.cli.parsers import chat_parser, split_command
from agent_tui.cli.switches import read_switches
from agent_tui.cli.table import COMMANDS, DEFAULT_VERBS, GROUPS, find_command, verbs_of
from agent_tui.core.search_filters import FILTERS
from agent_tui.library.search.query import parse_query


def run_main(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        cli.main(list(arguments))
    return int(ended.value.code or 0)


def test_the_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_main("--version") == 0
    assert capsys.readouterr().out == f"agent-tui {__version__}\n"


@pytest.mark.parametrize(
    ("typed", "name", "left"),
    [
        ("sessions --cwd /tmp --json", "sessions list", "--cwd /tmp --json"),
        ("sessions --cwd show rename a b", "sessions rename", "--cwd show a b"),
        ("config --set model=x --origin", "config show", "--set model=x --origin"),
        ("mcp -m x get y", "mcp get", "-m x y"),
        ("archives --cwd /tmp a", "archives", "--cwd /tmp a"),
    ],
)
def test_what_an_option_takes_is_no_command_of_a_group(typed: str, name: str, left: str) -> None:
    command, rest = split_command(typed.split())
    assert (command.name, rest) == (name, left.split())


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_main("--help") == 0
    shown = capsys.readouterr().out
    assert all(f"  {name} " in shown for name in GROUPS)


def test_the_list_of_commands_fits_a_terminal_of_80_columns(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run_main("--help") == 0
    assert [line for line in capsys.readouterr().out.splitlines() if len(line) > 80] == []


@pytest.mark.parametrize(
    "command",
    [
        *("checkpoints", "revert", "archives", "restore", "compact", "open", "export", "repair"),
        *("sessions list", "sessions show", "sessions rename", "sessions delete", "archives prune"),
        *("config show", "config path", "config schema"),
    ],
)
def test_every_command_has_help_and_knows_json(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_main(*command.split(), "--help") == 0
    shown = capsys.readouterr().out
    assert f"agent-tui {command}" in shown
    assert "--json" in shown


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        (
            ("--demo", "open", "a b.jsonl"),
            "a command comes before its options: agent-tui open --demo 'a b.jsonl'",
        ),
        (
            ("--demo", "fix", "the", "bug"),
            "expected one prompt, got 3 words; put it in quotes: agent-tui 'fix the bug'",
        ),
    ],
)
def test_words_behind_a_prompt_are_refused_with_what_to_type(
    typed: tuple[str, ...], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_main(*typed) == 2
    assert capsys.readouterr().err == f"agent-tui: {told}\n"


@pytest.mark.parametrize(
    "typed",
    [
        ("search", "x", "--limit", "0"),
        ("export", "x", "--max-messages", "-3"),
        ("fork", "x", "--max-tokens", "many"),
        ("-p", "x", "--max-steps", "0"),
        ("--stress", "-1"),
    ],
)
def test_numbers_of_things_begin_at_1(
    typed: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_main(*typed) == 2
    told = f"argument {typed[-2]}: expected a number from 1 on, got {typed[-1]!r}\n"
    assert capsys.readouterr().err.endswith(told)


@pytest.mark.parametrize(
    "arguments",
    [("--fly",), ("revert", "x"), ("revert", "x", "y"), ("-p", "a", "--output-format", "xml")],
    ids=" ".join,
)
def test_usage_errors_end_with_2(
    arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_main(*arguments) == 2
    assert "usage:" in capsys.readouterr().err


def test_help_and_version_load_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "from agent_tui import cli\n"
        "try:\n    cli.main(['--help'])\nexcept SystemExit: pass\n"
        "heavy = {'textual', 'rich', 'pydantic', 'openai', 'tiktoken', 'asyncio', 'tenacity'}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stderr == "[]\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="has no device that is always full")
@pytest.mark.parametrize(
    "arguments", ["help", "--help", "help doctor", "help --all", "man", "config show", "statistics"]
)
def test_output_that_cannot_be_written_is_one_sentence(arguments: str, tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        ran = subprocess.run(
            [sys.executable, "-m", "agent_tui", *arguments.split()],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"AGENT_TUI_HOME": str(tmp_path)},
            check=False,
        )
    assert ran.returncode == 1
    assert ran.stderr == "agent-tui: the system: No space left on device.\n"


@pytest.mark.parametrize("arguments", ["doctor", "man", "config show --origin"])
def test_a_character_that_the_encoding_does_not_know_is_spelt(
    arguments: str, tmp_path: Path
) -> None:
    (tmp_path / "config.toml").write_text('model = "mödel"\n')
    ran = subprocess.run(
        [sys.executable, "-m", "agent_tui", *arguments.split()],
        capture_output=True,
        text=True,
        env=os.environ | {"AGENT_TUI_HOME": str(tmp_path), "PYTHONIOENCODING": "ascii"},
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.isascii()


def test_a_folder_that_was_deleted_under_us_is_no_traceback(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    # As a user starts it: with ``-c`` Python itself puts the folder that is gone on its path.
    script = 'cd "$1" && rmdir "$1" && exec "$0" -m agent_tui sessions list'
    env = os.environ | {"AGENT_TUI_HOME": str(tmp_path / "home")}
    ran = subprocess.run(
        ["sh", "-c", script, sys.executable, str(gone)],
        capture_output=True,
        text=True,
        env=env,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.startswith("No sessions yet")


def test_a_terminal_that_knows_no_unicode_is_no_traceback(tmp_path: Path) -> None:
    env = os.environ | {"AGENT_TUI_HOME": str(tmp_path / "home"), "PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-m", "agent_tui", "open", "/nowhere/ünicode"]
    ran = subprocess.run(command, capture_output=True, text=True, env=env, check=False)
    assert ran.returncode == 1
    assert "\\xfcnicode" in ran.stderr
    assert "Traceback" not in ran.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_data_that_may_not_be_read_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    projects = tmp_path / "projects"
    projects.mkdir(mode=0)
    monkeypatch.setenv("AGENT_TUI_HOME", str(tmp_path))
    assert run_main("sessions", "list") == 1
    assert str(projects) in capsys.readouterr().err


def test_data_in_a_place_that_is_no_folder_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "home").write_text("no folder")
    monkeypatch.setenv("AGENT_TUI_HOME", str(tmp_path / "home"))
    for arguments in (("sessions", "list"), ("-p", "hi"), ("-c", "-p", "hi")):
        assert run_main(*arguments) in (1, 2)
        err = capsys.readouterr().err
        assert err.startswith("agent-tui: ")
        assert err.count("\n") == 1


def test_every_option_and_command_stands_in_the_whole_help_and_the_man_page(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run_main("help", "--all") == 0
    whole = capsys.readouterr().out
    assert run_main("man") == 0
    man = capsys.readouterr().out.replace("\\-", "-")
    for argument in (*CHAT_OPTIONS, *ENGINE_OPTIONS):
        assert argument.names[-1] in whole
        assert argument_words(argument) in man
    for command in COMMANDS:
        assert f"usage: agent-tui {command.name}" in whole
        assert (
            f".SS agent-tui {command.name}\n{command.summary[0].upper()}{command.summary[1:]}."
            in man
        )


def test_the_help_of_search_explains_every_filter_by_one_that_can_be_searched(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run_main("search", "--help") == 0
    shown = capsys.readouterr().out
    for name, meaning in FILTERS.items():
        assert f"  {name}:" in shown
        examples = re.findall(rf"\b{name}:\S+\b", meaning)
        assert examples
        for example in examples:
            parse_query(f"tide {example}", date(2026, 3, 21))


def test_help_of_one_command_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_main("help", "sessions", "rename") == 0
    assert "agent-tui sessions rename" in capsys.readouterr().out
    assert run_main("help", "fly") == 2


@pytest.mark.parametrize("group", [*DEFAULT_VERBS])
@pytest.mark.parametrize("typed", ["{} --help", "{} -h", "help {}"])
def test_the_help_of_a_group_lists_its_commands(
    typed: str, group: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_main(*typed.format(group).split()) == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"usage: agent-tui {group} [")
    for verb in verbs_of(group):
        command = find_command(f"{group} {verb}")
        assert command is not None
        assert re.search(rf"^  {verb} +{re.escape(command.summary)}( \(default\))?$", shown, re.M)
    default = DEFAULT_VERBS[group]
    assert re.findall(r"^  (\S+) .*\(default\)$", shown, re.M) == ([default] if default else [])


@pytest.mark.parametrize("command", ["tree", "fork", "changes", "export", "repair"])
def test_help_says_which_commands_take_a_path(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_main("help", command) == 0
    assert "or the path of a session file" in capsys.readouterr().out


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_completion_script_names_every_command(
    shell: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_main("completion", shell) == 0
    shown = capsys.readouterr().out
    assert all(word in shown for command in COMMANDS for word in command.name.split())


@pytest.mark.parametrize(
    "line",
    [
        "-n '__fish_use_subcommand' -a config -d 'show, set, unset, edit, schema, path'",
        "-n '__fish_seen_subcommand_from models' -l json -d 'print JSON'",
        "-n '__fish_seen_subcommand_from completion' -fa 'bash zsh fish' -d 'print a completion",
    ],
)
def test_fish_completes_from_the_script(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_main("completion", "fish") == 0
    assert f"\ncomplete -c agent-tui {line}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        (["agent-tui", "sess"], {"sessions"}),
        (["agent-tui", "sessions", "re"], {"rename"}),
        (["agent-tui", "config", "show", "--or"], {"--origin"}),
        (["agent-tui", "help", "mo"], {"models"}),
        (["agent-tui", "completion", ""], {"bash", "zsh", "fish", "--help"}),
        (["agent-tui", "--output-format", "j"], {"json"}),
        (["agent-tui", "-y", "--mode", "p"], {"plan"}),
        (["agent-tui", "export", "--format", "k"], {"kimi"}),
        (["agent-tui", "ship", "--format", "p"], {"parquet"}),
    ],
    ids=lambda value: " ".join(sorted(value)),
)
@pytest.mark.skipif(not which("bash"), reason="bash is not installed")
def test_bash_completes_from_the_script(typed: list[str], offered: set[str]) -> None:
    words = " ".join(f'"{word}"' for word in typed)
    script = (
        f'source <("{sys.executable}" -m agent_tui completion bash)\n'
        f"COMP_WORDS=({words}); COMP_CWORD={len(typed) - 1}; _agent_tui\n"
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    ran = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert set(ran.stdout.split()) == offered, ran.stderr


def test_settings_are_set_shown_with_their_origin_and_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("AGENT_TUI_HOME", str(tmp_path))
    monkeypatch.setenv("AGENT_TUI_MODEL", "from-environment")
    assert run_main("config", "set", "context.ratio", "0.7") == 0
    capsys.readouterr()
    assert run_main("config", "show", "--origin", "--set", "agent.max_steps=7") == 0
    shown = capsys.readouterr().out.splitlines()
    assert any(
        line.startswith("context.ratio = 0.7 ") and line.endswith("config.toml:2)")
        for line in shown
    ), shown
    assert any("(AGENT_TUI_MODEL)" in line for line in shown)
    assert any(line.startswith("agent.max_steps = 7 ") and "# flag" in line for line in shown)
    assert run_main("config", "show", "--origin", "--set", "model=set", "--model", "named") == 0
    shown = capsys.readouterr().out.splitlines()
    assert any(line.startswith("model = ") and "(--set model)" in line for line in shown), shown
    assert run_main("config", "show", "--origin", "--model", "named") == 0
    assert "(--model)" in capsys.readouterr().out
    assert run_main("config", "show", "--max-cost", "-1") == 2
    assert "--max-cost, field agent.max_cost: " in capsys.readouterr().err
    assert run_main("config", "show", "--set", "context.ratio=-1") == 2
    assert "--set context.ratio, field context.ratio: " in capsys.readouterr().err
    assert run_main("config", "unset", "context.ratio") == 0
    capsys.readouterr()
    assert run_main("config", "show", "context.ratio", "--json") == 0
    assert json.loads(capsys.readouterr().out) == {"context.ratio": 0.85}
    assert run_main("config", "set", "context.ration", "1") == 2
    assert "did you mean context.ratio?" in capsys.readouterr().err


def test_where_the_settings_are_and_their_schema_can_be_read_by_a_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("AGENT_TUI_HOME", str(tmp_path))
    assert run_main("config", "path", "--json") == 0
    assert json.loads(capsys.readouterr().out) == {"path": str(tmp_path / "config.toml")}
    assert run_main("config", "schema", "--json") == 0
    assert "properties" in json.loads(capsys.readouterr().out)


def test_statistics_of_nothing_say_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("AGENT_TUI_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    assert run_main("statistics") == 0
    assert capsys.readouterr().out == "There are no sessions yet.\n"
    assert run_main("statistics", "--since", "7d") == 0
    assert run_main("statistics", "--since", "yesterday") == 2
    assert "Expected a day such as" in capsys.readouterr().err
    assert run_main("statistics", "--since", "2999-01-01") == 0
    assert capsys.readouterr().out == "No activity in this period.\n"


def test_headers_that_may_hold_a_key_are_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("AGENT_TUI_HOME", str(tmp_path))
    (tmp_path / "config.toml").write_text(
        '[providers.x]\napi_key_env = "MY_KEY"\nheaders = { Authorization = "canary" }\n'
    )
    assert run_main("config", "show") == 0
    shown = capsys.readouterr().out
    assert "canary" not in shown
    assert "MY_KEY" in shown


def test_the_editor_is_told_of_a_mistake(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("AGENT_TUI_HOME", str(tmp_path))
    monkeypatch.setenv("VISUAL", "sh -c 'echo mdel = 1 >> $0'")
    assert run_main("config", "edit") == 2
    assert "did you mean model?" in capfd.readouterr().err
    assert (tmp_path / "config.toml").read_text().startswith("#:schema ./config.schema.json\n")
    assert "mdel" not in (tmp_path / "config.schema.json").read_text()


@pytest.mark.parametrize("option", ["-a", "--agent"])
def test_an_agent_is_named_by_its_spec_as_kimi_cli_does(option: str) -> None:
    assert chat_parser().parse_args([option, "explorer"]).agent == "explorer"


def test_flags_of_kimi_cli_have_their_meanings() -> None:
    options = chat_parser().parse_args(["-y", "-d", "-C", "Fix it"])
    assert (options.yolo, options.daemon, options.command) == (True, True, "Fix it")
    assert chat_parser().parse_args(["--continue"]).latest
    assert chat_parser().parse_args(["-c"]).latest


def test_every_option_and_argument_says_what_it_is() -> None:
    of_commands = (argument for command in COMMANDS for argument in command.arguments)
    every = (*CHAT_OPTIONS, *ENGINE_OPTIONS, *of_commands)
    assert [argument.names for argument in every if not argument.options.get("help")] == []


SWITCHES = [
    name
    for argument in (*CHAT_OPTIONS, *ENGINE_OPTIONS)
    if argument.options.get("action") == "store_true"
    for name in argument.names
]


@pytest.mark.parametrize(
    "typed",
    [[], *([name] for name in SWITCHES), ["--demo", "-y", "--yolo"], SWITCHES],
    ids=" ".join,
)
def test_switches_alone_mean_what_the_parser_makes_of_them(typed: list[str]) -> None:
    read = read_switches(typed)
    assert read is not None
    assert vars(read) == vars(chat_parser().parse_args(typed))


@pytest.mark.parametrize(
    "typed",
    [
        *(["hello"], [""], ["--demo", "hello"], ["sessions"], ["-"], ["--"], ["--help"], ["-h"]),
        *(["-yc"], ["--yol"], ["--demo=1"], ["-r"], ["--model", "x"], ["prompt"], ["--resume"]),
    ],
    ids=" ".join,
)
def test_whatever_is_more_than_a_switch_is_left_to_the_parser(typed: list[str]) -> None:
    assert read_switches(typed) is None


def test_a_start_with_switches_alone_loads_no_parser() -> None:
    start = "import sys; from agent_tui import cli\ntry: cli.main(['--demo', '-y'])\nfinally: "
    done = subprocess.run(
        [sys.executable, "-c", start + "print(*sys.modules)"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    loaded = done.stdout.split()
    assert "agent_tui.runtime.starting.launch" in loaded
    assert not {"argparse", "agent_tui.cli.parsers", "agent_tui.cli.table"} & set(loaded)
