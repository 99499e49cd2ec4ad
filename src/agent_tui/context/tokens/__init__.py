"""How many tokens things are."""
