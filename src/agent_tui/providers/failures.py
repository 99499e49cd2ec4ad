"""What went wrong between us and a server, in one sentence that holds no key.

Every text that a server sent is redacted, cleaned and cut before it is shown.
"""

from __future__ import annotations

import errno
import json
import re
import socket
import ssl
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from agent_tui.core.dataclass import dataclass
from agent_tui.core.errors import ProviderError
from agent_tui.core.text import clean
from agent_tui.providers.secret import Secret

RETRYABLE_STATUSES = frozenset({408, 429, 500, 502, 503, 504, *range(520, 528), 529})
"""Of those beyond the standard, 520 to 527 are a proxy's words for a server that is in trouble."""

_LONGEST = 400
_QUOTA = re.compile(r"insufficient_quota|exceeded your current quota", re.IGNORECASE)
_TOO_LONG = re.compile(
    r"context_length_exceeded|maximum context length|context (?:window|length|size)"
    r"|(?:prompt|input|request) (?:is|was) too long|too many (?:input )?tokens"
    r"|input token count|maximum (?:prompt|input|number of (?:input )?tokens)|exceed_context",
    re.IGNORECASE,
)
"""What servers say of a request that does not fit: each has words of its own."""
_LENGTH_WORDS = re.compile(
    r"too (?:long|large|many tokens)"
    r"|exceed(?:s|ed|ing)?\b.{0,80}?(?:length|limit|maximum|window|\d)"
    r"|(?:longer|larger|more) than .{0,40}(?:allowed|maximum|limit|\d)|maximum (?:context|length)"
    r"|(?:input|prompt|sequence|message)s? .{0,40}length .{0,40}\d|length should be",
    re.IGNORECASE | re.DOTALL,
)
_WHAT_IS_LONG = re.compile(r"token|prompt|context|input|message|sequence|conversation", re.I)
_NOT_THE_INPUT = re.compile(
    r"max_(?:completion_|output_|new_)?tokens|completion tokens|output tokens|image|file size"
    r"|metadata|tool_call_id|function name|\.name\b",
    re.IGNORECASE,
)
"""A refusal whose words are about something else than the length of the conversation."""
_PICTURE = re.compile(r"\bimages?\b|image_url|\bpictures?\b", re.IGNORECASE)
_WINDOW = re.compile(
    r"(?:maximum|max|limit|at most|up to|window|allowed|only|than)\b[^\d]{0,40}?(\d[\d,_.]{2,12})"
    r"(?!\s*(?:characters|bytes))",
    re.IGNORECASE,
)
_USER_INFO = re.compile(r"(\b[A-Za-z][A-Za-z0-9+.-]*://)[^\s/@]*(?:/[^\s@]*)?@")
"""A name and password in an address of any kind."""
_PAGE = re.compile(r"\s*<(?:!doctype|html|\?xml)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Server:
    """Whom a request went to, for words: ``key_source`` says where the key came from."""

    url: str
    model: str
    key: Secret
    key_source: str

    @property
    def shown_url(self) -> str:
        """The address without user name, password and query."""
        parts = urlsplit(self.url)
        place = parts.netloc.rpartition("@")[2]
        return self.quote(urlunsplit((parts.scheme, place, parts.path.rstrip("/"), "", "")))

    def quote(self, text: str) -> str:
        """A foreign text made fit to be shown: no key, no control characters, one line."""
        text = clean(_USER_INFO.sub(r"\1", self.key.redact(text[:20_000])))
        text = " ".join(text.split())
        return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def explain_status(
    server: Server, status: int, body: Any, headers: Mapping[str, str]
) -> ProviderError:
    """An answer with a status of 3xx, 4xx or 5xx."""
    if 300 <= status < 400:
        return _explain_redirect(server, status, headers)
    words = server.quote(read_words(body))
    is_spent = status == 429 and _QUOTA.search(words) is not None
    too_long = status == 413 or (status in (400, 422, 500) and _is_too_long(body, status))
    said = f' It says: "{words}"' if words else ""
    return ProviderError(
        _sentence(server, status, is_spent) + said,
        status=status,
        retryable=status in RETRYABLE_STATUSES and not is_spent and not too_long,
        retry_after_seconds=read_retry_after(headers),
        too_long=too_long,
        window=_window_in(words) if too_long else 0,
        about_picture=status in (400, 415, 422) and _PICTURE.search(words) is not None,
    )


def _explain_redirect(server: Server, status: int, headers: Mapping[str, str]) -> ProviderError:
    """A server that sends the request elsewhere: the conversation does not follow by itself."""
    place = server.quote(headers.get("location", ""))
    where = f" to {place}" if place else ""
    return ProviderError(
        f"{server.shown_url} redirects{where} ({status}). Nothing was sent there. If you trust "
        "that address, set it as the base URL.",
        status=status,
    )


def explain_too_much(server: Server, what: str) -> ProviderError:
    """An answer that nobody could mean: it is given up."""
    return ProviderError(f"{server.shown_url} sent {what}; the answer was cut off.")


def explain_error_event(server: Server, body: Any, *, started: bool) -> ProviderError:
    """An error that a server sent inside a stream, or in place of one with status 200."""
    words = server.quote(read_words(body))
    code = body.get("code") if isinstance(body, dict) else None
    status = code if isinstance(code, int) and 400 <= code < 600 else None
    too_long = not started and _is_too_long(body)
    fatal = too_long or (status is not None and status not in RETRYABLE_STATUSES)
    said = f': "{words}"' if words else "."
    return ProviderError(
        f"{server.shown_url} ended the answer with an error{said}",
        status=status,
        retryable=not started and not fatal,
        too_long=too_long,
        window=_window_in(words) if too_long else 0,
    )


def explain_connection(server: Server, error: BaseException) -> ProviderError:
    """A connection that was not made, or that broke before the server said a word."""
    return ProviderError(_connection_sentence(server, error), retryable=True)


def explain_cut(server: Server, *, started: bool) -> ProviderError:
    """A stream that ended without saying so."""
    what = "in the middle of the answer" if started else "before the answer"
    return ProviderError(
        f"The connection to {server.shown_url} ended {what}.", retryable=not started
    )


def explain_silence(server: Server, seconds: float, *, started: bool) -> ProviderError:
    """A server that stopped talking, or never began."""
    what = "went silent in the middle of the answer" if started else "did not begin to answer"
    return ProviderError(
        f"{server.shown_url} {what}: nothing came for {seconds:g} s.", retryable=not started
    )


def explain_garbage(server: Server, sample: str, *, started: bool) -> ProviderError:
    """An answer that is no chat stream."""
    if _PAGE.match(sample):
        return ProviderError(
            f"{server.shown_url} answered with a web page instead of a reply. "
            "Check the base URL: most end in /v1."
        )
    words = server.quote(sample)[:120]
    said = f": {words}" if words else "."
    return ProviderError(
        f"{server.shown_url} sent something that is not a chat stream{said}", retryable=not started
    )


def _is_too_long(body: Any, status: int = 0) -> bool:
    """Whether an error says that the request was too long, in its words, its code or its type."""
    said = body.decode("utf-8", "replace") if isinstance(body, bytes) else str(body)
    said = said[:20_000]
    if _TOO_LONG.search(said):
        return True
    if status not in (400, 422) or _NOT_THE_INPUT.search(said):
        return False
    return bool(_LENGTH_WORDS.search(said) and _WHAT_IS_LONG.search(said))


def _window_in(words: str) -> int:
    """The most tokens that a refusal names; 0 where it names none that can be meant."""
    found = [int(re.sub(r"\D", "", number)) for number in _WINDOW.findall(words)]
    return next((number for number in found if 1_000 <= number <= 20_000_000), 0)


def read_words(body: Any) -> str:
    """What a server says is wrong, out of the shapes that error bodies come in."""
    if isinstance(body, bytes):
        body = body.decode("utf-8", "replace")
    if isinstance(body, str):
        return _read_text(body)
    if isinstance(body, dict):
        for name in ("message", "error", "detail", "error_description", "msg", "errors"):
            if body.get(name):
                return read_words(body[name])
    if isinstance(body, list) and body:
        return read_words(body[0])
    return json.dumps(body, ensure_ascii=False, default=str) if body else ""


def _read_text(text: str) -> str:
    if text.lstrip()[:1] in {"{", "["}:
        try:
            return read_words(json.loads(text))
        except (ValueError, RecursionError):
            return text
    if _PAGE.match(text):
        title = re.search(r"<title>([^<]{1,200})</title>", text, re.IGNORECASE)
        return title[1] if title else ""
    return text


def read_retry_after(headers: Mapping[str, str]) -> float | None:
    """How long to wait in seconds: from a number, or from a date (by the server's own clock)."""
    from datetime import UTC, datetime
    from email.utils import parsedate_to_datetime

    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    seconds = _number(value)
    if seconds is not None or not value:
        return seconds
    try:
        until = parsedate_to_datetime(value)
        sent = headers.get("date")
        now = parsedate_to_datetime(sent) if sent else datetime.now(UTC)
        return max(0.0, (until - now).total_seconds())
    except (ValueError, TypeError):
        return None


def _number(value: str | None) -> float | None:
    try:
        number = float(value or "")
    except ValueError:
        return None
    return number if 0 <= number < 1e9 else None


def _sentence(server: Server, status: int, is_spent: bool) -> str:
    url = server.shown_url
    match status:
        case 400 | 422:
            return f"{url} refused the request ({status})."
        case 401 if not server.key:
            return f"{url} needs a key ({status}). {_how_to_set_a_key(server)}"
        case 403 if not server.key:
            return f"{url} forbids a request without a key ({status}). {_how_to_set_a_key(server)}"
        case 401:
            return f"{url} did not accept {_name_key(server)} ({status}). Check that key."
        case 402:
            return f"{url} requires payment ({status}). Check your account there."
        case 403:
            return (
                f"{url} forbids this ({status}): {_name_key(server)} may not use "
                f"{server.quote(server.model)}. Choose another model, or another key."
            )
        case 404 if not server.model:
            return (
                f"{url} has no list of models, or is not the right address ({status}). "
                "Check the base URL: most end in /v1."
            )
        case 404:
            return (
                f"{url} has no model {server.quote(server.model)}, or is not the right "
                f"address ({status}). Choose another model, or check the base URL."
            )
        case 408:
            return f"{url} gave up waiting for the request ({status})."
        case 413:
            return f"The request is too large for {url} ({status}): compact the conversation."
        case 429 if is_spent:
            of_key = f" of {_name_key(server)}" if server.key else ""
            return f"The quota{of_key} at {url} is used up ({status}). Check your account there."
        case 429:
            return f"{url} asks to slow down ({status})."
        case _ if status >= 500:
            return f"{url} had an internal error ({status})."
        case _:
            return f"{url} answered with status {status}."


def _name_key(server: Server) -> str:
    return f"the key from {server.key_source}"


def _how_to_set_a_key(server: Server) -> str:
    """What a person does: name the variable that is looked at, or where to name one."""
    if server.key_source.isidentifier():
        return f"Set {server.key_source}, or add a key."
    return "Add a key, or name its variable as api_key_env of the provider."


def _connection_sentence(server: Server, error: BaseException) -> str:
    url, place = server.shown_url, urlsplit(server.url).hostname or server.url
    for cause in _causes(error):
        if isinstance(cause, ssl.SSLCertVerificationError):
            reason = server.quote(cause.verify_message)
            return f"{url} is not trusted: its certificate was refused ({reason})."
        if isinstance(cause, ssl.SSLError):
            return f"{url} does not speak TLS as expected: should it begin with http://?"
        if isinstance(cause, socket.gaierror):
            return f"The host {server.quote(place)} was not found. Check the base URL {url}."
        if isinstance(cause, OSError) and cause.errno == errno.ECONNREFUSED:
            return f"{url} refused the connection: is the server running?"
        if isinstance(cause, OSError) and cause.errno in {errno.ENETUNREACH, errno.EHOSTUNREACH}:
            return f"{url} cannot be reached: no route to that network."
        if isinstance(cause, OSError) and cause.errno == errno.ECONNRESET:
            return f"{url} closed the connection before it answered."
        if type(cause).__name__ == "ConnectTimeout":
            return f"{url} could not be reached: the connection timed out."
        if type(cause).__name__ in {"RemoteProtocolError", "ReadError"}:
            return f"{url} closed the connection before it answered."
    return f"{url} could not be reached ({server.quote(str(error)) or type(error).__name__})."


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The error and what led to it, groups included; never in circles."""
    waiting: list[BaseException] = [error]
    seen: set[int] = set()
    while waiting:
        cause = waiting.pop(0)
        if id(cause) in seen:
            continue
        seen.add(id(cause))
        yield cause
        waiting += [link for link in (cause.__cause__, cause.__context__) if link is not None]
        waiting += getattr(cause, "exceptions", ())
