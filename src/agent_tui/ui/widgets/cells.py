"""Texts of exactly so many cells, for what stands in columns."""

from __future__ import annotations

from rich.cells import cell_len, set_cell_size


def fit_cells(text: str, width: int) -> str:
    """The text in exactly ``width`` cells: padded, or cut with an ellipsis."""
    if cell_len(text) > width:
        return set_cell_size(text, max(0, width - 1)) + "…"
    return set_cell_size(text, width)
