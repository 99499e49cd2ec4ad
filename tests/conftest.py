"""Hooks for every test run: the counts of the fault harness, and hypothesis on busy machines."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

from tests.faults.summary import pytest_terminal_summary

__all__ = ["pytest_terminal_summary"]

# How fast a machine makes up examples says nothing of what is tested with them.
settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")
