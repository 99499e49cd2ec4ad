"""The session store: append-only logs, archives, replay, the tree, and the lock."""
