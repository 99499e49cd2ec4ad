"""What the agent can do: read, write, edit, find, search and run, one file each."""
