"""Where files are not captured at all, each with a sentence that says why."""

from __future__ import annotations

import os

_PERSONAL = ("Desktop", "Documents", "Downloads")


def reason_refused(root: str, home: str = "") -> str:
    """Why a folder is not captured as a workspace; empty where it is."""
    home = os.path.realpath(home or os.path.expanduser("~"))
    real = os.path.realpath(root)
    if not os.path.isdir(real):
        return f"{root} is not a folder"
    if real == "/":
        return "this is the root of the file system; start in a project's folder"
    if real == home or home.startswith(f"{real}/"):
        return "this is the home folder, or one above it; start in a project's folder"
    for name in _PERSONAL:
        if real == os.path.join(home, name):
            return f"{name} is not a single project; start in a folder inside it"
    return ""
