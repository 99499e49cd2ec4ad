"""Tide tables for small harbours."""
