"""A conversation without a screen: plain lines in and out."""
