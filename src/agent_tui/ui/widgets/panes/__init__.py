"""Larger parts of a screen."""
