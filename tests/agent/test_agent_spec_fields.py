"""The shipped specs are read without YAML, and say what YAML says."""

import pytest

from agent_tui.agent.narrow_yaml import read_yaml
from agent_tui.agent.spec_fields import read_shipped
from agent_tui.resources import agent_spec, agent_spec_names


@pytest.mark.parametrize("name", agent_spec_names())
def test_a_shipped_spec_says_what_yaml_reads_in_it(name: str) -> None:
    text = agent_spec(name)
    assert dict(read_shipped(text)) == dict(read_yaml(text, name).mapping(name))
