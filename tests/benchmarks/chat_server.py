"""A chat server on loopback for benchmarks, in a process of its own, that does what a prompt says.

A prompt such as ``%%chunks=200 rate=100 chars=20 tools=1%%`` is answered with one tool call and
then with 200 chunks of prose, 100 a second (``rate=0``: all at once), ending in END, or in the
``end`` that it names, in capitals. ``kind=thinking`` makes the chunks reasoning, and
``kind=arguments`` makes them the arguments of a call before the answer. What happens when is
printed as JSON lines, by the clock that all processes of a machine share:
``{"at": seconds, "event": "request" | "first" | "last"}``.

Run: ``python -m tests.benchmarks.chat_server``.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import re
import time
from dataclasses import dataclass

END = "Finished."
_SCRIPT = re.compile(rb"%%([a-z0-9=. ]+)%%")
_WORDS = "The tide is **regular** and the `harbour` lies open to the *north*, as the log says. "
_PIECES = itertools.cycle(_WORDS.split(" "))


@dataclass(frozen=True)
class Script:
    """What one prompt asks for."""

    chunks: int = 20
    rate: float = 0
    chars: int = 0
    tools: int = 0
    pause: float = 0.0
    end: str = END
    kind: str = "prose"

    @classmethod
    def read(cls, body: bytes) -> Script:
        """The last script in a request; the default one where there is none."""
        found = _SCRIPT.findall(body)
        if not found:
            return cls()
        fields = dict(field.split("=") for field in found[-1].decode().split())
        return cls(
            int(fields.get("chunks", 20)),
            float(fields.get("rate", 0)),
            int(fields.get("chars", 0)),
            int(fields.get("tools", 0)),
            float(fields.get("pause", 0)),
            fields.get("end", "").upper() or END,
            fields.get("kind", "prose"),
        )


def tell(event: str, **more: object) -> None:
    """Print what happens now."""
    print(json.dumps({"at": time.perf_counter(), "event": event} | more), flush=True)


def encode(delta: dict[str, object], finish: str | None = None) -> bytes:
    """One chunk as an event."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    chunk = {"id": "c1", "object": "chat.completion.chunk", "model": "m", "choices": [choice]}
    return b"data: " + json.dumps(chunk).encode() + b"\n\n"


def piece(number: int, chars: int) -> str:
    """The text of one chunk: a word, or prose of so many characters, in paragraphs."""
    if not chars:
        return next(_PIECES) + (" " if number % 60 else "\n\n")
    return (_WORDS * (chars // len(_WORDS) + 1))[: chars - 2] + (
        "\n\n" if number % 5 == 4 else "  "
    )


def delta(script: Script, number: int) -> dict[str, object]:
    """What one chunk adds to the answer."""
    text = piece(number, script.chars)
    if script.kind == "thinking":
        return {"reasoning_content": text}
    if script.kind != "arguments":
        return {"content": text}
    text = json.dumps(text)[1:-1]
    if not number:
        text = '{"text": "' + text
    if number == script.chunks - 1:
        text += '"}'
    function = {"arguments": text} | ({} if number else {"name": "no_such_tool"})
    named = {} if number else {"id": f"call-{time.perf_counter_ns()}"}
    return {"tool_calls": [{"index": 0, "function": function} | named]}


class ChatServer:
    """Answers on one port until it is stopped."""

    async def converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection."""
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                found = re.search(rb"content-length: (\d+)", head.lower())
                body = await reader.readexactly(int(found[1]) if found else 0)
                tell("request", bytes=len(body))
                await self.answer(body, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def answer(self, body: bytes, writer: asyncio.StreamWriter) -> None:
        """Do what the last prompt says."""
        script = Script.read(body)
        done = body[body.rfind(b"%%") :].count(b'"role":"tool"')
        writer.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n"
        )
        await writer.drain()
        await asyncio.sleep(script.pause)
        tell("first")
        if script.kind == "arguments" and not done:
            await self.stream(script, writer)
            await send(writer, encode({}, "tool_calls"))
        elif done < script.tools:
            function = {"name": "find_files", "arguments": '{"pattern": "*.nothing"}'}
            call = {"index": 0, "id": f"call-{time.perf_counter_ns()}", "function": function}
            await send(writer, encode({"content": "I look. "}) + encode({"tool_calls": [call]}))
            await send(writer, encode({}, "tool_calls"))
        else:
            if script.kind != "arguments":
                await self.stream(script, writer)
            await send(writer, encode({"content": "\n\n" + script.end}) + encode({}, "stop"))
        usage = {"prompt_tokens": len(body) // 4, "completion_tokens": script.chunks}
        last = {"id": "c1", "choices": [], "usage": usage}
        ending = b"data: " + json.dumps(last).encode() + b"\n\ndata: [DONE]\n\n"
        await send(writer, ending)
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        tell("last")

    async def stream(self, script: Script, writer: asyncio.StreamWriter) -> None:
        """The chunks, at their rate."""
        chunks = [encode(delta(script, number)) for number in range(script.chunks)]
        if not script.rate:
            await send(writer, b"".join(chunks))
            return
        began = time.perf_counter()
        for number, chunk in enumerate(chunks):
            await asyncio.sleep(max(0.0, began + number / script.rate - time.perf_counter()))
            await send(writer, chunk)


async def send(writer: asyncio.StreamWriter, data: bytes) -> None:
    """One piece of a chunked body."""
    writer.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
    await writer.drain()


async def serve() -> None:
    """Serve until the process is ended."""
    server = await asyncio.start_server(ChatServer().converse, "127.0.0.1", 0, limit=1 << 26)
    tell("ready", port=server.sockets[0].getsockname()[1])
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve())
