"""Replacing old messages by a summary: plan, brief, summary, losses."""
