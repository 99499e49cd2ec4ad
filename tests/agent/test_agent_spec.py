"""Specs are resolved into one form; every mistake in one is told with its file and line."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_tui.agent.narrow_yaml import read_yaml
from agent_tui.agent.prompt_variables import fill_in, list_workspace, prompt_variables
from agent_tui.agent.spec import file_spec
from agent_tui.core.errors import ConfigError
from agent_tui.resources import agent_spec_names
from agent_tui.runtime.building.agents import Agents


def write(folder: Path, name: str, text: str) -> Path:
    (folder / "agents").mkdir(exist_ok=True, parents=True)
    path = folder / "agents" / f"{name}.yaml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("name", agent_spec_names())
def test_every_shipped_agent_resolves_and_says_what_it_is_for(name: str) -> None:
    spec = Agents().find(name)
    assert spec.name == name
    assert spec.description.endswith(".")
    assert "${WORKSPACE}" in spec.system_prompt
    assert all(Agents().find(each) for each in spec.subagents)


@pytest.mark.parametrize("name", ["explorer", "security-reviewer"])
def test_the_readers_can_change_nothing(name: str) -> None:
    spec = Agents().find(name)
    acting = ("edit_file", "write_file", "run_command", "fetch_url", "task", "send_dmail")
    assert not [tool for tool in acting if spec.allows(tool)]
    assert spec.allows("read_file")
    assert not spec.subagents


def test_only_the_time_traveller_sends_dmails() -> None:
    assert [name for name in agent_spec_names() if Agents().find(name).sends_dmail] == [
        "time-traveller"
    ]


def test_what_is_not_set_is_taken_from_what_is_extended(tmp_path: Path) -> None:
    write(tmp_path, "base", "extend: explorer\nprompt_vars: {A: one, B: two}\nmodel: small\n")
    write(tmp_path, "mine", "extend: base\nprompt_vars: {B: three}\ntools: ['*']\nname: me\n")
    spec = Agents(tmp_path).find("mine")
    assert (spec.name, spec.model) == ("me", "small")
    assert spec.variables == {"A": "one", "B": "three"}
    assert spec.system_prompt == Agents().find("explorer").system_prompt
    assert spec.allows("run_command")


def test_tools_of_servers_come_with_the_servers_that_a_spec_names(tmp_path: Path) -> None:
    write(
        tmp_path, "mine", "extend: explorer\nmcp_servers: [github]\nexclude_tools: [github__rm]\n"
    )
    spec = Agents(tmp_path).find("mine")
    assert spec.allows("github__search")
    assert not spec.allows("github__rm")
    assert not spec.allows("other__search")
    assert not Agents().find("explorer").allows("github__search")
    assert Agents().find("default").allows("github__search")


def test_a_prompt_is_a_file_beside_the_spec(tmp_path: Path) -> None:
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "me.md").write_text("You are ${WHO}, on ${DATE}.\n")
    path = write(tmp_path, "mine", "system_prompt: me.md\nprompt_vars: {WHO: careful}\n")
    spec = Agents().find(str(path))
    assert spec.name == "mine"
    assert fill_in(spec.system_prompt, spec.variables) == "You are careful, on ${DATE}."


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("name: a\ntols: [x]\n", 2, "there is no field 'tols'; did you mean tools?"),
        ("name: a\nmodel: b\nname: c\n", 3, "'name' is set twice"),
        ("extend: nobody\n", 1, "there is no agent 'nobody' to extend"),
        ("extend: mine\n", 1, "'mine' extends itself in a circle"),
        ("extend: mine.yaml\n", 1, "'mine.yaml' extends itself in a circle"),
        ("name: a\nextend: deep/gone.yaml\n", 2, "'deep/gone.yaml' cannot be read"),
        ("extend: ../../x.yaml\n", 1, "'../../x.yaml' cannot be read"),
        ("name: [a]\n", 1, "expected text"),
        ("tools: {a: b}\n", 1, "expected a list of names"),
        ("\n- a\n", 2, "expected fields"),
        ("name: &x a\nmodel: *x\n", 1, "anchors and aliases are not allowed"),
        ("name: !!python/object:os.system a\n", 1, "is not allowed"),
        ("name: a\n  bad: [\n", 2, "not valid YAML"),
        ("\nsystem_prompt: ../secret.md\n", 2, "must be a file beside the spec"),
        ("system_prompt: gone.md\n", 1, "cannot be read"),
        ("name: a\nsubagents: [explorer, deep/gone.yaml]\n", 2, "'deep/gone.yaml' cannot be read"),
        ("subagents:\n- explorer\n- nobody\n", 3, "there is no agent 'nobody' to start"),
        ("subagents:\n- explorer\n- explorer\n", 3, "two subagents are named 'explorer'"),
        ("subagents: [/etc/x.yaml]\n", 1, "'/etc/x.yaml' cannot be read"),
        ("subagents: [../../x.yaml]\n", 1, "'../../x.yaml' cannot be read"),
    ],
)
def test_a_mistake_is_told_with_its_file_and_line(
    tmp_path: Path, text: str, line: int, words: str
) -> None:
    write(tmp_path, "mine", text)
    with pytest.raises(ConfigError) as caught:
        Agents(tmp_path).find("mine")
    assert str(caught.value).startswith(f"{tmp_path / 'agents' / 'mine.yaml'}, line {line}: ")
    assert words in str(caught.value)


def test_a_subagent_is_a_file_beside_the_spec_that_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "reader", "description: The one of the folder.\n")
    (tmp_path / "agents" / "reader.md").write_text("Read.")
    write(
        tmp_path / "agents",
        "reader",
        "name: strict\ndescription: Reads strictly.\nsystem_prompt: reader.md\n",
    )
    (tmp_path / "agents" / "agents" / "reader.md").write_text("Read strictly.")
    path = write(tmp_path, "lead", "subagents: [explorer, agents/reader.yaml]\n")
    write(tmp_path / "elsewhere", "heir", "extend: lead\nname: heir\n")
    monkeypatch.chdir(tmp_path / "elsewhere")
    agents = Agents(tmp_path)
    for lead in (agents.find("lead"), agents.find(str(path)), agents.find("agents/heir.yaml")):
        assert agents.subagents_of(lead) == {
            "explorer": agents.find("explorer").description,
            "reader": "Reads strictly.",
        }
        reader = agents.subagent(lead, "reader")
        assert (reader.name, reader.system_prompt) == ("strict", "Read strictly.")
    assert agents.find("reader").description == "The one of the folder."


def test_a_spec_extends_a_file_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    base = write(tmp_path / "agents", "base", "extend: explorer\nsystem_prompt: base.md\n")
    base.with_name("base.md").write_text("Be careful.")
    path = write(tmp_path, "heir", "extend: agents/base.yaml\nname: heir\n")
    elsewhere = write(tmp_path / "elsewhere", "base", "system_prompt: wrong.md\n")
    monkeypatch.chdir(elsewhere.parent.parent)
    agents = Agents(tmp_path)
    for name in ("heir", str(path), "../agents/heir.yaml"):
        heir = agents.find(name)
        assert (heir.name, heir.system_prompt) == ("heir", "Be careful.")
        assert not heir.allows("write_file")


def test_a_mistake_in_a_subagents_file_is_told_of_that_file(tmp_path: Path) -> None:
    path = write(tmp_path, "helper", "name: a\ntols: [x]\n")
    write(tmp_path, "lead", "subagents: [./helper.yaml]\n")
    agents = Agents(tmp_path)
    with pytest.raises(ConfigError) as caught:
        agents.subagents_of(agents.find("lead"))
    assert str(caught.value).startswith(f"{path}, line 2: there is no field 'tols'")


def test_an_unknown_agent_is_refused_with_a_guess() -> None:
    with pytest.raises(ConfigError, match="Did you mean explorer"):
        Agents().find("explorr")


def test_the_nearer_spec_wins_over_ones_own_and_that_over_a_shipped_one(tmp_path: Path) -> None:
    write(tmp_path / "own", "explorer", "name: mine\n")
    write(tmp_path / "repo" / ".agents", "explorer", "name: theirs\n")
    assert Agents(tmp_path / "own").find("explorer").name == "mine"
    agents = Agents(tmp_path / "own", [tmp_path / "repo"])
    assert agents.find("explorer").name == "theirs"


def test_nothing_of_a_spec_is_read_through_a_link(tmp_path: Path) -> None:
    outside = write(tmp_path, "outside", "name: outside\n")
    secret = tmp_path / "secret.md"
    secret.write_text("key")
    repo = tmp_path / "repo"
    write(repo / ".agents", "linking", "system_prompt: secret.md\n")
    folder = repo / ".agents" / "agents"
    (folder / "secret.md").symlink_to(secret)
    (folder / "linked.yaml").symlink_to(outside)
    for name in ("linking", "linked"):
        with pytest.raises(ConfigError, match=r"cannot be read[^.]*: .*[^.]\.$"):
            Agents(None, [repo]).find(name)


def test_yaml_is_bounded() -> None:
    with pytest.raises(ConfigError, match="longer than"):
        read_yaml("a" * 70_000, "x.yaml")
    with pytest.raises(ConfigError):
        read_yaml("[" * 30_000, "x.yaml")


def test_the_variables_tell_place_and_time(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "a\x1b[31m.py").write_text("")
    variables = prompt_variables(tmp_path)
    assert set(variables) == {
        "DATE", "TIME_ZONE", "SHELL", "USER", "PLATFORM", "WORKSPACE", "LISTING",
    }  # fmt: skip
    assert variables["WORKSPACE"] == str(tmp_path)
    assert variables["LISTING"].endswith("src/")
    assert "\x1b" not in variables["LISTING"]
    assert list_workspace(tmp_path / "gone") == "(the folder cannot be read)"


def test_a_long_listing_is_cut(tmp_path: Path) -> None:
    for number in range(70):
        (tmp_path / f"file_{number:02}").write_text("")
    assert list_workspace(tmp_path).endswith("file_59 and 10 more")


def test_a_spec_that_is_not_there_is_told_as_people_say_it(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as told:
        file_spec(tmp_path / "none.yaml")
    assert str(told.value) == (
        f"{tmp_path / 'none.yaml'} cannot be read as an agent's spec: No such file or directory."
    )
