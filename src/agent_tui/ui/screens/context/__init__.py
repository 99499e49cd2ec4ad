"""Screens about the context and its compaction."""
