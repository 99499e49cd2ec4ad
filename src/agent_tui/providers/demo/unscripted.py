"""What the scripted stand-in answers when no scene fits: plain wishes become real tool calls.

It understands a few plain sentences (list, read, search, replace, write, run), calls the tool that
does it, and tells what the tool gave back. To anything else it says plainly what it is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from agent_tui.core.arguments import read_arguments
from agent_tui.core.messages import text_of
from agent_tui.core.records import AssistantMessage, ToolMessage
from agent_tui.core.text import first_line, format_count
from agent_tui.core.words import NOT_RUN
from agent_tui.providers.base import ModelRequest
from agent_tui.providers.demo.intents import Wish, find_wish, make_edit, read_path
from agent_tui.providers.demo.progress import recall
from agent_tui.providers.demo.scenario import Reply, Scenario

_ASKS_ABOUT_MODELS = re.compile(
    r"\b(?:api.?key|real model|connect|openai|ollama|base.?url|(?:what|which) model)\b|--model",
    re.I,
)
_ASKS_WHAT_WAS_DONE = re.compile(
    r"\bso far\b|\brecap\b|\bwhat (?:have|did) (?:we|you|i)\b|\bremember\b", re.I
)
_THANKS = re.compile(
    r"(?:many )?(?:thanks?|thank you|thx|great|nice|cool|ok(?:ay)?)\b.{0,30}", re.I
)
_GREETS = re.compile(r"\W*(?:hi|hello|hey|good (?:morning|evening|day))\b", re.I)

_NOTE = re.compile(r"\A\s*<system>.*?</system>\s*", re.DOTALL)
"""What the program wrote before the words of a person."""

_REJECTED = re.compile(r"This action was rejected and the user says: (.+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Improvisation:
    """A reply made up on the spot; ``name`` and ``step`` go into its calls' ids."""

    name: str
    step: int
    reply: Reply


def improvise_explicit(prompt: str, request: ModelRequest) -> Improvisation | None:
    """Do what a prompt clearly names; None leaves it to a scene."""
    return _grant(find_wish(prompt, explicit_only=True), request)


def improvise(prompt: str, request: ModelRequest, scenario: Scenario) -> Improvisation:
    """Do what a prompt asks in plain words, or say what this stand-in is and can do."""
    if _ASKS_WHAT_WAS_DONE.search(prompt):
        return Improvisation("do-recap", 0, Reply(text=recall(request)))
    granted = _grant(find_wish(prompt), request)
    return granted or Improvisation("do-chat", 0, Reply(text=_small_talk(prompt, scenario)))


def continue_improvising(
    name: str, step: int, prompt: str, request: ModelRequest, results: tuple[ToolMessage, ...]
) -> Improvisation:
    """Say what the tools gave back, or take the next step of what was asked."""
    reply = None
    if step == 1 and not any(result.is_error or result.interrupted for result in results):
        if name == "do-edit":
            reply = make_edit(prompt)
        elif name == "do-look" and (path := _first_path(text_of(results[-1].content))):
            reply = read_path(path)
    if reply is not None:
        return Improvisation(name, step, reply)
    calls = _calls_of(results, request)
    comments = [_comment(result, calls.get(result.tool_call_id)) for result in results]
    return Improvisation("do-comment", step, Reply(text="\n\n".join(comments)))


def _grant(
    found: tuple[Wish, dict[str, str]] | None, request: ModelRequest
) -> Improvisation | None:
    if found is None:
        return None
    wish, said = found
    reply = wish.grant(said)
    if wish.tool not in {tool.name for tool in request.tools}:
        reply = Reply(text=f"I would call `{wish.tool}` for that, but was given no such tool.")
    return Improvisation(wish.name, 0, reply)


def _calls_of(
    results: tuple[ToolMessage, ...], request: ModelRequest
) -> dict[str, tuple[str, dict[str, object]]]:
    """The name and arguments of the calls that the results answer, by id."""
    wanted = {result.tool_call_id for result in results}
    found: dict[str, tuple[str, dict[str, object]]] = {}
    for message in reversed(request.messages):
        if isinstance(message, AssistantMessage):
            for call in message.tool_calls:
                if call.id in wanted:
                    found[call.id] = (call.name, read_arguments(call.arguments))
            if found:
                break
    return found


