"""The built-in demo model: plays a scenario through the same interface as a real provider."""
