"""Screens for going back in time."""
