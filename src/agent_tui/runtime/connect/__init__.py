"""What a run can ask: providers and their models, and servers of tools."""
