"""What a compaction keeps: one strategy a file."""
