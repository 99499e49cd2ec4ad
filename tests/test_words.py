"""The program speaks plain words: what was retired stays retired, and numbers fit their nouns."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from agent_tui.headless import daemon
from agent_tui.headless.event_lines import describe_events
from tests.sources import OWN_MODULES, ROOT, SOURCE, name_in_source, nodes

TEXTS = [ROOT / "README.md", *sorted((SOURCE / "prompts").glob("*.md"))]
TEXTS += [SOURCE / "demo" / "scenario.toml"]

RETIRED = (
    r"\b(tak(e|es|en|ing)|took) (it|this|that|them|one|the \w+( \w+)?) back\b",
    r"\b(is|are) (there )?(back|again)\b(?! to)",
    r"\b(tak(e|es|en|ing)|took) back\b",
    r"\bmend(s|ed|ing)?\b",
    r"\b(let|lets|has let|letting) go\b",
    r"\bgo(es)? on with\b",
    r"\bbegun\b",
    r"\bthat counts?\b",
    r"\bcounts as soon as\b",
    r"\bsum(s|med)? (\w+ )?up\b",
    r"\bcomposer\b",
    r"\bmade (again|anew)\b",
    r"\banew\b",
    r"\bany more\b",
    r"\bbroke off\b",
    r"\bgone again\b",
    r"\bsay “go on”",
    r"\bwith a word to\b",
    r"\b(the|last|another) act\b",
    r"\bwent wrong in\b",
    r"\bglance\b",
    r"\bspoken\b",
    r"\bnothing that counts\b",
    r"\bleft out here\b",
    r"\bcame here from\b",
    r"\b(went|go) back (here|by)\b",
    r"\bwent back to\b",
    r"\b(both|two) sides\b",
    r"\bagain drops\b",
    r"\bservers of tools\b",
    r"\bis no (rule|message|entry|address|JSON|valid|regular|PNG|text)\b",
    r"\bgo(es|ing)? on (with|from)|\bwent on\b|\bfor ever\b|\bthat which\b",
    r"\bto save room\b|\bto be paid\b|\bstep is over\b|\bof ours\b|\bnot among yours\b",
    r"\b(knows no|was) model\b|\bnot drawn\b|\bread again\b$|\bchanges of files\b",
    r"\bwithout words\b|\bonly to be read\b",
    r"\bsummariz",
    r"\b(knows|was|were|is) not covered\b|\bnot covered\b|\bprice limit\b|\blast but one\b",
    r"\bunwatched\b",
    r"\bunasked\b|\bthere are not so many\b|\bno room:|\bof a text\b|\b(needs|expected) a text\b",
    r"\bbrings? (it|them|both|that) back\b|\bkept to revert\b|\ball the same\b|\bby itself\b",
    r"^(?-i:Most) \w+",
    r"\b(not|nobody) watched\b|\bis not allowed here\b|\bthat was all of it\b",
    r"\bwider than a project\b|\b(trying|asked) again (in|without)\b|\b(by|before a) D-Mail\b",
    r"\basking the model again\b|\bit was read again\b|\bask the model again after\b",
    r"\basks the model again\b|\bask again where\b|\bwider than one\b|\b(was|were) given up\b",
    r"\bwritten down\b|\blikewise\b|\breads no longer\b|\btakes no OTLP\b|\bcaptured at times\b",
    r"\bno project gets\b|\bbehind (a record|them\b)|\blives on\b|\bmakes go wrong\b",
    r"\bput before\b|\bin place of those\b|\bbefore its time\b|\bsays the same again\b",
    r"\bof the name\b|\blog before\b",
)
"""Phrases that made people read twice; the words of this field say the same at once."""

RETIRED_EVERYWHERE = re.compile(
    r"\b(tak(e|es|en|ing)|took) (\w+ ){0,3}back\b(?! to)|\bmend(s|ed|ing)?\b|\bspoken\b"
    r"|\b(let|lets|letting) go\b|\bgo(es)? on with\b|\bbegun\b|\bat a glance\b"
    r"|\bservers of tools\b|\b(the|last|another|an|every) act\b|\bcomposer\b"
    r"|\banew\b|\bmade again\b|\bfor ever\b|\bthat which\b|\bbroke off\b"
    r"|\bgo(es)? on\b|\bwent on\b|\bsum(s|med)? up\b|\bsummariz"
    r"|\bnot covered\b",
    re.IGNORECASE,
)
"""Those of them that the code's own readers are spared, too."""

