"""Every session there is: list, search, import and export."""
