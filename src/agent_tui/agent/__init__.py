"""Turns and steps: the loop, retries, approvals and the wire."""
