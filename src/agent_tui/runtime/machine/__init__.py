"""What a run asks of the machine: its place, the editor, the terminal, and whether all is there."""
