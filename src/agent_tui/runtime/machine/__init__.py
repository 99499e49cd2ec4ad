"""What a run asks of the machine: the editor, the terminal, and whether all is there."""
