"""The shape of the source, held like any other behaviour."""

import ast
from collections import Counter
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from tests.sources import OWN_MODULES, ROOT, SOURCE, name_in_source, nodes, parse

PACKAGES = sorted(init.parent for init in SOURCE.glob("*/__init__.py"))
UI_MODULES = sorted((SOURCE / "ui").rglob("*.py"))
STYLESHEETS = sorted((ROOT / "styles").rglob("*.tcss"))
FILE_METHODS = {"mkdir", "open", "read_bytes", "read_text", "unlink", "write_bytes", "write_text"}
ORDER_PSEUDO_CLASSES = (":first-child", ":last-child", ":odd", ":even", ":empty")


def test_imports_keep_their_contracts(monkeypatch: pytest.MonkeyPatch) -> None:
    from importlinter.cli import EXIT_STATUS_SUCCESS, lint_imports

    # Its own logging would silence every logger that is there, for each test that follows.
    monkeypatch.setattr("logging.config.dictConfig", lambda config: None)
    config = str(ROOT / "pyproject.toml")
    assert lint_imports(config_filename=config, no_cache=True) == EXIT_STATUS_SUCCESS


def test_the_ui_opens_no_files_and_holds_no_css() -> None:
    found = []
    for module in UI_MODULES:
        found_nodes = nodes(module)
        used = {n.attr for n in found_nodes if isinstance(n, ast.Attribute)} & FILE_METHODS
        names = {n.id for n in found_nodes if isinstance(n, ast.Name)}
        used |= names & {"CSS", "DEFAULT_CSS", "open"}
        found += [f"{name_in_source(module)}: {name}" for name in sorted(used)]
    assert not found


@pytest.mark.parametrize("kind", ["screens", "widgets"])
def test_every_stylesheet_is_named_after_its_module(kind: str) -> None:
    sheets = {sheet.stem for sheet in (ROOT / "styles" / kind).rglob("*.tcss")}
    modules = {module.stem for module in (SOURCE / "ui" / kind).rglob("*.py")}
    assert sheets <= modules


def test_no_stylesheet_counts_siblings() -> None:
    """Such a rule restyles every sibling at every mount."""
    texts = {sheet.name: sheet.read_text(encoding="utf-8") for sheet in STYLESHEETS}
    pairs = [(sheet, name) for sheet, text in texts.items() for name in ORDER_PSEUDO_CLASSES]
    assert not [f"{sheet}: {name}" for sheet, name in pairs if name in texts[sheet]]


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.name)
def test_the_readme_maps_every_package(package: Path) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    summary = (ast.get_docstring(parse(package / "__init__.py")) or "").splitlines()[0]
    assert f"`{package.name}/` {summary}" in readme


def test_every_folder_of_the_source_is_a_package() -> None:
    """A folder without __init__.py is invisible to the import contracts."""
    folders = {module.parent for module in OWN_MODULES}
    assert not [folder for folder in folders if not (folder / "__init__.py").exists()]


OUTSIDE_HISTORY = sorted(
    module
    for module in OWN_MODULES
    if module.parts[len(SOURCE.parts)] in ("headless", "runtime", "ui")
)
INSIDES_OF_A_TREE = {"leaves_of", "shape", "sources"}


def is_tree_of_a_tree(node: ast.Attribute) -> bool:
    return node.attr == "tree" and ast.unparse(node.value).endswith("tree")


def test_nobody_reaches_into_a_tree() -> None:
    """Import contracts do not see it: operations are told of a place by ids, in a TreePlace."""
    found = [
        f"{name_in_source(module)}, line {node.lineno}: {ast.unparse(node)}"
        for module in OUTSIDE_HISTORY
        for node in nodes(module)
        if isinstance(node, ast.Attribute)
        and (node.attr in INSIDES_OF_A_TREE or is_tree_of_a_tree(node))
    ]
    assert not found


DOOR = SOURCE / "core" / "output.py"
PRINTERS = sorted(
    module for module in SOURCE.rglob("*.py") if "demo" not in module.parts and module != DOOR
)
OWN_PROCESSES = {"tools/confine.py", "tools/plain_search.py"}
"""Modules that run as a child of ours: their output is read by the tool that started them."""


