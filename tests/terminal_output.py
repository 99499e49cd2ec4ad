"""What a program writes to its terminal, read as strictly as no terminal does.

Nothing is known here of what was meant to be kept out: whatever is no part of a screen of this
program is odd, whoever sent it.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass, field

_SEQUENCE = re.compile(
    rb"\x1b\[(?P<private>[<-?]?)(?P<numbers>[0-9;:]*)(?P<final>[ -/]*[@-~])"
    rb"|\x1b\](?P<told>[^\x07\x1b]*)(?:\x07|\x1b\\)"
    rb"|(?P<other>\x1b[PX^_][^\x1b]*\x1b\\|\x1b[ -/]*[0-OQ-WYZ`a-~=>])"
    rb"|(?P<control>[\x00-\x1f\x7f])"
)
_BEGUN = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*|[]PX^_][^\x07\x1b]*\x1b?|[ -/]*)?\Z")
_HIDDEN = re.compile("[\x80-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
SCREEN_MODE, _CURSOR, _WRAPPING = 1049, 25, 7
_MODES = {SCREEN_MODE, _CURSOR, _WRAPPING, 1000, 1003, 1004, 1006, 1015, 2004, 2026, 2031, 2048}
_STYLES = re.compile(
    r"(?:(?:0|[1-9]|2[2-9]|[34][0-79]|9[0-7]|10[0-7]|[34]8;(?:5;\d+|2;\d+;\d+;\d+))(?:;|\Z))*\Z"
)
_TOLD = (b"0;\xe2\x97\x8f ", b"0;\xe2\x97\x90 ", b"0;? ", b"9;4;", b"11;?", b"22;")
"""Titles behind their mark, progress, the question for the background, the pointer of the mouse."""
_COPY = b"52;c;"


@dataclass
class TerminalOutput:
    """Follows the output from its first byte on.

    Attributes:
        odd: what this program has no reason to write.
        modes: what is switched on: at first the cursor, and wrapping at the edge.
        copies: how often something was put on the clipboard.
        after: what came behind the screen, as a shell shows it.
    """

    odd: list[str] = field(default_factory=list)
    modes: set[int] = field(default_factory=lambda: {_CURSOR, _WRAPPING})
    copies: int = 0
    after: str = ""
    _kept: int = 0
    _keyboards: int = 0
    _is_styled: bool = False
    _rest: bytes = b""
    _decoder: codecs.IncrementalDecoder = field(
        default_factory=lambda: codecs.getincrementaldecoder("utf-8")("replace")
    )

    def feed(self, chunk: bytes) -> None:
        """Read on."""
        data, self._rest = self._rest + chunk, b""
        if begun := _BEGUN.search(data):
            data, self._rest = data[: begun.start()], begun.group()
        place = 0
        for found in _SEQUENCE.finditer(data):
            self._read_text(data[place : found.start()])
            place = found.end()
            self._read(found)
        self._read_text(data[place:])

    def left_on(self) -> list[str]:
        """What the terminal is not put back from; nothing, if it is as it was found."""
        left = [f"mode {mode}" for mode in sorted(self.modes ^ {_CURSOR, _WRAPPING})]
        left += ["a title"] * (self._kept != 0) + ["a keyboard"] * (self._keyboards != 0)
        return left + ["a style"] * self._is_styled + ["half a sequence"] * bool(self._rest)

    def _read_text(self, piece: bytes) -> None:
        text = self._decoder.decode(piece)
        self.odd += (f"U+{ord(hidden):04X}" for hidden in _HIDDEN.findall(text))
        self._show(text)

    def _show(self, text: str) -> None:
        if SCREEN_MODE not in self.modes:
            self.after += text

    def _read(self, found: re.Match[bytes]) -> None:
        if (control := found["control"]) is not None:
            if control in b"\r\n":
                self._show(control.decode())
            else:
                self.odd.append(repr(control))
        elif (told := found["told"]) is not None:
            self.copies += told.startswith(_COPY)
            if not told.startswith((*_TOLD, _COPY)):
                self.odd.append(repr(found[0][:80]))
        elif found["other"] is not None or not self._heeds(
            found["private"].decode(), found["numbers"].decode(), found["final"].decode()
        ):
            self.odd.append(repr(found[0][:80]))

    def _heeds(self, private: str, numbers: str, final: str) -> bool:
        """Whether a screen is drawn by this; it is followed then."""
        match private, final:
            case "", "m":
                self._is_styled = numbers not in ("", "0")
                return _STYLES.match(numbers) is not None
            case "", "H":
                return True
            case "", "c":
                return not numbers
            case "", "t" if numbers in ("22;0", "23;0"):
                self._kept += 1 if numbers == "22;0" else -1
                return True
            case (">", "u") | ("<", "u"):
                self._keyboards += 1 if private == ">" else -1
                return True
            case "?", "$p":
                return numbers in ("2026", "2048")
            case "?", "h" if numbers.isdecimal() and int(numbers) in _MODES:
                self.modes.add(int(numbers))
                if int(numbers) == SCREEN_MODE:
                    self.after = ""
                return True
            case "?", "l" if numbers.isdecimal() and int(numbers) in _MODES:
                self.modes.discard(int(numbers))
                return True
            case _:
                return False
