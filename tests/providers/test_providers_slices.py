"""Bodies of megabytes are sent in slices that add up to them."""

from __future__ import annotations

from agent_tui.providers.slices import as_content


async def test_a_big_body_goes_in_slices_and_says_its_length() -> None:
    body = bytes(range(256)) * 10_000
    content, headers = as_content(body)
    assert not isinstance(content, bytes)
    pieces = [piece async for piece in content]
    assert b"".join(pieces) == body
    assert max(map(len, pieces)) * 20 < len(body)
    assert headers == {"Content-Length": str(len(body))}


def test_an_ordinary_body_goes_as_it_is() -> None:
    assert as_content(b"{}") == (b"{}", {})
