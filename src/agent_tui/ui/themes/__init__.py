"""Themes: the tokens of every screen, and the styles that are derived from them."""
