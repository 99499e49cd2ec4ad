"""Screens about sessions."""
