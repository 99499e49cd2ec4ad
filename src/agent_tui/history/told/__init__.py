"""What a log says that its calls did, where nobody looked at the disk."""
