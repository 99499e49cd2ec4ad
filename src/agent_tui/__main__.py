"""Lets ``python -m agent_tui`` start the program."""

from agent_tui.cli import main

if __name__ == "__main__":
    main()
