"""What can be done in an open session, one operation at a time."""
