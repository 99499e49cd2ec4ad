"""What the terminal says of itself, taken out of the keys that it arrives among.

Its background is asked by OSC 11, and told again by terminals that know mode 2031 when the person
changes it; whether it draws Sixel is asked by DA1.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator

from textual._time import get_time
from textual._xterm_parser import XTermParser
from textual.events import Key
from textual.message import Message

ASK_BACKGROUND = "\x1b]11;?\x1b\\\x1b[?2031h"
ASK_FEATURES = "\x1b[c"
STOP_TELLING = "\x1b[?2031l"
_REPLY = re.compile(
    r"\x1b\]11;(?P<colour>[^\x07\x1b]{1,64})(?:\x07|\x1b\\)|\x1b\[\?997;(?P<mode>[12])n"
    r"|\x1b\[\?(?P<features>[0-9;]{1,64})c"
)
_BEGUN = re.compile(r"\x1b(?:\]1(?:1(?:;[^\x07\x1b]{0,64}\x1b?)?)?|\[\?[0-9;]{0,64})\Z")
_PASTE = re.compile(r"\x1b\[20([01])~")
_PASTED_ESC = re.compile(r"\x1b(?!\[201~|(?:\[(?:2(?:01?)?)?)?\Z)")
_PASTE_END_BEGUN = re.compile(r"\x1b(?:\[(?:2(?:01?)?)?)?\Z")
_PASTE_LENGTH = 6
_REST_SECONDS = 0.5
"""The rest of a reply comes within this time; what comes later was typed."""
_ALT = re.compile(r"\x1b[a-zA-NQ-WYZ/!@\r]")
"""A key with Alt: no sequence of another key begins so."""
_SIGNS = frozenset("/!@")
"""What a prompt of its own kind begins with."""
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
        self._begun_at = 0.0
        self._last = ""
        self._pasting = False
        self._ends_in_esc = False

    def feed(self, data: str) -> Iterable[Message]:
        told: list[Message] = []
        if data:
            if (
                self._begun
                and not self._pasting
                and time.monotonic() - self._begun_at > _REST_SECONDS
            ):
                self._begun = ""
            data, self._begun = self._begun + data, ""
            if "\x1b" in data or "\x1b" in self._last:
                data = self._read(data, told)
            else:
                self._last = ""
            told = list({type(each): each for each in told}.values())  # the last of each
            if not data:
                return told
        return [*told, *self._type(data)]

    def _type(self, data: str) -> Iterator[Message]:
        """The keys of it; one with Alt is known at once, whatever comes right behind it.

        Textual waits for the time of a lone Esc. Another key in that time, or a movement of the
        mouse, would make ``^u`` of Alt+U.
        """
        start = 0
        if not self._pasting and not _PASTE.search(data):
            before = "\x1b" if self._ends_in_esc and self._timeout_time is not None else ""
            for found in _ALT.finditer(before + data):
                end = found.end() - len(before)
                yield from super().feed(data[start:end])
                start = end
                if self._timeout_time is not None:
                    self._timeout_time = 0.0
                    yield from self.tick()
        self._ends_in_esc = data.endswith("\x1b")
        if start < len(data):  # no text at all would be the end of input
            yield from super().feed(data[start:])

    def _sequence_to_key_events(self, sequence: str, alt: bool = False) -> Iterable[Key]:
        """The keys of a sequence; an Esc right before a sign is a key of its own.

        Textual knows no Alt+/ and no Alt+Enter, and would drop what stands for Alt. Nobody types
        the one, but who gives a command types ``/`` right behind Esc.
        """
        if alt and sequence == "\r":
            yield Key("alt+enter", None)
            return
        if alt and sequence in _SIGNS:
            yield Key("escape", "\x1b")
        yield from super()._sequence_to_key_events(sequence, alt)

    def seconds_to_wait(self, most: float) -> float:
        """How long to wait for more input before ``tick`` has something to say, up to ``most``."""
        if self._timeout_time is None:
            return most
        return min(most, max(0.0, self._timeout_time - get_time()))

    def _read(self, data: str, told: list[Message]) -> str:
        """What is left of it for others: all that was pasted, and what is no reply."""
        known, joined = len(self._last), self._last + data
        kept, place = "", 0
        for mark in _PASTE.finditer(joined):
            if (end := mark.end() - known) > 0:
                kept += self._take_replies(data[place:end], told)
                place, self._pasting = end, mark[1] == "0"
        kept += self._take_replies(data[place:], told)
        if begun := (_PASTE_END_BEGUN if self._pasting else _BEGUN).search(kept):
            kept, self._begun = kept[: begun.start()], begun.group()
            self._begun_at = time.monotonic()
        self._last = kept[1 - _PASTE_LENGTH :]
        return kept

    def _take_replies(self, data: str, told: list[Message]) -> str:
        if self._pasting:
            return _PASTED_ESC.sub("", data)  # else Textual takes what follows it for keys
        for reply in _REPLY.finditer(data):
            if reply["features"]:  # the first number is the terminal's class
                told.append(FeaturesTold(sixel=_SIXEL in reply["features"].split(";")[1:]))
                continue
            dark = reply["mode"] == "1" if reply["mode"] else is_dark(reply["colour"])
            if dark is not None:
                told.append(BackgroundTold(dark=dark))
        return _REPLY.sub("", data)


def is_dark(colour: str) -> bool | None:
    """Whether a colour such as ``rgb:ffff/ffff/ffff`` is dark; None where it cannot be read."""
    channels = _CHANNELS.match(colour)
    if channels is None:
        return None
    shares = [int(each, 16) / int("f" * len(each), 16) for each in channels.groups()]
    return sum(weight * share for weight, share in zip(_BRIGHTNESS, shares, strict=True)) < 0.5
