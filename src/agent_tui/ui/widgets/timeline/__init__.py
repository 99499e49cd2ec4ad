"""The conversation: a virtual list of blocks."""
