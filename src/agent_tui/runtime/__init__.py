"""The engine, assembled: everything that a front-end is given, and nothing else."""
