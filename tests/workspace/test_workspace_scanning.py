"""What is told of the folders around a path."""

from __future__ import annotations

import pytest

from agent_tui.workspace.scanning import new_folders_around


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("path", "count"), [("a.txt", 0), ("new/a.txt", 1), ("new/sub/a.txt", 2), ("old/a.txt", 0)]
)
def test_the_count_of_new_folders_ends_below_a_root_that_is_new(path: str, count: int) -> None:
    assert len(new_folders_around(path, {"", "new", "new/sub"})) == count
