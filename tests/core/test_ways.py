"""What a sentence asks for is named as the front-end has it on which the sentence is read."""

from __future__ import annotations

import pytest

from agent_tui.core.events import Failed, TurnFinished
from agent_tui.core.words import say_how
from agent_tui.headless.plain.lines import PlainLines
from agent_tui.headless.ways import PLAIN_WAYS
from agent_tui.headless.ways import WAYS as FLAGS
from agent_tui.providers.failures import Server, explain_status
from agent_tui.providers.secret import Secret
from agent_tui.ui.blocks import name_commands, turn_end_block


def test_the_way_to_another_model_is_that_of_where_it_is_read() -> None:
    server = Server("http://127.0.0.1:9/v1", "gpt-x", Secret(""), "")
    told = str(explain_status(server, 404, b"", {}))
    assert told.endswith("(404). Choose another model, or check the base URL.")
    assert say_how(told, FLAGS).endswith("Choose another model (--model), or check the base URL.")
    assert turn_end_block("failed", told).text.endswith(
        "Choose another model (/model), or check the base URL."
    )


def test_a_way_is_named_once_however_often_it_is_asked_for() -> None:
    told = name_commands("No model is connected: connect a provider.")
    assert told == "No model is connected: connect a provider (/connect)."
    assert name_commands(told) == told


@pytest.mark.parametrize(
    "event", [Failed("Add a key."), TurnFinished(1, "failed", 1, "Add a key.")]
)
def test_a_plain_conversation_names_its_own_ways(event: Failed | TurnFinished) -> None:
    (told,) = PlainLines().hear(event)
    assert told == f"Add a key ({PLAIN_WAYS['add a key']})."
