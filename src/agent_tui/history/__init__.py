"""One read view of any session: records, checkpoints, tree, moments, comparisons, compactions."""
