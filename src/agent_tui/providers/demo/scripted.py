"""A stand-in for a model: plays a scenario through the same interface as a real provider.

It keeps no memory of the conversation: what comes next follows from the request alone, so that
reverts, compactions and resumed sessions are answered as sensibly as a first prompt. The id of a
tool call names the scene and the step that made it; its result leads to the next one.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from dataclasses import dataclass, replace
from hashlib import sha256

from agent_tui.core.errors import ProviderError
from agent_tui.core.events import (
    ReplyEnded,
    StreamPart,
    TextDelta,
    ThinkDelta,
    ToolCallBegan,
    ToolCallDelta,
)
from agent_tui.core.messages import text_of
from agent_tui.core.modes import PRESENT_PLAN
from agent_tui.core.records import AssistantMessage, Message, ToolMessage, UserMessage, is_prompt
from agent_tui.core.usage import Usage
from agent_tui.providers.base import ModelRequest
from agent_tui.providers.demo.scenario import Fault, Reply, Scenario, load_scenario
from agent_tui.providers.demo.summarise import is_brief, summarise_brief
from agent_tui.providers.demo.unscripted import (
    Improvisation,
    continue_improvising,
    improvise,
    improvise_explicit,
)

__all__ = ["Scripted", "load_scenario"]

_CALL_ID = re.compile(r"call_([a-z][a-z0-9-]*)_(\d+)_\d+_[0-9a-f]+")
_SCRIPT = "script"
_AFTER_DMAIL = "after-dmail"
"""The scene that is played where a D-Mail arrived."""
_FIRST_CHECKPOINT = "{first_checkpoint}"
_NOTICE = re.compile(r"<system>CHECKPOINT (\d+)</system>")
_RETRYABLE = frozenset({408, 429, 500, 502, 503, 504})
_CHARS_PER_TOKEN = 4
_MESSAGE_TOKENS = 4


@dataclass(frozen=True, slots=True)
class Cue:
    """Which reply is due: the step of a scene, of the script, or of an improvisation."""

    scene: str
    step: int
    reply: Reply


class Scripted:
    """A provider without a model behind it.

    ``requests`` keeps the latest requests, for tests to look at.
    """

    name = "scripted"

    def __init__(
        self, scenario: Scenario | None = None, *, chunks_per_second: float | None = None
    ) -> None:
        self.scenario = scenario if scenario is not None else load_scenario()
        self.requests: deque[ModelRequest] = deque(maxlen=64)
        self._tokens = _RequestTokens()
        self._rate = (
            self.scenario.chunks_per_second if chunks_per_second is None else chunks_per_second
        )
        self._played = 0
        self._compacted = 0
        self._faults_left: dict[tuple[str, int], list[Fault]] = {}

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamPart, None]:
        """Play the reply that is due; see Provider."""
        before = self.requests[-1] if self.requests else None
        cached = self._tokens.cached(before, request)
        sent = self._tokens.of(request)
        self.requests.append(request)
        cue = self._choose(request)
        await self._pause(cue.reply)
        self._raise_fault(cue)
        self._advance(cue)
        parts = list(_split_reply(cue, request, sent, self.scenario.chunk_chars))
        async for part in self._paced(parts, cue.reply.cut_after):
            yield part
        reason = cue.reply.finish_reason or ("tool_calls" if cue.reply.calls else "stop")
        yield ReplyEnded(reason, _usage_of(cue.reply, sent, cached))

    def warm(self) -> None:
        """Nothing is needed."""

    async def aclose(self) -> None:
        """Nothing to close."""

    def _choose(self, request: ModelRequest) -> Cue:
        if is_brief(request):
            return self._choose_summary(request)
        if self._played < len(self.scenario.script):
            return Cue(_SCRIPT, self._played, self.scenario.script[self._played])
        said = _without_asides(request.messages)
        last = said[-1] if said else None
        if isinstance(last, UserMessage) and last.origin == "dmail":
            arrived = self.scenario.scene(_AFTER_DMAIL)
            if arrived is not None:
                return Cue(arrived.name, 0, arrived.replies[0])
        if isinstance(last, ToolMessage):
            return self._choose_next(replace(request, messages=said), last)
        prompt = _last_prompt(request.messages)
        scene = self.scenario.match_scene(prompt)
        if scene is None:
            return _improvised(improvise(prompt, request, self.scenario))
        improvised = improvise_explicit(prompt, request)
        if improvised:
            return _improvised(improvised)
        if _may_only_plan(request):
            scene = self.scenario.scene(scene.planned) or scene
        return Cue(scene.name, 0, scene.replies[0])

    def _choose_summary(self, request: ModelRequest) -> Cue:
        if self._compacted < len(self.scenario.compactions):
            return Cue("compaction", self._compacted, self.scenario.compactions[self._compacted])
        return Cue("summary", 0, Reply(text=summarise_brief(request)))

    def _choose_next(self, request: ModelRequest, last: ToolMessage) -> Cue:
        """What follows the results at the end of the request."""
        results = _last_results(request.messages)
        match = _CALL_ID.fullmatch(last.tool_call_id)
        name, step = (match[1], int(match[2]) + 1) if match else ("", 0)
        scene = self.scenario.scene(name)
        if scene is not None and step < len(scene.replies):
            choices = (scene.replies[step], *scene.replies[step].or_else)
            fitting = next((reply for reply in choices if _is_expected(reply, results)), None)
            if fitting is not None:
                filled = _filled_in(fitting, results)
                return Cue(name, step, _addressed(filled, request.messages))
        prompt = _last_prompt(request.messages)
        return _improvised(continue_improvising(name, step, prompt, request, results))

    async def _pause(self, reply: Reply) -> None:
        silence = reply.first_token_seconds
        if self._rate:
            silence += self.scenario.pause_seconds
        await asyncio.sleep(silence)

    def _raise_fault(self, cue: Cue) -> None:
        faults = self._faults_left.setdefault((cue.scene, cue.step), list(cue.reply.faults))
        if faults:
            raise _error_of(faults.pop(0))

    def _advance(self, cue: Cue) -> None:
        if cue.scene == _SCRIPT:
            self._played += 1
        elif cue.scene == "compaction":
            self._compacted += 1

    async def _paced(
        self, parts: list[StreamPart], cut_after: int | None
    ) -> AsyncIterator[StreamPart]:
        """The parts at the rate of the scenario; never a burst that holds the loop up."""
        began = time.perf_counter()
        for number, part in enumerate(parts):
            if cut_after is not None and number >= cut_after:
                break
            if self._rate:
                await asyncio.sleep(max(0.0, began + number / self._rate - time.perf_counter()))
            elif number % 16 == 15:
                await asyncio.sleep(0)
            yield part
        if cut_after is not None:
            raise ProviderError(
                "The connection broke in the middle of the answer.", retryable=cut_after == 0
            )


class _RequestTokens:
    """The tokens of requests; one that continues from the request before costs what was added."""

    def __init__(self) -> None:
        self._messages: tuple[Message, ...] = ()
        self._total = 0

    def of(self, request: ModelRequest) -> int:
        """What a request sends."""
        messages = request.messages
        if messages[: len(self._messages)] != self._messages:
            self._messages, self._total = (), 0
        added = messages[len(self._messages) :]
        self._total += sum(_message_tokens(message) for message in added)
        self._messages = messages
        return self._total + _fixed_tokens(request)

    def cached(self, before: ModelRequest | None, request: ModelRequest) -> int:
        """What a prefix cache would serve: the request before, when this one begins with it."""
        if before is None or before.system_prompt != request.system_prompt:
            return 0
        if request.messages[: len(before.messages)] != before.messages:
            return 0
        return self.of(before)


def _improvised(improvisation: Improvisation) -> Cue:
    return Cue(improvisation.name, improvisation.step, improvisation.reply)


def _split_reply(cue: Cue, request: ModelRequest, sent: int, size: int) -> Iterator[StreamPart]:
    reply = cue.reply
    for chunk in split_text(reply.think, size):
        yield ThinkDelta(chunk)
    for chunk in split_text(reply.text, size):
        yield TextDelta(chunk)
    digest = _digest(request, sent)
    for index, call in enumerate(reply.calls):
        call_id = call.id or f"call_{cue.scene}_{cue.step}_{index}_{digest}"
        yield ToolCallBegan(index, call_id, call.name)
        arguments = call.raw_arguments
        if arguments is None:
            arguments = json.dumps(call.arguments, ensure_ascii=False)
        for chunk in split_text(arguments, size * 2):
            yield ToolCallDelta(index, chunk)


def split_text(text: str, size: int) -> list[str]:
    """The text in chunks as a model streams them: about a word each, at most ``size`` long."""
    return re.findall(rf"\s?\S{{1,{size}}}|\s{{1,{size}}}", text)


def _digest(request: ModelRequest, sent: int) -> str:
    """Tells one request of a session from another, the same in every run."""
    said = f"{len(request.messages)}:{sent}"
    last = request.messages[-1] if request.messages else None
    if last is not None:
        said += text_of(last.content)
    return sha256(said.encode("utf-8", "replace")).hexdigest()[:8]


def _without_asides(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """The messages without what the program says in between, behind the results of a step."""
    end = len(messages)
    while end and _is_aside(messages[end - 1]):
        end -= 1
    return messages[:end]


def _may_only_plan(request: ModelRequest) -> bool:
    """Whether the agent is in plan mode, the only one with the tool that ends it."""
    return any(tool.name == PRESENT_PLAN for tool in request.tools)


def _is_aside(message: Message) -> bool:
    return isinstance(message, UserMessage) and message.origin in {"checkpoint", "reminder"}


def _last_prompt(messages: tuple[Message, ...]) -> str:
    """What a person said last; what the program itself wrote for the model does not count."""
    for message in reversed(messages):
        if is_prompt(message):
            return text_of(message.content)
    return ""


def _last_results(messages: tuple[Message, ...]) -> tuple[ToolMessage, ...]:
    results: list[ToolMessage] = []
    for message in reversed(messages):
        if not isinstance(message, ToolMessage):
            break
        results.append(message)
    return tuple(reversed(results))


def _is_expected(reply: Reply, results: tuple[ToolMessage, ...]) -> bool:
    if reply.expects:
        pattern = re.compile(reply.expects)
        return any(pattern.search(text_of(result.content)) for result in results)
    return not any(result.is_error or result.interrupted for result in results)


def _filled_in(reply: Reply, results: tuple[ToolMessage, ...]) -> Reply:
    printed = text_of(results[-1].content).splitlines()
    lines = [line.strip() for line in printed if line.strip() and not line.startswith("[")]
    return replace(reply, text=reply.text.replace("{last_line}", lines[-1] if lines else ""))


def _addressed(reply: Reply, messages: tuple[Message, ...]) -> Reply:
    """The reply with the number of this turn's first checkpoint where its calls ask for it."""
    calls = tuple(
        replace(
            call,
            arguments={
                name: _first_checkpoint(messages) if value == _FIRST_CHECKPOINT else value
                for name, value in call.arguments.items()
            },
        )
        for call in reply.calls
    )
    return replace(reply, calls=calls)