AMERICAN = re.compile(
    r"(?<![-\w])(colors|color(ed|ing)|behaviors?|gray|cancel(ed|ing)|label(ed|ing)|favorites?"
    r"|model(ed|ing)|travel(er|ed|ing)|analyz(e|es|ed|ing)|(summar|organ|real|initial|normal|optim"
    r"|minim|maxim|custom|author|serial)iz(e|es|ed|er|ing|ation))(?![-\w])",
    re.IGNORECASE,
)
"""What is spelled in the other English: one program keeps to one."""

RETIRED_PATTERN = re.compile("|".join(RETIRED), re.IGNORECASE)

KEY = (
    r"(?:Enter|Esc|Tab|Space|Backspace|Home|End|Up|Down|PgUp|PgDn|[↑↓←→]+|F\d+"
    r"|(?:Shift|Ctrl|Alt)\+[^\s·]+|\{[-\w]+(?::[^}]+)?\}|/[a-z][-a-z]+|digit|[b-z?])"
)
THIRD_PERSON = re.compile(
    rf"(?:^|[ (]){KEY}(?:(?:,|/| and| or)? {KEY})* (?!needs|expects)[a-z]+s(?![-\w'])"
)
"""A key that does something, such as “Enter sends”; a hint tells the reader what to do."""

API_WORDS = {"summarized", "summarize", "authorization"}
"""What a provider's API, or another program's option, calls it."""

NOUNS = (
    "messages files lines sessions records characters archives entries rows branches checkpoints "
    "steps turns calls tools servers places prompts"
)
MANY = re.compile(rf"^ (?:more |earlier |older |damaged )?(?:{'|'.join(NOUNS.split())})\b")
LIMITS = {
    "len(text)",
    "count_changes(diff)",
    "self._limits.files",
    "self._limits.plain_files",
    "left_out",
}
"""Numbers of which there are always many, or that a person set."""


def docstrings(found: Sequence[ast.AST]) -> dict[ast.Constant, str]:
    """What describes modules, classes, functions and names."""
    lists = (getattr(node, "body", None) for node in found)
    return {
        each.value: str(each.value.value)
        for body in lists
        if isinstance(body, list)
        for each in body
        if isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant)
    }


def strings(found: Sequence[ast.AST]) -> Iterator[tuple[int, str]]:
    """Every string a module may show, with its line; docstrings are for its readers."""
    silent = docstrings(found)
    for node in found:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in silent:
            yield node.lineno, node.value


def bare_counts(found: Sequence[ast.AST]) -> Iterator[tuple[int, str]]:
    """Every number that is put before a plural, whatever it is."""
    for node in found:
        if not isinstance(node, ast.JoinedStr):
            continue
        for value, after in zip(node.values, node.values[1:], strict=False):
            if not isinstance(value, ast.FormattedValue) or not isinstance(after, ast.Constant):
                continue
            if not MANY.match(str(after.value)):
                continue
            number = ast.unparse(value.value)
            is_limit = number in LIMITS or number.lstrip("_").isupper()
            if not is_limit:
                yield node.lineno, f"{{{number}}}{after.value!s}"


def in_every_module(
    find: Callable[[Sequence[ast.AST]], Iterator[tuple[int, str]]],
) -> list[str]:
    return [
        f"{name_in_source(module)}, line {line}: {text}"
        for module in OWN_MODULES
        for line, text in find(nodes(module))
    ]


