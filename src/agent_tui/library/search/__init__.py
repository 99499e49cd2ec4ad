"""Full-text search in every session: the index, its queries, and who wrote a line of a file."""
