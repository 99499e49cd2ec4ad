"""What the terminal reports about itself, separated from the keys it arrives among.

Its background is asked by OSC 11, and told again by terminals that know mode 2031 when the person
changes it; whether it draws Sixel is asked by DA1. What another program had asked may come, too:
its answers are dropped.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator

from textual import events
from textual._time import get_time
from textual._xterm_parser import XTermParser
from textual.events import Key
from textual.keys import Keys
from textual.message import Message

from agent_tui.core.text import late_pattern

ASK_BACKGROUND = "\x1b]11;?\x1b\\\x1b[?2031h"
ASK_FEATURES = "\x1b[c"
STOP_TELLING = "\x1b[?2031l"
_REPLY = late_pattern(
    r"\x1b\]11;(?P<colour>[^\x07\x1b]{1,64})(?:\x07|\x1b\\)|\x1b\[\?997;(?P<mode>[12])n"
    r"|\x1b\[\?(?P<features>[0-9;]{1,64})c"
    r"|\x1b\]\d{1,4};[^\x07\x1b]{0,4000}(?:\x07|\x1b\\)"
    r"|\x1b(?:P[01]?[$+>|!]|_G)[^\x1b]{0,4000}\x1b\\"
)
_BEGUN = late_pattern(
    r"\x1b(?:\]\d{1,4}(?:;[^\x07\x1b]{0,64}\x1b?)?|(?:P[01]?[$+>|!]|_G)[^\x1b]{0,64}\x1b?"
    r"|\[\?[0-9;]{0,64})\Z"
)
_PASTE = late_pattern(r"\x1b\[20([01])~")
_PASTED_ESC = late_pattern(r"\x1b(?!\[201~|(?:\[(?:2(?:01?)?)?)?\Z)")
_PASTE_END_BEGUN = late_pattern(r"\x1b(?:\[(?:2(?:01?)?)?)?\Z")
_PASTE_LENGTH = 6
_REST_SECONDS = 0.5
"""The rest of a reply comes within this time; what comes later was typed."""
_ALT = late_pattern(r"\x1b[a-zA-NQ-WYZ0-9/!@$^~\r]")
"""A key with Alt: no sequence of another key begins so."""
_SIGNS = frozenset("/!@")
"""What a prompt of its own kind begins with."""
_APART = frozenset("bf0123456789")
"""What Textual takes for another key behind an Esc, as one terminal means it."""
_SEQUENCE_BEGUN = late_pattern(r"\x1b[\[O][^\x1b]{0,40}\Z")
"""How keys, pastes and the mouse begin: nobody types that, so that its rest is on its way."""
_LATE_SECONDS = 0.2
"""A slow line may cut a key right behind its Esc: the rest comes within this time."""
_HELD_SECONDS = 0.2
"""What only begins such a rest is held for so long; then it was typed."""
_LATE_REST = late_pattern(
    r"\[(?:<[0-9;]+[Mm]|[0-9;:]*[ABCDEFHIPQRSZ]|[0-9;:]+[u~]|O\Z|\?[0-9])|O[A-DFHP-S]\Z|\]11;"
)
"""What is the rest of a key or of a reply then: nobody types as much at once."""
_LATE_REST_BEGUN = late_pattern(r"(?:\[(?:<[0-9;]*|[0-9;:]*|\?)|\](?:11?)?)\Z")
"""How such a rest begins; not ``O``, which in the vim mode is typed right before text."""
_CHANNELS = late_pattern(r"(?:rgba?:|#)([0-9a-fA-F]{1,4})/?([0-9a-fA-F]{1,4})/?([0-9a-fA-F]{1,4})")
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


class MouseMove(events.MouseMove):
    """A move of the mouse, which leaves out those that wait behind it but the last.

    It has the name of Textual's own, which says what handles it.
    """

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, MouseMove) and message.button == self.button


class ReplyParser(XTermParser):
    """Textual's input parser, which alone would take the terminal's replies for keys."""

    def __init__(self, debug: bool = False) -> None:
        super().__init__(debug)
        self._begun = ""
        self._begun_at = 0.0
        self._last = ""
        self._pasting = False
        self._ends_in_esc = False
        self._open = ""
        self._esc_told_at = float("-inf")
        self._held = ""
        self._held_at = 0.0

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
            if not (data := self._join_late_rest(data)):
                return told
            if "\x1b" in data or "\x1b" in self._last:
                data = self._read(data, told)
            else:
                self._last = ""
            told = list({type(each): each for each in told}.values())  # the last of each
            if not data:
                return told
        heard = [*told, *self._type(data)]
        self._await_rest(data)
        return heard

    def tick(self) -> Iterable[Message]:
        if self._held and time.monotonic() - self._held_at >= _HELD_SECONDS:
            held, self._held = self._held, ""
            yield from super().feed(held)
        for message in super().tick():
            if isinstance(message, Key) and message.key == "escape" and not self._open[1:]:
                self._esc_told_at = time.monotonic()
            yield message

    def _join_late_rest(self, data: str) -> str:
        """What is to be fed: an Esc before what that Esc began, which was taken for a key.

        That Esc has acted; but the rest would be typed, and every line of a paste sent. A rest
        that is not whole is held, and nothing is fed yet.
        """
        is_late = self._held or time.monotonic() - self._esc_told_at < _LATE_SECONDS
        self._esc_told_at = float("-inf")
        data, self._held = self._held + data, ""
        if not is_late or self._pasting:
            return data
        if _LATE_REST_BEGUN.match(data):
            self._held, self._held_at = data, time.monotonic()
            return ""
        return f"\x1b{data}" if _LATE_REST.match(data) else data

    def _await_rest(self, data: str) -> None:
        """Wait longer than for a lone Esc where it is known that it was none."""
        if self._timeout_time is None:
            self._open = ""
            return
        joined = self._open + data
        self._open = joined[max(0, joined.rfind("\x1b")) :]
        if _SEQUENCE_BEGUN.match(self._open):
            self._timeout_time = get_time() + _REST_SECONDS

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

        Of a key with Alt that came as Esc and a character, the character is told, too: it may have
        been meant so. Of those that came in one sequence it is not.
        """
        if alt and sequence == "\r":
            yield Key("alt+enter", None)
            return
        if sequence[:1] == "\x1b" and sequence[1:] in _APART:
            yield Key(f"alt+{sequence[1]}", sequence[1])
            return
        if alt and len(sequence) == 1 and sequence.isprintable() and sequence not in _SIGNS:
            for key in super()._sequence_to_key_events(sequence, alt):
                name = key.key if key.key.startswith("alt+") else f"alt+{key.key}"
                yield Key(name, sequence)
            return
        if alt and sequence in _SIGNS:
            yield Key("escape", "\x1b")
        yield from super()._sequence_to_key_events(sequence, alt)

    def _parse_extended_key(  # type: ignore[override]  # Textual keeps what it said last
        self, sequence: str
    ) -> list[Key] | None:
        """The keys of a sequence of numbers; none where a number stands for no character.

        Textual would end the program there.
        """
        try:
            keys = super()._parse_extended_key(sequence)
            "".join(each.character or "" for each in keys or ()).encode()
        except (ValueError, OverflowError):
            return [Key(Keys.Ignore, sequence)]
        return keys

    def parse_mouse_code(self, code: str) -> Message | None:
        """What the mouse did, in cells: pixels were not asked for, whatever was told of them."""
        self.mouse_pixels = False
        message = super().parse_mouse_code(code)
        if isinstance(message, events.MouseMove):
            return MouseMove.from_event(message.widget, message)  # type: ignore[arg-type]  # None
        return message

    def seconds_to_wait(self, most: float) -> float:
        """How long to wait for more input before ``tick`` has something to say, up to ``most``."""
        if self._held:
            return min(most, max(0.0, self._held_at + _HELD_SECONDS - time.monotonic()))
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
            dark = reply["mode"] == "1" if reply["mode"] else is_dark(reply["colour"] or "")
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
