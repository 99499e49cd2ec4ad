"""Files of the workspace: captured at every checkpoint, reverted by hunk, undone."""
