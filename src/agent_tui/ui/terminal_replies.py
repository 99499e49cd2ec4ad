"""What the terminal says of itself, taken out of the keys that it arrives among.

Its background is asked by OSC 11, and told again by terminals that know mode 2031 when the person
changes it; whether it draws Sixel is asked by DA1.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from textual._xterm_parser import XTermParser
from textual.message import Message

ASK_BACKGROUND = "\x1b]11;?\x1b\\\x1b[?2031h"
ASK_FEATURES = "\x1b[c"
STOP_TELLING = "\x1b[?2031l"
_REPLY = re.compile(
    r"\x1b\]11;(?P<colour>[^\x07\x1b]{1,64})(?:\x07|\x1b\\)|\x1b\[\?997;(?P<mode>[12])n"
    r"|\x1b\[\?(?P<features>[0-9;]{1,64})c"
)
_BEGUN = re.compile(r"\x1b(?:\]1(?:1(?:;[^\x07\x1b]{0,64}\x1b?)?)?|\[\?[0-9;]{0,64})\Z")
_CHANNELS = re.compile(r"(?:rgba?:|#)([0-9a-fA-F]{1,4})/?([0-9a-fA-F]{1,4})/?([0-9a-fA-F]{1,4})")
_SIXEL = "4"
_BRIGHTNESS = (0.299, 0.587, 0.114)
"""How much red, green and blue count for the eye (ITU-R BT.601)."""


class BackgroundTold(Message):
    """The terminal said whether its background is dark."""

    def __init__(self, *, dark: bool) -> None:
        super().__init__()
        self.dark = dark


class FeaturesTold(Message):
    """The terminal said whether it draws Sixel."""

    def __init__(self, *, sixel: bool) -> None:
        super().__init__()
        self.sixel = sixel


class ReplyParser(XTermParser):
    """Textual's parser of input, which would take the terminal's answers for keys."""

    def __init__(self, debug: bool = False) -> None:
        super().__init__(debug)
        self._begun = ""

    def feed(self, data: str) -> Iterable[Message]:
        told: list[Message] = []
        if data:
            data, self._begun = self._begun + data, ""
            if "\x1b" in data:
                data = self._take_replies(data, told)
            if not data:
                return told
        return [*told, *super().feed(data)]

    def _take_replies(self, data: str, told: list[Message]) -> str:
        for reply in _REPLY.finditer(data):
            if reply["features"]:  # the first number is the terminal's class
                told.append(FeaturesTold(sixel=_SIXEL in reply["features"].split(";")[1:]))
                continue
            dark = reply["mode"] == "1" if reply["mode"] else is_dark(reply["colour"])
            if dark is not None:
                told.append(BackgroundTold(dark=dark))
        data = _REPLY.sub("", data)
        if begun := _BEGUN.search(data):
            data, self._begun = data[: begun.start()], begun.group()
        return data


def is_dark(colour: str) -> bool | None:
    """Whether a colour such as ``rgb:ffff/ffff/ffff`` is dark; None where it cannot be read."""
    channels = _CHANNELS.match(colour)
    if channels is None:
        return None
    shares = [int(each, 16) / int("f" * len(each), 16) for each in channels.groups()]
    return sum(weight * share for weight, share in zip(_BRIGHTNESS, shares, strict=True)) < 0.5
