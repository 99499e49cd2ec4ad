"""Single lines: gauge, status, key hints, track."""
