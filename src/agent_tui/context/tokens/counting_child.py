"""The process that counts tokens: run as a script, it answers counts on its standard output.

A request is the number of texts, the length of each, and their bytes; the answer is a count for
each; all numbers are 32 bits, little-endian. It ends when nobody asks any longer.
"""

from __future__ import annotations

import ctypes
import os
import select
import sys
from contextlib import suppress
from pathlib import Path
from struct import pack, unpack
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import tiktoken

_IDLE_SECONDS = 300.0


def serve(name: str, asked: int, answers: int) -> None:
    """Load an encoding, say so with a zero, and count until the other side hangs up."""
    from agent_tui.context.tokens.ranks import load_encoding

    encoding = load_encoding(name)
    _give_back(encoding)
    count = encoding.encode_ordinary
    os.write(answers, pack("<I", 0))
    while select.select([asked], [], [], _IDLE_SECONDS)[0] and (head := _read(asked, 4)):
        (texts,) = unpack("<I", head)
        lengths = unpack(f"<{texts}I", _read(asked, 4 * texts))
        counts = [len(count(_read(asked, length).decode())) for length in lengths]
        os.write(answers, pack(f"<{texts}I", *counts))


def _give_back(encoding: tiktoken.Encoding) -> None:
    """Return a third of the memory: what the encoding was made from, and only its pickling uses."""
    vars(encoding).get("_mergeable_ranks", {}).clear()
    with suppress(OSError, AttributeError):  # only the GNU library has it
        ctypes.CDLL(None).malloc_trim(0)


def _read(descriptor: int, size: int) -> bytes:
    """Exactly so many bytes, or none at the end."""
    pieces: list[bytes] = []
    while size:
        piece = os.read(descriptor, min(size, 1 << 20))
        if not piece:
            return b""
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)


if __name__ == "__main__":
    sys.path.append(str(Path(__file__).parents[3]))
    serve(sys.argv[1], 0, 1)
