"""Lists of rows, and what stands in them."""
