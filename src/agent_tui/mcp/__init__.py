"""MCP servers: found, started, pinned, and their tools called."""
