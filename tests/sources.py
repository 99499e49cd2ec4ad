"""The source of the program, parsed once for all who look at it."""

from __future__ import annotations

import ast
import gc
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "agent_tui"
OWN_MODULES = sorted(
    module for module in SOURCE.rglob("*.py") if SOURCE / "demo" not in module.parents
)
"""Every module but those of the demo's sample workspace."""


def name_in_source(path: Path) -> str:
    return str(path.relative_to(SOURCE))


@cache
def _trees() -> dict[Path, tuple[ast.Module, tuple[ast.AST, ...]]]:
    # Half a million nodes that stay: a collector of garbage would look at them again and again.
    gc.disable()
    try:
        trees = {each: ast.parse(each.read_text(encoding="utf-8")) for each in OWN_MODULES}
        return {module: (tree, tuple(ast.walk(tree))) for module, tree in trees.items()}
    finally:
        gc.freeze()
        gc.enable()


def parse(module: Path) -> ast.Module:
    return _trees()[module][0]


def nodes(module: Path) -> tuple[ast.AST, ...]:
    """Everything in a module, as ``ast.walk`` finds it."""
    return _trees()[module][1]
