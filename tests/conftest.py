"""Hooks for every test run: the counts of the fault harness are part of its output."""

from __future__ import annotations

from tests.faults.summary import pytest_terminal_summary

__all__ = ["pytest_terminal_summary"]
