"""How a run starts: its command line, settings and parts, and what it shows before a session."""
