"""The command line."""


def main() -> None:
    """Start agent-tui."""
