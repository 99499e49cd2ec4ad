"""Shared types: messages, records, events, usage and errors that every other package uses."""
