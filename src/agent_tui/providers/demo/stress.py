"""A scenario that streams a long answer of every kind of block: to see and measure the screen."""

from __future__ import annotations

from agent_tui.providers.demo.scenario import Reply, Scenario

CHUNKS_PER_SECOND = 500.0
_CHUNK_CHARS = 6
_ANSWERS = 1_000
_ROUND = """\
## Part {number}

The tide is **regular** and the `harbour` lies open to the *north*, as the [log](#log) says. What \
was written on the second day agrees with it; what was written on the third does not.

1. Read the log from its end
2. Compare each height with the table
   - those before noon
   - those after it

```python
def height(hour: int, moon: float) -> float:
    return 4.2 + 2.1 * math.cos(hour / 6.2) * moon  # metres
```

| Day | High | Low |
|---|---:|---:|
| {number} | 6.1 | 1.9 |

> Nobody sails at low water.

"""


def stress_scenario(chunks: int, *, chunks_per_second: float = CHUNKS_PER_SECOND) -> Scenario:
    """Every prompt is answered with about so many chunks: prose, lists, code, tables, quotes."""
    from agent_tui.providers.demo.scripted import split_text

    text, left, number = [], max(1, chunks), 1
    while left > 0:
        pieces = split_text(_ROUND.format(number=number), _CHUNK_CHARS)[:left]
        text += pieces
        left -= len(pieces)
        number += 1
    return Scenario(
        model="stress",
        window=100_000_000,
        chunks_per_second=chunks_per_second,
        chunk_chars=_CHUNK_CHARS,
        script=(Reply(text="".join(text)),) * _ANSWERS,
        suggestions=("Stream the answer",),
    )
