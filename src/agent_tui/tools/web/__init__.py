"""Tools that read the web: pages and what searches find."""