def test_only_one_module_prints() -> None:
    """What is printed passes one door, where nothing goes through that a terminal obeys."""
    found = [
        f"{name_in_source(module)}, line {node.lineno}: {ast.unparse(node)}"
        for module in PRINTERS
        if name_in_source(module) not in OWN_PROCESSES
        for node in nodes(module)
        if (isinstance(node, ast.Name) and node.id == "print")
        or (
            isinstance(node, ast.Attribute)
            and node.attr in ("write", "writelines", "buffer")
            and ast.unparse(node.value).startswith(("sys.std", "sys.__std"))
        )
    ]
    assert not found


# The size of what grows when nothing stops it. These numbers only go down: where one stands in your
# way, split what has two reasons to change, or give the modules a folder of their own.
LARGEST_FILE_LINES = 475
LINES_OF_THE_CENTRE = {"runtime/engine.py": 200, "runtime/live_session.py": 250}
"""What everything passes through, and therefore wants to grow."""
LARGEST_CLASS_LINES = 315
MOST_PUBLIC_METHODS = 26
MOST_METHODS = 31
MOST_MODULES_IN_A_FOLDER = 36
ARROWS_BETWEEN_ROOMS = {"runtime": 18, "history": 11, "ui": 38}
"""How many pairs of rooms (folders and modules of a package) have one that imports the other."""


def classes() -> list[ast.ClassDef]:
    found = map(nodes, OWN_MODULES)
    return [node for each in found for node in each if isinstance(node, ast.ClassDef)]


def methods(node: ast.ClassDef) -> list[str]:
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    return [each.name for each in node.body if isinstance(each, functions)]


def public_methods(node: ast.ClassDef) -> int:
    return sum(not name.startswith("_") for name in methods(node))


def imported(module: Path) -> Iterator[str]:
    """Every module of ours that a module needs when it runs, whenever it imports it."""
    for_types = {
        node
        for block in nodes(module)
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
        for each in block.body
        for node in ast.walk(each)
    }
    for node in nodes(module):
        if isinstance(node, ast.ImportFrom) and node not in for_types:
            yield from (f"{node.module}.{name.name}" for name in node.names)


def arrows(package: str) -> dict[str, set[str]]:
    """Which rooms of a package import which others of it."""
    found: dict[str, set[str]] = {}
    for module in OWN_MODULES:
        parts = module.relative_to(SOURCE).with_suffix("").parts
        if parts[0] == package and parts[1] != "__init__":
            names = (name.split(".") for name in imported(module))
            used = {n[2] for n in names if n[:2] == ["agent_tui", package] and len(n) > 2}
            found.setdefault(parts[1], set()).update(used - {parts[1]})
    return found


def test_no_file_grows_beyond_the_largest() -> None:
    sizes = {name_in_source(each): len(each.read_text().splitlines()) for each in OWN_MODULES}
    assert {name: size for name, size in sizes.items() if size > LARGEST_FILE_LINES} == {}


@pytest.mark.parametrize("module", LINES_OF_THE_CENTRE)
def test_the_centre_stays_small(module: str) -> None:
    assert len((SOURCE / module).read_text().splitlines()) <= LINES_OF_THE_CENTRE[module]


def test_no_class_grows_beyond_the_largest() -> None:
    sizes = {each.name: (each.end_lineno or 0) - each.lineno + 1 for each in classes()}
    assert {name: size for name, size in sizes.items() if size > LARGEST_CLASS_LINES} == {}


def test_no_class_has_more_public_methods_than_any_has_now() -> None:
    counts = {each.name: public_methods(each) for each in classes()}
    assert {name: count for name, count in counts.items() if count > MOST_PUBLIC_METHODS} == {}


def test_no_folder_holds_more_modules_than_any_holds_now() -> None:
    counts = Counter(str(each.parent.relative_to(SOURCE)) for each in OWN_MODULES)
    assert {name: n for name, n in counts.items() if n > MOST_MODULES_IN_A_FOLDER} == {}


def test_no_class_has_more_methods_than_any_has_now() -> None:
    counts = {each.name: len(methods(each)) for each in classes()}
    assert {name: count for name, count in counts.items() if count > MOST_METHODS} == {}


@pytest.mark.parametrize("package", ARROWS_BETWEEN_ROOMS)
def test_rooms_import_each_other_in_no_circle_and_no_more_than_now(package: str) -> None:
    rooms = arrows(package)
    assert list(TopologicalSorter(rooms).static_order())
    assert sum(map(len, rooms.values())) <= ARROWS_BETWEEN_ROOMS[package]
