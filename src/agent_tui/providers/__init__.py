"""APIs that stream replies: OpenAI-compatible servers, and a scripted stand-in."""
