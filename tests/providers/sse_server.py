"""A chat server on loopback that answers by a script: raw HTTP, so that it can misbehave.

It runs in a thread of its own, so that a test may drive it from an event loop as well as beside a
child process:

    with SseServer() as server:
        server.answers.append(stream(text_chunk("Hello"), finish_chunk()))
        ... OPENAI_BASE_URL=server.url ...
        assert server.requests[0].body["stream"] is True

Without an answer in the queue it says a friendly sentence, so that a conversation can go on.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, TypeAlias

from tests.waiting import PATIENCE_SECONDS

_TLS = b"\x16"


@dataclass(frozen=True)
class Pause:
    """Silence, in seconds."""

    seconds: float


@dataclass(frozen=True)
class Cut:
    """The connection is reset here."""


Step: TypeAlias = bytes | Pause | Cut


@dataclass(frozen=True)
class Answer:
    """One HTTP answer. ``chunked`` false ends the body by closing the connection."""

    steps: tuple[Step, ...] = ()
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    chunked: bool = True


@dataclass(frozen=True)
class Seen:
    """One request as it came in."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any


def stream(*parts: dict[str, Any] | Step, done: bool = True, chunked: bool = True) -> Answer:
    """A stream of chunks, each an SSE event, with pauses and cuts between them."""
    steps = [event(part) if isinstance(part, dict) else part for part in parts]
    if done:
        steps.append(b"data: [DONE]\n\n")
    return Answer(tuple(steps), headers={"Content-Type": "text/event-stream"}, chunked=chunked)


def failure(status: int, body: Any = None, **headers: str) -> Answer:
    """An error; ``body`` is sent as JSON unless it is text. Underscores in names become dashes."""
    is_text = isinstance(body, str)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    named.setdefault("Content-Type", "text/plain" if is_text else "application/json")
    text = body if is_text else json.dumps(body)
    return Answer((text.encode("utf-8", "surrogatepass"),), status, named)


def event(chunk: dict[str, Any]) -> bytes:
    """One server-sent event."""
    return f"data: {json.dumps(chunk)}\n\n".encode()


