"""Questions, lists to choose from, and what these screens share."""
