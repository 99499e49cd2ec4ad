"""The command line: ``agent-tui [PROMPT]`` to chat, commands to do everything else."""

from agent_tui.cli.program import main

__all__ = ["main"]
