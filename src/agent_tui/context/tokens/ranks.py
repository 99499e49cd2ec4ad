"""tiktoken encodings made from the ranks that are shipped: no network, no cache folder, no plugin.

The names are ours (``agent_tui_o200k_base``), so that an encoding of tiktoken's own registry is
never shadowed. The split patterns are those of ``tiktoken_ext.openai_public``.
"""

from __future__ import annotations

import threading
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import tiktoken

_PATTERNS = {
    "o200k_base": "|".join(
        (
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
            r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
            r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
            r"\p{N}{1,3}",
            r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
            r"\s*[\r\n]+",
            r"\s+(?!\S)",
            r"\s+",
        )
    ),
    "cl100k_base": (
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+"
        r"| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
    ),
}
_DIGESTS = {
    "o200k_base": "525e9ef7ef1926dfc41c2fd03529afc9822289ed48c4ae4927cf061c92dab0e9",
    "cl100k_base": "0718e995710ecf212f8f321360354e7230540439f346e0e1620cd6a7ad3ed3f0",
}
_one_at_a_time = threading.Lock()


def load_encoding(name: str) -> tiktoken.Encoding:
    """The encoding ``o200k_base`` or ``cl100k_base``, made once in a process.

    The first call takes 0.2 to 0.4 s, part of it with the GIL held: make it in a thread, before the
    counts are needed. Raises KeyError for a name that is not shipped.
    """
    with _one_at_a_time:
        return _make_encoding(name)


@cache
def _make_encoding(name: str) -> tiktoken.Encoding:
    import lzma
    from binascii import a2b_base64
    from hashlib import sha256

    import tiktoken

    from agent_tui.core.errors import StorageError
    from agent_tui.resources import token_ranks

    pattern = _PATTERNS[name]
    packed = token_ranks(name).read_bytes()
    if sha256(packed).hexdigest() != _DIGESTS[name]:
        raise StorageError(f"The token ranks {name} are damaged. Reinstall agent-tui.")
    lines = lzma.decompress(packed).split(b"\n")
    pairs = (line.split() for line in lines if line)
    ranks = {a2b_base64(token): int(rank) for token, rank in pairs}
    return tiktoken.Encoding(
        f"agent_tui_{name}", pat_str=pattern, mergeable_ranks=ranks, special_tokens={}
    )
