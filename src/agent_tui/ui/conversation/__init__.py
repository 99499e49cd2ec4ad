"""The open session on the screen, and the objects that run, show and store things for it."""
