"""agent-tui: a full-screen front-end for AI agents and a browser for every session they had."""

__version__ = "0.1.0"
