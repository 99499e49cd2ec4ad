"""Taking secrets out of what leaves the machine: known values in any of their forms, and patterns.

The patterns are the prefixes that vendors document for their keys, and what is set under the name
of a secret (``DB_PASSWORD=…``, ``"password": "…"``); what merely looks random is left alone, since
hashes and ids do too.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from agent_tui.core.text import format_count
from agent_tui.library.secret_pieces import SecretPieces
from agent_tui.providers.secret import base64_forms, encoded_forms

MARK = "[redacted]"
_BEGINS = r"\1(?:(?<![A-Za-z0-9]\1)|(?<=\\\\[nrt]\1))"
"""A token begins where no other ends; in JSON it may follow the letter of an escaped newline.

Its first letters are looked for before what stands in front of them: that is many times faster.
"""
_FIRST_LETTERS = re.compile(r"\{B:([^}]*)\}")
_QUOTE = r"(?:\\{0,8}(?:[\"']|&quot;|&#x27;))"
"""A quotation mark, which JSON escapes once or more, and HTML too."""
_VALUE = r"(?:(?!&quot;|&#x27;)[^\s\"'\\<>…])"
"""A character of what stands between quotation marks."""
_CUT_OFF_KEY = "cut-off key"
_PATTERNS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (
        name,
        re.compile(
            _FIRST_LETTERS.sub(_BEGINS, pattern).replace("{Q}", _QUOTE).replace("{V}", _VALUE)
        ),
    )
    for name, pattern in (
        (
            "private key",
            # No key begins within another: of many beginnings none is looked through to the end.
            r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----(?:[^-]|-(?!----BEGIN)){0,20000}?"
            r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY-----",
        ),
        ("OpenAI or Anthropic key", r"{B:sk-}[A-Za-z0-9_-]{16,}"),
        ("GitHub token", r"{B:g}(?:h[pousr]_[A-Za-z0-9]{20,}|ithub_pat_[A-Za-z0-9_]{20,})"),
        ("GitLab token", r"{B:glpat-}[A-Za-z0-9_-]{16,}"),
        ("AWS key", r"{B:A}(?:KIA|SIA)[A-Z0-9]{16}\b"),
        ("Google key", r"{B:AIza}[A-Za-z0-9_-]{30,}"),
        ("Slack token", r"{B:xox}[abprs]-[A-Za-z0-9-]{10,}"),
        ("Stripe key", r"{B:[rs]}k_(?:live|test)_[A-Za-z0-9]{16,}"),
        ("Hugging Face token", r"{B:hf_}[A-Za-z0-9]{20,}"),
        ("npm token", r"{B:npm_}[A-Za-z0-9]{30,}"),
        (
            "JSON web token",
            # Nor does a token's head: a run of beginnings is looked through once.
            r"{B:eyJ}(?:[A-Za-z0-9]|[_-](?!eyJ)){10,}"
            r"\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{8,}",
        ),
        ("bearer token", r"(?<=[Bb]earer )[A-Za-z0-9._~+/-]{16,}=*"),
        ("password in an address", r"(?<=://)[^\s/:@\"'<>]{1,200}:[^\s/@\"'<>]{1,200}(?=@)"),
        (
            "secret setting",
            r"(?P<setting>(?:PASSWORD|PASSWD|SECRET|TOKEN|(?:API|ACCESS|SECRET|PRIVATE)_KEY)={Q}?|"
            r"(?i:password|passwd|secret|api[_-]?key|(?:access|auth)[_-]token)"
            r"{Q}?[ \t]{0,20}[:=][ \t]{0,20}{Q}|aws_secret_access_key ?= ?)"
            # Between quotation marks anything may stand; without them a call or a variable may.
            r"(?:(?:(?<=[\"'])|(?<=&quot;)|(?<=&#x27;))(?![$<{]){V}{8,}|"
            r"(?:(?![$<>{}()\[\]]){V}){8,}{V}*)",
        ),
        (
            _CUT_OFF_KEY,
            r"(?:{B:}(?:sk-|gh[pousr]_|github_pat_|glpat-|AKIA|ASIA|AIza|xox[abprs]-|[rs]k_live_|"
            r"[rs]k_test_|hf_|npm_|eyJ)[A-Za-z0-9._-]{0,400}|"
            r"(?<=[Bb]earer )[A-Za-z0-9._~+/-]{1,400}|"
            r"(?<=://)[^\s/:@\"'<>]{1,200}:[^\s/@\"'<>]{1,200})(?=…|\\u2026)",
        ),
    )
)
_CUT = re.compile(r"(…|\\u2026)")
"""The mark of a text that was cut, as titles are."""
_NAMES = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL", re.IGNORECASE)
_SHORTEST = 8
_SHORTEST_CUT, _LONGEST_CUT = 3, 200


@dataclass(slots=True)
class RedactionReport:
    """How many secrets of each kind were taken out."""

    found: Counter[str] = field(default_factory=Counter)

    @property
    def sentence(self) -> str:
        """What was taken out, for people; empty when nothing was."""
        plural = {"password in an address": "passwords in addresses"}
        counts = sorted(self.found.items())
        kinds = [format_count(count, kind, plural.get(kind, "")) for kind, count in counts]
        return f"Redacted: {', '.join(kinds)}." if kinds else ""


class Redactor:
    """Replaces secrets in text by ``[redacted]``; counts what it replaced."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        """``values`` are secrets that are known, such as keys in the environment."""
        known = {value for value in values if len(value) >= _SHORTEST}
        forms = {form for value in known for form in encoded_forms(value)}
        longest = sorted((form for form in forms if len(form) >= _SHORTEST), key=len, reverse=True)
        self._known = re.compile("|".join(map(re.escape, longest))) if longest else None
        self._forms = longest
        self._beginnings = {form[:_SHORTEST_CUT] for form in longest}
        self._pieces = SecretPieces(form for value in known for form in _whole_forms(value))
        self.report = RedactionReport()

    def redact(self, text: str) -> str:
        """The text without secrets."""
        if self._known is not None:
            text, count = self._known.subn(MARK, text)
            *cut, rest = _CUT.split(text)
            text = "".join(map(self._redact_end, cut)) + rest if cut else text
            text, pieces = self._pieces.cut_out(text, MARK)
            if count or pieces:
                self.report.found["known value"] += count + pieces
        is_cut = _CUT.search(text) is not None
        for kind, pattern in _PATTERNS:
            if kind == _CUT_OFF_KEY and not is_cut:
                continue
            text, count = pattern.subn(_mark, text)
            if count:
                self.report.found[kind] += count
        return text

    def _redact_end(self, text: str) -> str:
        """A text without the beginning of a known value at its end, where it was cut."""
        for place in range(max(0, len(text) - _LONGEST_CUT), len(text) - _SHORTEST_CUT + 1):
            if text[place : place + _SHORTEST_CUT] not in self._beginnings:
                continue
            if any(form.startswith(text[place:]) for form in self._forms):
                self.report.found["known value"] += 1
                return text[:place] + MARK
        return text


def _whole_forms(value: str) -> Iterator[str]:
    """A secret and its base64, whatever stands before it: forms of which a piece tells much."""
    raw = value.encode("utf-8", "surrogatepass")
    yield value
    for shift in range(3):
        yield from base64_forms(raw, shift)


def _mark(found: re.Match[str]) -> str:
    """What takes the place of a secret; the name under which it was set stays."""
    return f"{found['setting']}{MARK}" if found.lastgroup else MARK


def secret_values(environ: Mapping[str, str]) -> list[str]:
    """The values of an environment whose names say that they are secret."""
    return [value for name, value in environ.items() if _NAMES.search(name)]
