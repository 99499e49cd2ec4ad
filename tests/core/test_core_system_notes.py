"""What the program tells the model in tags is read by people without them."""

from __future__ import annotations

import pytest

from agent_tui.core.system_notes import (
    is_checkpoint_notice,
    read_dmail,
    tagged_origin,
    without_tags,
)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("<system>You just got a D-Mail: from your future.</system>\n\nLook in b.txt.", None),
        ("<system>You just got a D-Mail. D-Mail content:\n\nLook in b.txt.</system>", None),
        ("Look in b.txt.", None),
        (
            "<system>You just got a D-Mail.</system>\n\nLook in b.txt.\n\n<system>The user has "
            "asked since then:</system>\nAnd c?",
            "Look in b.txt.\n\nThe user has asked since then:\nAnd c?",
        ),
    ],
)
def test_a_dmail_is_read_without_what_stands_around_it(written: str, read: str | None) -> None:
    assert read_dmail(written) == (read or "Look in b.txt.")


def test_a_plain_log_tells_by_its_tags_who_spoke() -> None:
    assert tagged_origin("<system>CHECKPOINT 3</system>") == "checkpoint"
    assert tagged_origin("<system>You just got a D-Mail</system>") == "dmail"
    assert tagged_origin("Is this <system>CHECKPOINT 3</system>?") == "human"
    assert not is_checkpoint_notice("<system>CHECKPOINT 3</system> and more")
    assert without_tags("<system>Stop repeating.</system>") == "Stop repeating."
