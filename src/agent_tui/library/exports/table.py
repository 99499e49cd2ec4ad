"""Every format that a session can be exported to: a new one is a file beside this and a line."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from agent_tui.core.records import Record
from agent_tui.importers.imported import ImportedCompaction
from agent_tui.library.exports.html import export_html
from agent_tui.library.exports.json_document import export_json
from agent_tui.library.exports.kimi import export_kimi
from agent_tui.library.exports.markdown import export_markdown
from agent_tui.library.exports.pi import export_pi


@dataclass(frozen=True, slots=True)
class About:
    """What is known of a session beside its records.

    Attributes:
        token_count: the context's size.
        compactions: what they left, where the records alone do not say it.
    """

    session_id: str = ""
    title: str = ""
    token_count: int | None = None
    compactions: tuple[ImportedCompaction, ...] = ()


Export = Callable[[Sequence[Record], About], Iterator[bytes]]


@dataclass(frozen=True, slots=True)
class ExportFormat:
    """A format: the ending of its files, and the pieces of a file.

    ``of_context``: it holds what the model would be sent, not what was compacted before.
    """

    ending: str
    export: Export
    of_context: bool = False


FORMATS: dict[str, ExportFormat] = {
    "markdown": ExportFormat("md", lambda records, about: export_markdown(records, about.title)),
    "html": ExportFormat("html", lambda records, about: export_html(records, about.title)),
    "json": ExportFormat("json", lambda records, about: export_json(records, about.title)),
    "kimi": ExportFormat(
        "jsonl", lambda records, about: export_kimi(records, about.token_count), of_context=True
    ),
    "pi": ExportFormat(
        "jsonl",
        lambda records, about: export_pi(records, about.session_id, about.title, about.compactions),
    ),
}
