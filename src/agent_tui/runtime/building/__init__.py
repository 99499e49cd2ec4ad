"""How a run is put together, and over its log each session: model, tools, approvals, agent."""
