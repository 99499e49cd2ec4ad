"""The open session on the screen, and those who run, say and keep things for it."""