def delta_chunk(delta: dict[str, Any], finish_reason: str | None = None) -> dict[str, Any]:
    """A chunk with this delta."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    return {"id": "c1", "object": "chat.completion.chunk", "model": "m", "choices": [choice]}


def text_chunk(text: str) -> dict[str, Any]:
    """A piece of the answer."""
    return delta_chunk({"content": text})


def call_chunk(
    index: int | None = 0, *, call_id: str = "", name: str = "", arguments: str | None = None
) -> dict[str, Any]:
    """A piece of a tool call; what is left empty is left out, as careless servers do."""
    function = {"name": name} if name else {}
    if arguments is not None:
        function["arguments"] = arguments
    call: dict[str, Any] = {"type": "function", "function": function}
    if index is not None:
        call["index"] = index
    if call_id:
        call["id"] = call_id
    return delta_chunk({"tool_calls": [call]})


def finish_chunk(reason: str = "stop") -> dict[str, Any]:
    """The chunk that ends the answer."""
    return delta_chunk({}, reason)


def usage_chunk(sent: int, answered: int, **details: Any) -> dict[str, Any]:
    """The last chunk of a server that says what was used."""
    usage = {"prompt_tokens": sent, "completion_tokens": answered, **details}
    return {"id": "c1", "object": "chat.completion.chunk", "choices": [], "usage": usage}


def hello() -> Answer:
    """What the server says when it was given nothing to say."""
    words = (text_chunk(word) for word in ("Hello ", "from ", "**loopback**", "."))
    return stream(*words, finish_chunk(), usage_chunk(100, 8))


class SseServer:
    """Answers each request with the next of ``answers``; ``requests`` keeps what was asked.

    When there are no more, ``reply`` makes an answer for the request; by default a friendly one.
    ``connections`` counts those that were made, ``broken_off`` those that the client closed in the
    middle of an answer; ``hangs_up`` closes every connection without an answer. ``models`` is what
    it lists; without them it knows no list. Who asks for that is in ``listings``; whoever does so
    without ``wants_key`` is refused.
    """

    def __init__(
        self,
        answers: Iterable[Answer] = (),
        reply: Callable[[Seen], Answer] = lambda _seen: hello(),
    ) -> None:
        self.answers: deque[Answer] = deque(answers)
        self.reply = reply
        self.requests: list[Seen] = []
        self.listings: list[Seen] = []
        self.models: list[Any] = []
        self.wants_key = ""
        self.connections = 0
        self.broken_off = 0
        self.hangs_up = False
        self.port = 0
        self._ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopped: asyncio.Event | None = None
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)

    @property
    def url(self) -> str:
        """The base URL for clients."""
        return f"http://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> SseServer:
        self._thread.start()
        assert self._ready.wait(PATIENCE_SECONDS)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._loop is not None
        assert self._stopped is not None
        self._loop.call_soon_threadsafe(self._stopped.set)
        self._thread.join(PATIENCE_SECONDS)

    async def _serve(self) -> None:
        self._loop, self._stopped = asyncio.get_running_loop(), asyncio.Event()
        server = await asyncio.start_server(self._converse, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stopped.wait()
        server.close()

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection: request after request until somebody closes it."""
        self.connections += 1
        try:
            while (seen := await _read_request(reader, writer)) is not None:
                if seen.method == "GET" and not self.hangs_up:
                    self.listings.append(seen)
                    await self._say(self._list(seen), reader, writer)
                    continue
                self.requests.append(seen)
                if self.hangs_up:
                    break
                answer = self.answers.popleft() if self.answers else self.reply(seen)
                if not await self._say(answer, reader, writer):
                    break
        except (ConnectionError, asyncio.IncompleteReadError):
            self.broken_off += 1
        except asyncio.CancelledError:
            pass  # the test is over
        finally:
            writer.close()

    def _list(self, seen: Seen) -> Answer:
        if self.wants_key and self.wants_key not in seen.headers.get("authorization", ""):
            return failure(401, {"error": {"message": "who are you?"}})
        if not self.models:
            return failure(404, {"error": {"message": "no list here"}})
        rows = [{"id": model} if isinstance(model, str) else model for model in self.models]
        return failure(200, {"object": "list", "data": rows})

    async def _say(
        self, answer: Answer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        """Write an answer; False when the connection cannot be used again."""
        headers = {"Transfer-Encoding": "chunked"} if answer.chunked else {"Connection": "close"}
        lines = [f"HTTP/1.1 {answer.status} Whatever"]
        lines += [f"{name}: {value}" for name, value in (headers | answer.headers).items()]
        writer.write(("\r\n".join(lines) + "\r\n\r\n").encode())
        for step in answer.steps:
            if isinstance(step, Cut):
                writer.transport.abort()
                return False
            if isinstance(step, Pause):
                await writer.drain()
                if not await self._wait(step.seconds, reader):
                    return False
            elif step:
                framed = f"{len(step):x}\r\n".encode() + step + b"\r\n"
                writer.write(framed if answer.chunked else step)
                await writer.drain()
        if answer.chunked:
            writer.write(b"0\r\n\r\n")
        await writer.drain()
        return answer.chunked

    async def _wait(self, seconds: float, reader: asyncio.StreamReader) -> bool:
        """Be silent; False as soon as the client has gone."""
        try:
            gone = await asyncio.wait_for(reader.read(1), seconds)
        except TimeoutError:
            return True
        self.broken_off += not gone
        return bool(gone)


async def _read_request(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Seen | None:
    first = await reader.read(1)
    if first == _TLS:
        writer.write(b"HTTP/1.1 400 Plain HTTP, please\r\nConnection: close\r\n\r\n")
    if not first or first == _TLS:
        return None
    head = first + await reader.readline()
    method, path, _ = head.decode("latin-1").split(" ", 2)
    headers: dict[str, str] = {}
    while (line := await reader.readline()).strip():
        name, _, value = line.decode("latin-1").partition(":")
        headers[name.lower()] = value.strip()
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Seen(method, path, headers, json.loads(body) if body else None)
