"""The part a scripted model plays: scenes of replies, made by a test or read from a TOML file."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from agent_tui.core.errors import ConfigError
from agent_tui.core.text import clean, first_line
from agent_tui.resources import demo_folder

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_STRICT = {"extra": "forbid"}
_SCENE_NAME = re.compile(r"[a-z][a-z0-9-]*")


@dataclass(frozen=True, slots=True)
class ScriptedCall:
    """One tool call of a reply.

    Attributes:
        name: the tool.
        arguments: what it is called with; the value ``{first_checkpoint}`` is replaced by the
            number of the turn's first checkpoint.
        raw_arguments: sent as it stands in place of ``arguments``: malformed JSON, for tests.
        id: a fixed id; empty = one is made that is unique to the request.
    """

    __pydantic_config__ = _STRICT
    name: str
    arguments: dict[str, Any] = field(default_factory=dict)
    raw_arguments: str | None = None
    id: str = ""


@dataclass(frozen=True, slots=True)
class Fault:
    """A failure in place of a reply.

    ``status`` answers with that HTTP status; ``connection`` fails as an unreachable server does;
    ``timeout`` as one that never says a word.
    """

    __pydantic_config__ = _STRICT
    kind: Literal["status", "connection", "timeout"] = "status"
    status: int = 500
    message: str = ""
    retry_after_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer of the model: one step of a turn.

    Attributes:
        think: reasoning, streamed before the text.
        text: Markdown; ``{last_line}`` is replaced by the last line that the last tool printed.
        calls: tool calls, all in the same answer.
        expects: a pattern that a result of the step before must contain for this reply to be
            played; empty = no result may be an error.
        or_else: what is played where the results are not as expected, the first that fits; where
            none does, the results are told as they are.
        first_token_seconds: how long the server is silent first.
        cut_after: break the connection after that many chunks.
        faults: failures before this reply, one per attempt.
        input_tokens: reported in place of the estimate of what was sent.
        output_tokens: reported in place of the estimate of what was answered.
        reports_usage: false plays a server that never says.
        finish_reason: empty = ``tool_calls`` with calls, else ``stop``.
    """

    __pydantic_config__ = _STRICT
    think: str = ""
    text: str = ""
    calls: tuple[ScriptedCall, ...] = ()
    expects: str = ""
    or_else: tuple[Reply, ...] = ()
    first_token_seconds: float = 0.0
    cut_after: int | None = None
    faults: tuple[Fault, ...] = ()
    input_tokens: int | None = None
    output_tokens: int | None = None
    reports_usage: bool = True
    finish_reason: str = ""

    def __post_init__(self) -> None:
        try:
            re.compile(self.expects)
        except re.error as error:
            raise ValueError(f"expects is not a regular expression: {error}") from error


@dataclass(frozen=True, slots=True)
class Scene:
    """What is answered to a kind of prompt, step by step.

    Attributes:
        name: lower-case letters, digits and dashes.
        on: phrases; one matches when each of its words begins a word of the prompt.
        replies: one for each step of the turn.
        planned: the scene that is played instead where a plan must come first.
    """

    __pydantic_config__ = _STRICT
    name: str
    on: tuple[str, ...]
    replies: tuple[Reply, ...]
    planned: str = ""

    def __post_init__(self) -> None:
        if not _SCENE_NAME.fullmatch(self.name):
            raise ValueError(f"a scene's name is letters, digits and dashes, not {self.name!r}")
        if not self.replies:
            raise ValueError(f"the scene {self.name!r} has no replies")


@dataclass(frozen=True, slots=True)
class Scenario:
    """Everything a scripted model knows.

    Attributes:
        model: the name it goes by.
        window: its context window in tokens.
        chunks_per_second: streaming rate; 0 = no delay at all.
        chunk_chars: the size of a chunk at most.
        pause_seconds: silence before each first token (not at rate 0).
        suggestions: prompts worth trying first.
        script: replies played in order, whatever the prompt, before anything else: for tests.
        compactions: replies played in order to requests for a summary; then real summaries.
        scenes: replies by kind of prompt.
    """

    __pydantic_config__ = _STRICT
    model: str = "scripted"
    window: int = 12_000
    chunks_per_second: float = 0.0
    chunk_chars: int = 6
    pause_seconds: float = 0.0
    suggestions: tuple[str, ...] = ()
    script: tuple[Reply, ...] = ()
    compactions: tuple[Reply, ...] = ()
    scenes: tuple[Scene, ...] = ()

    def __post_init__(self) -> None:
        names = [scene.name for scene in self.scenes]
        doubled = sorted({name for name in names if names.count(name) > 1})
        if doubled:
            raise ValueError(f"two scenes are called {doubled[0]!r}")
        if self.window < 1 or self.chunk_chars < 1 or self.chunks_per_second < 0:
            raise ValueError("window and chunk_chars must be positive, chunks_per_second not below")

    def scene(self, name: str) -> Scene | None:
        """The scene of that name."""
        return next((scene for scene in self.scenes if scene.name == name), None)

    def match_scene(self, prompt: str) -> Scene | None:
        """The scene whose phrase covers most of the prompt; the first one among equals."""
        words = re.findall(r"\w+", prompt.lower())
        best, best_score = None, 0
        for scene in self.scenes:
            score = max((_score(phrase, words) for phrase in scene.on), default=0)
            if score > best_score:
                best, best_score = scene, score
        return best


def _score(phrase: str, words: list[str]) -> int:
    """How many words of the phrase begin a word of the prompt; 0 unless all of them do."""
    wanted = phrase.lower().split()
    if all(any(word.startswith(want) for word in words) for want in wanted):
        return len(wanted)
    return 0


def load_scenario(path: Path | None = None) -> Scenario:
    """Read a scenario; without a path, the demo that is shipped.

    Raises:
        ConfigError: the file cannot be read or is wrong; names file and line or field.
    """
    import tomllib

    path = path or demo_folder() / "scenario.toml"
    shown = clean(str(path))
    try:
        fields = tomllib.loads(path.read_bytes().decode("utf-8"))
    except OSError as error:
        reason = error.strerror or str(error)
        raise ConfigError(f"The scenario {shown} cannot be read: {reason}.") from error
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"The scenario {shown} is not UTF-8 text (byte {error.start}). Save it as UTF-8."
        ) from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"The scenario {shown} is not TOML: {clean(str(error))}.") from error
    return _validate(fields, shown)


def _validate(fields: dict[str, Any], shown: str) -> Scenario:
    from pydantic import TypeAdapter, ValidationError

    try:
        return TypeAdapter(Scenario).validate_python(fields)
    except ValidationError as error:
        details = error.errors(include_url=False)
    more = f" (and {len(details) - 1} more)" if len(details) > 1 else ""
    raise ConfigError(f"The scenario {shown} is wrong: {_describe_error(details[0])}{more}.")


def _describe_error(detail: ErrorDetails) -> str:
    place = ""
    for part in detail["loc"]:
        place += f"[{part}]" if isinstance(part, int) else f".{part}"
    message = detail["msg"].removeprefix("Value error, ")
    if detail["type"] == "unexpected_keyword_argument":
        message = "there is no such field"
    elif detail["type"] != "missing" and place:
        message += f", not {first_line(repr(detail['input']), 40)}"
    return clean(f"{place.lstrip('.')}: {message}" if place else message)
