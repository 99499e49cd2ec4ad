"""Which shell commands are allowed without asking: reading them, and judging each program."""
