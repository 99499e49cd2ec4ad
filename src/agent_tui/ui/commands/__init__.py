"""What can be asked for: what a command is, and the table of them all."""
