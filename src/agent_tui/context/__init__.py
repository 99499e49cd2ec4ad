"""What the model is sent: the context, its tokens, and its compaction."""
