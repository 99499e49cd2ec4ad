"""Shared words: messages, records, events, usage and errors that every other package speaks."""
