"""The front-end without a screen: one prompt, or one question about a session, printed."""
