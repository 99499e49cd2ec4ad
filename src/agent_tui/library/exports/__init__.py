"""Sessions in other formats: one file each, and a line in the table."""
