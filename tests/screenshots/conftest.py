"""The accepted screenshots are the gallery of the README: they live at the top level."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_textual_snapshot
from syrupy.assertion import SnapshotAssertion
from syrupy.location import PyTestLocation
from syrupy.types import SerializableData, SerializedData, SnapshotIndex

from tests.screenshots.stage import Exhibit, Stage

GALLERY = Path(__file__).parents[2] / "screenshots"
_FONT_FACE = re.compile(r"@font-face \{[^}]*\}\s*")
_REMARK = re.compile(r"<!-- Generated with Rich .*? -->\s*")
_TEXT = re.compile(
    r'<text class="([^"]+)" x="([\d.]+)" y="([\d.]+)" textLength="([\d.]+)" '
    r'clip-path="([^"]+)">((?:&#160;)*)(.*?)((?:&#160;)*)\n?</text>'
)
_CELL = 12.2
_ROW_CLIP = re.compile(
    r'<clipPath id="line-\d+">.*?</clipPath>\s*| clip-path="url\(#line-\d+\)"', re.S
)


def _trimmed(found: re.Match[str]) -> str:
    """A text without the blanks around it: some viewers collapse them, and all download them."""
    style, x, y, length, clip, before, text, after = found.groups()
    if not text:
        return ""
    indent, blanks = before.count(";"), (before + after).count(";")
    x = f"{float(x) + indent * _CELL:.1f}"
    length = f"{float(length) - blanks * _CELL:.1f}"
    place = f'x="{x}" y="{y}" textLength="{length}" clip-path="{clip}"'
    return f'<text class="{style}" {place}>{text}</text>'


class Gallery(pytest_textual_snapshot.SVGImageExtension):  # type: ignore[misc]
    """One picture a test, named for what it shows, with nothing to fetch from anywhere."""

    file_extension = "svg"

    @classmethod
    def dirname(cls, *, test_location: PyTestLocation) -> str:
        return str(GALLERY)

    @classmethod
    def get_snapshot_name(cls, *, test_location: PyTestLocation, index: SnapshotIndex = 0) -> str:
        return test_location.testname.removeprefix("test_")

    def serialize(self, data: SerializableData, **_: object) -> SerializedData:
        """The picture in whatever monospaced font its reader has."""
        svg = _TEXT.sub(_trimmed, _REMARK.sub("", _FONT_FACE.sub("", str(data))))
        return svg.replace("Fira Code", "ui-monospace, DejaVu Sans Mono")


class LookOfGallery(Gallery):
    """A picture's screen another way, named for both, in a third fewer words: there are many."""

    @classmethod
    def get_snapshot_name(cls, *, test_location: PyTestLocation, index: SnapshotIndex = 0) -> str:
        return f"{index}_{super().get_snapshot_name(test_location=test_location)}"

    def serialize(self, data: SerializableData, **settings: object) -> SerializedData:
        """The picture with short names, and without what cuts each row to its own length."""
        svg = re.sub(r"terminal-\d+-", "", str(super().serialize(data, **settings)))
        return _ROW_CLIP.sub("", svg)


@pytest.fixture(autouse=True)
def _in_gallery(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pytest_textual_snapshot, "SVGImageExtension", Gallery)
    monkeypatch.setattr("agent_tui.runtime.engine.describe_sandbox", lambda _: "sandbox on")
    # Exact counts come from a process of their own, sooner or later: estimates never vary.
    monkeypatch.setattr("agent_tui.context.tokens.tokens.TokenCounter.warm", lambda _: None)


@pytest.fixture
def snap_compare(
    snap_compare: Callable[..., bool], snapshot: SnapshotAssertion
) -> Callable[..., bool]:
    """Whether a screen, and every other look at it, are as they were accepted."""
    accepted = snapshot.use_extension(LookOfGallery)

    def compare(app: Exhibit, **settings: Any) -> bool:
        first = snap_compare(app, **settings)
        others = [accepted(name=look) == picture for look, picture in app.looks.items()]
        return first and all(others)

    return compare


@pytest.fixture
def stage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Iterator[Stage]:
    """The program with its clock, ids, paths and streams held still."""
    with Stage.set_up(tmp_path, monkeypatch, request.node.name) as stage:
        yield stage
