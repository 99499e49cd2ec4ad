"""How a session is put together over its log: model, tools, approvals, agent."""
