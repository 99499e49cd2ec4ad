"""What a search over all sessions can be narrowed by."""

FILTERS = {
    "agent": "the agent that wrote the session: agent:codex",
    "project": "part of the project's folder: project:tidewatch",
    "session": "the beginning of a session's id: session:20260321",
    "role": "who spoke: role:user, role:assistant or role:tool",
    "model": "the beginning of a model's name: model:gpt-5",
    "tool": "a tool that was called: tool:run_command",
    "file": "a file or folder that a call names: file:src/report.py",
    "touched": "a file that a call changes: touched:report.py",
    "has": "has:error or has:compaction",
    "after": "a day, month, year or age: after:2026-01-31, after:7d",
    "before": "the same: before:2026-02, before:30d",
}
"""Every filter with what it takes."""
