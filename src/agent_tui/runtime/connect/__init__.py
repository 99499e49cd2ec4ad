"""What a run can ask: providers and their models, and MCP servers."""