def _comment(result: ToolMessage, call: tuple[str, dict[str, object]] | None) -> str:
    """What a result says, quoted: nothing is claimed that it does not hold."""
    output = text_of(result.content).strip()
    name, arguments = call or ("the tool", {})
    path = str(arguments.get("path", ""))
    if output == NOT_RUN:
        return f"`{name}` was not run, because the turn was stopped before."
    if result.interrupted:
        return f"`{name}` was interrupted before its end: what it did is unknown."
    if (said := _REJECTED.match(output)) is not None:
        return (
            f"All right, I will not. You said: “{said.group(1)}”. A real model would continue "
            "there; I am a scripted stand-in and only know how to stop."
        )
    if output.startswith("Plan mode:"):
        return (
            f"In plan mode I may only read, so `{name}` did not run. Type `/mode` for another "
            "mode, or ask me to **fix the bug** to see a plan."
        )
    if result.is_error:
        return f"That did not work. `{name}` says:\n\n{_fenced(output)}"
    match name:
        case "edit_file":
            back = "Type `/revert` to go back to an earlier checkpoint, with the files if you like."
            return f"`{path}` is changed, as the diff shows. {back}"
        case "write_file":
            return f"`{path}` is written."
        case "read_file":
            return f"`{path}` begins like this:\n\n{_fenced(output)}"
        case "find_files":
            return f"This is what I found:\n\n{_fenced(output, most=30)}"
        case "search_files":
            count = format_count(len(output.splitlines()), "line")
            return f"{count} found:\n\n{_fenced(output)}"
        case "run_command":
            return f"It ran. The end of what it printed:\n\n{_fenced(output, tail=True)}"
        case _:
            return f"`{name}` gave back:\n\n{_fenced(output)}"


def _fenced(text: str, *, most: int = 12, tail: bool = False) -> str:
    """Some lines of a text in a code fence that the text itself cannot close."""
    lines = text.splitlines() or ["(nothing)"]
    if len(lines) > most:
        note = f"… {format_count(len(lines) - most, 'more line')}"
        lines = [note, *lines[-most:]] if tail else [*lines[:most], note]
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}text\n" + "\n".join(line[:200] for line in lines) + f"\n{fence}"


def _first_path(output: str) -> str:
    for line in output.splitlines():
        match = re.fullmatch(r"\s*((?:[\w@.-]+/)*[\w@-]+\.\w+)\s*", line)
        if match:
            return match[1]
    return ""


_CONNECT = """\
To talk to a real model, leave the demo and start with a key:

```sh
export OPENAI_API_KEY=…            # your key
agent-tui --model gpt-5-mini       # any model your server offers
```

For another OpenAI-compatible server (Ollama, vLLM, LM Studio, OpenRouter …) also set
`OPENAI_BASE_URL`, for example `http://127.0.0.1:11434/v1`."""

_ABILITIES = """\
What I can do for real, with real tools on the sample files:

- **list**: "list the files"
- **read**: "read README.md"
- **search**: "search for datum"
- **edit**: "replace "patience" with "stubbornness" in README.md"
- **run**: "run `python3 --version`\""""


def _small_talk(prompt: str, scenario: Scenario) -> str:
    if _ASKS_ABOUT_MODELS.search(prompt):
        return f"I am a **scripted stand-in**, not a language model.\n\n{_CONNECT}"
    if _THANKS.fullmatch(prompt.strip()):
        return "You are welcome. Click a checkpoint marker to go back in time, or try `/compact`."
    greeting = "Hello! " if _GREETS.match(prompt) else ""
    asked = first_line(_NOTE.sub("", prompt), 60).replace("`", "'")
    sorry = "" if greeting or not asked else f", so I cannot really answer “{asked}”"
    return (
        f"{greeting}I am a **scripted stand-in**, not a language model{sorry}.\n\n"
        f"{_ABILITIES}\n{_story(scenario)}\n{_CONNECT}"
    )


def _story(scenario: Scenario) -> str:
    if not scenario.suggestions:
        return ""
    told = "\n".join(f"- {suggestion}" for suggestion in scenario.suggestions)
    return f"\nAnd I know a story about this project by heart:\n\n{told}\n"
