"""The subagents of a Claude Code session that have files of their own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from agent_tui.core.errors import AgentTuiError
from agent_tui.core.text import first_line
from agent_tui.importers import fields
from agent_tui.importers.claude_rewinds import typed_text
from agent_tui.importers.imported import ImportedChild
from agent_tui.importers.lines import read_ends
from agent_tui.importers.listing import list_folder, shell_command


def child_files(path: Path, session_id: str) -> Iterator[ImportedChild]:
    """The subagents in ``<session>/subagents`` and, of older versions, beside the session."""
    below = list_folder(path.with_suffix("") / "subagents")
    beside = list_folder(path.parent)
    for file in (*below, *beside):
        if not file.name.startswith("agent-") or file.suffix != ".jsonl" or file == path:
            continue
        try:
            head = read_ends(file).objects
        except AgentTuiError:
            continue
        if file in below or any(fields.text(e, "sessionId") == session_id for e in head):
            title = next((text for e in head if (text := typed_text(e))), "")
            agent = file.stem.removeprefix("agent-")
            yield ImportedChild(agent, first_line(title), path=str(file))


def tell_agents(
    children: Iterable[ImportedChild], entries: Sequence[dict[str, Any]]
) -> list[ImportedChild]:
    """The subagents with the calls that started them, told by results and in the order of these."""
    calls: dict[str, str] = {}
    for entry in entries:
        agent = fields.text(entry.get("toolUseResult"), "agentId")
        if agent:
            content = fields.array(fields.table(entry, "message"), "content")
            ids = (fields.text(block, "tool_use_id") for block in content)
            calls.setdefault(agent, next((each for each in ids if each), ""))
    order = {agent: place for place, agent in enumerate(calls)}
    return [
        replace(child, tool_call_id=child.tool_call_id or calls.get(child.session_id, ""))
        for child in sorted(children, key=lambda child: order.get(child.session_id, -1))
    ]


def resume(session_id: str, cwd: str) -> str:
    """The command that resumes a session; none for a subagent, which Claude Code cannot resume."""
    is_agent = session_id.startswith("agent-")
    return "" if is_agent else shell_command(cwd, "claude", "--resume", session_id)
