"""The program speaks plain words: what was retired stays retired, and numbers fit their nouns."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "agent_tui"
MODULES = sorted(path for path in SOURCE.rglob("*.py") if SOURCE / "demo" not in path.parents)
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
    r"\bsum(s|med)? (\w+ )?up\b",
    r"\bcomposer\b",
    r"\bmade again\b",
    r"\bmade anew\b",
    r"\bgone again\b",
    r"\bsay “go on”",
    r"\bwith a word to\b",
    r"\bthe last act\b",
    r"\bwent wrong in\b",
    r"\bglance\b",
    r"\bnothing that counts\b",
    r"\bleft out here\b",
    r"\bcame here from\b",
    r"\bwent back to\b",
)
"""Phrases that made people read twice; the words of this field say the same at once."""

RETIRED_PATTERN = re.compile("|".join(RETIRED), re.IGNORECASE)
BARE_COUNT = re.compile(r"\{[^{}]*\}\*? (messages?|files?|lines?|sessions?|tokens?|records?)\b")


def strings(module: Path) -> Iterator[tuple[int, str]]:
    """Every string a module may show, with its line; docstrings are for its readers."""
    tree = ast.parse(module.read_text(encoding="utf-8"))
    silent = set()
    for node in ast.walk(tree):
        body = getattr(node, "body", [])
        for each in body if isinstance(body, list) else []:
            if isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant):
                silent.add(each.value)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in silent:
            yield node.lineno, node.value


def name_in_source(path: Path) -> str:
    return str(path.relative_to(SOURCE))


@pytest.mark.parametrize("module", MODULES, ids=name_in_source)
def test_what_is_shown_is_said_in_plain_words(module: Path) -> None:
    found = [f"{line}: {text}" for line, text in strings(module) if RETIRED_PATTERN.search(text)]
    assert not found


@pytest.mark.parametrize("text", TEXTS, ids=lambda path: path.name)
def test_what_is_written_for_people_is_said_in_plain_words(text: Path) -> None:
    lines = enumerate(text.read_text(encoding="utf-8").splitlines(), 1)
    assert not [f"{n}: {line}" for n, line in lines if RETIRED_PATTERN.search(line)]
