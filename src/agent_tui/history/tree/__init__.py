"""One tree over a log, its archives and its forks, and how it is drawn."""
