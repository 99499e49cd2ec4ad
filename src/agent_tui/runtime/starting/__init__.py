"""What a run starts from: its settings, the project it may use, and its log file for debugging."""
