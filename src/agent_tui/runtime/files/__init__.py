"""A workspace's files: captured while a session is open, shown as changes, and reverted."""
