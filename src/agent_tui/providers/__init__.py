"""APIs that stream replies: OpenAI-compatible servers, Anthropic, and a scripted stand-in."""
