"""What commands, keys and markers lead to: flows over screens and the open session."""
