"""Readers of sessions that other agents wrote."""
