"""The records of a log: in memory or on disk, as they are shown, counted and compared."""
