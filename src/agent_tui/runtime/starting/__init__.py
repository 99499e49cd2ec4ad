"""How a run starts: its command line and settings, its folder, what it shows before a session."""
