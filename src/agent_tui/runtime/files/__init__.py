"""A workspace's files: captured, reverted, and completed after ``@``."""