def breaks_a_rule(text: str) -> bool:
    return bool(RETIRED_PATTERN.search(text) or AMERICAN.search(text))


def retired(found: Sequence[ast.AST]) -> Iterator[tuple[int, str]]:
    for line, text in strings(found):
        if breaks_a_rule(text) and not API_WORDS & set(text.split()):
            yield line, text


def retired_in_docstrings(found: Sequence[ast.AST]) -> Iterator[tuple[int, str]]:
    for node, text in docstrings(found).items():
        if phrase := RETIRED_EVERYWHERE.search(text):
            yield node.lineno, f"{phrase[0]!r} in {text.splitlines()[0]}"


def test_what_is_shown_is_said_in_plain_words() -> None:
    assert not in_every_module(retired)


def third_person_hints(found: Sequence[ast.AST]) -> Iterator[tuple[int, str]]:
    for line, text in strings(found):
        if THIRD_PERSON.search(text):
            yield line, text


def test_a_hint_of_a_key_is_an_imperative() -> None:
    """“Enter send”, “Ctrl+D to quit”: as on every button, and short enough for 40 columns."""
    assert not in_every_module(third_person_hints)


def test_what_explains_the_code_is_said_in_plain_words() -> None:
    assert not in_every_module(retired_in_docstrings)


def test_numbers_agree_with_their_nouns() -> None:
    """``format_count`` says 1 message and 2 messages; an f-string cannot."""
    assert not in_every_module(bare_counts)


@pytest.mark.parametrize("text", TEXTS, ids=lambda path: path.name)
def test_what_is_written_for_people_is_said_in_plain_words(text: Path) -> None:
    lines = enumerate(text.read_text(encoding="utf-8").splitlines(), 1)
    assert not [f"{n}: {line}" for n, line in lines if breaks_a_rule(line)]


def test_the_pages_that_help_prints_are_said_in_plain_words() -> None:
    lines = f"{describe_events()}\n{daemon.__doc__}".splitlines()
    assert not [line for line in lines if breaks_a_rule(line)]


def nodes_of(source: str) -> list[ast.AST]:
    return list(ast.walk(ast.parse(source)))


def test_the_laws_above_find_what_breaks_them() -> None:
    found = nodes_of('"""It can be undone."""\nsay(f"{count} messages leave", "Mend that line")')
    assert [text for _, text in bare_counts(found)] == ["{count} messages leave"]
    assert [text for _, text in retired(found)] == ["Mend that line"]
    assert len(list(retired_in_docstrings(found))) == 0
    found = nodes_of('say("Most colors of the theme", "Canceled: 4 colours of a model")')
    assert [text[:8] for _, text in retired(found)] == ["Most col", "Canceled"]
    found = nodes_of('"""Mend it."""')
    assert len(list(retired_in_docstrings(found))) == 1
    assert not list(bare_counts(nodes_of("f\"{format_count(n, 'message')} left\"")))


@pytest.mark.parametrize(
    ("hint", "is_third_person"),
    [
        ("Enter sends · / commands", True),
        ("NORMAL · i inserts", True),
        ("{interrupt} interrupts", True),
        ("{panel-leave:Esc} unmarks", True),
        ("/keys lists them.", True),
        ("Up, Down or ↑ moves", True),
        ("Alt+U undoes it", True),
        ("Read-only (f forks it)", True),
        ("Enter send · / commands · @ files · {help} help", False),
        ("Press Ctrl+C again to quit.", False),
        ("/revert needs a checkpoint's number", False),
        ("Choose a loss first.", False),
        ("the agent's files", False),
    ],
)
def test_the_law_of_hints_tells_who_acts(hint: str, *, is_third_person: bool) -> None:
    assert bool(THIRD_PERSON.search(hint)) is is_third_person
