"""A turn that overflows a small window: the model reads part after part until it has a summary."""

from __future__ import annotations

import json
from pathlib import Path

from tests.e2e.stage import Stage, is_summary_request
from tests.providers.sse_server import (
    Answer,
    Pause,
    Seen,
    SseServer,
    call_chunk,
    finish_chunk,
    stream,
    text_chunk,
)

PROMPT = "Read the parts"
SUMMARY = "The first parts were read: the tide is regular."
END = "All parts agree."
CONFIG = "[context]\nwindow = 6000\nreserved = 0\n"
REVIEWED = CONFIG + "preview_auto = true\n"
PARTS = 8


def read_on(seen: Seen) -> Answer:
    """What the model says: the next part to read; after a summary, or after all parts, the end."""
    if is_summary_request(seen):
        return summarise()
    if is_end(seen):
        return end()
    return read_part(1 + sum(len(m.get("tool_calls") or ()) for m in seen.body["messages"]))


def summarise(pause_seconds: float = 0.0) -> Answer:
    """The summary, with a pause in the middle."""
    words = [text_chunk(f"{word} ") for word in SUMMARY.split()]
    return stream(*words[:3], Pause(pause_seconds), *words[3:], finish_chunk())


def end(pause_seconds: float = 0.0) -> Answer:
    """The last words of the turn, with a pause in the middle."""
    words = text_chunk(END[:10]), Pause(pause_seconds), text_chunk(END[10:])
    return stream(*words, finish_chunk())


def read_part(number: int, pause_seconds: float = 0.0) -> Answer:
    """A call to read a part, with a pause before the call."""
    path = json.dumps({"path": f"part-{(number - 1) % PARTS + 1}.txt"})
    call = call_chunk(0, call_id=f"part-{number}", name="read_file", arguments=path)
    words = text_chunk(f"I read part {number}.")
    return stream(words, Pause(pause_seconds), call, finish_chunk("tool_calls"))


def is_end(seen: Seen) -> bool:
    """Whether the model has nothing more to read."""
    said = json.dumps(seen.body["messages"])
    return not is_summary_request(seen) and (SUMMARY in said or f'"part-{PARTS}"' in said)


def set_up(folder: Path, server: SseServer, config: str = CONFIG) -> Stage:
    """A stage whose workspace holds the parts."""
    stage = Stage(folder, server, config)
    for part in range(1, PARTS + 1):
        lines = (f"part {part} line {line}: {line * 7 % 13} cm higher" for line in range(60))
        (stage.workspace / f"part-{part}.txt").write_text("\n".join(lines))
    return stage