def _first_checkpoint(messages: tuple[Message, ...]) -> int:
    """The first checkpoint behind the last prompt that the model was told of; 0 for none."""
    first = 0
    for message in reversed(messages):
        if is_prompt(message):
            break
        if found := _NOTICE.fullmatch(text_of(message.content)):
            first = int(found[1])
    return first


def _error_of(fault: Fault) -> ProviderError:
    if fault.kind == "connection":
        message = fault.message or "The scripted server refused the connection."
        return ProviderError(message, retryable=True)
    if fault.kind == "timeout":
        message = fault.message or "The scripted server did not answer in time."
        return ProviderError(message, retryable=True)
    return ProviderError(
        fault.message or f"The scripted server answered with status {fault.status}.",
        status=fault.status,
        retryable=fault.status in _RETRYABLE,
        retry_after_seconds=fault.retry_after_seconds,
    )


def _usage_of(reply: Reply, sent: int, cached: int) -> Usage | None:
    if not reply.reports_usage:
        return None
    if reply.input_tokens is not None:
        sent = reply.input_tokens
    reasoning = _count(reply.think)
    written = sum(_count(call.name) + _count(json.dumps(call.arguments)) for call in reply.calls)
    answered = reasoning + _count(reply.text) + written
    if reply.output_tokens is not None:
        answered = reply.output_tokens
    return Usage(sent, answered, min(cached, sent), reasoning)


def _fixed_tokens(request: ModelRequest) -> int:
    """What every request of a session sends beside its messages."""
    tools = sum(
        _count(tool.name) + _count(tool.description) + _count(json.dumps(tool.parameters))
        for tool in request.tools
    )
    return _count(request.system_prompt) + tools


def _message_tokens(message: Message) -> int:
    tokens = _MESSAGE_TOKENS + _count(text_of(message.content))
    if isinstance(message, AssistantMessage):
        tokens += sum(_count(call.name) + _count(call.arguments) for call in message.tool_calls)
    return tokens


def _count(text: str) -> int:
    """A cheap estimate: four ASCII characters to a token, one of any other script."""
    if text.isascii():
        return -(-len(text) // _CHARS_PER_TOKEN)
    wide = sum(1 for character in text if ord(character) > 0x2E7F)
    return wide + -(-(len(text) - wide) // _CHARS_PER_TOKEN)
