"""Servers of tools that speak MCP: found, started, pinned, and called."""
