"""Where a session is read: open here, in a file of any kind, or in memory only."""
