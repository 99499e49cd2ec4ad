"""How the program was started: a cheap value that exists before any heavy import."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from agent_tui.core.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Launch:
    """What the command line asked for.

    Attributes:
        cwd: the workspace.
        demo: play the embedded scenario instead of asking a real model.
        scenario: a scenario file to play instead of the embedded one; implies ``demo``.
        stress: play an answer of so many chunks instead; implies ``demo``.
        model: a model name that wins over config and environment; empty for theirs.
        yolo: allow every action without asking.
        allow: rules of what is allowed without asking, beside those of the settings.
        trust: use the instructions, skills and settings that the folder ships, in this run.
        resume: a session id to open, or None for a new session.
        latest: open the newest session of the workspace.
        path: a log or session file to browse read-only.
        prompt: a first prompt to send as soon as the session is open.
        pick: begin with the session list.
        debug: write a log file of named events.
        flags: settings from options of their own, each by its names.
        assigned: settings from ``--set``, which win over ``flags``.
        ephemeral: keep the session in memory only; nothing of it is written.
        agent: the name or file of the agent's spec; empty for the default one.
    """

    cwd: Path
    demo: bool = False
    scenario: Path | None = None
    stress: int | None = None
    model: str = ""
    yolo: bool = False
    allow: tuple[str, ...] = ()
    trust: bool = False
    resume: str | None = None
    latest: bool = False
    path: Path | None = None
    prompt: str = ""
    pick: bool = False
    debug: bool = False
    flags: tuple[tuple[tuple[str, ...], Any], ...] = ()
    assigned: tuple[tuple[tuple[str, ...], Any], ...] = ()
    agent: str = ""
    ephemeral: bool = False

    @property
    def is_tour(self) -> bool:
        """Whether it plays the built-in demo, whose sessions are kept apart."""
        return self.demo and self.scenario is None

    @property
    def home(self) -> Path:
        """Where its sessions are kept: those of the demo are not mixed with real ones."""
        from agent_tui.places import data_root  # not for the first frame

        return data_root() / "demo" if self.is_tour else data_root()

    def command(self, words: str = "") -> str:
        """A command to type that uses the sessions of this run, in the demo those of the demo."""
        return " ".join(filter(None, ("agent-tui", words, "--demo" * self.is_tour)))

    @property
    def is_new(self) -> bool:
        """Whether it begins with a new session."""
        return self.resume is None and not (self.latest or self.pick or self.path)
