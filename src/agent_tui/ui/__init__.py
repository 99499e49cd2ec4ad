"""The full-screen front-end, in Textual."""
