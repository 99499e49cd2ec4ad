"""The shape of the source, held like any other behaviour."""

import ast
from pathlib import Path

import pytest
from importlinter.cli import EXIT_STATUS_SUCCESS, lint_imports

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "agent_tui"
PACKAGES = sorted(init.parent for init in SOURCE.glob("*/__init__.py"))
UI_MODULES = sorted((SOURCE / "ui").rglob("*.py"))
STYLESHEETS = sorted((ROOT / "styles").rglob("*.tcss"))
FILE_METHODS = {"mkdir", "open", "read_bytes", "read_text", "unlink", "write_bytes", "write_text"}
ORDER_PSEUDO_CLASSES = (":first-child", ":last-child", ":odd", ":even", ":empty")


def name_in_source(path: Path) -> str:
    return str(path.relative_to(SOURCE))


def parse(module: Path) -> ast.Module:
    return ast.parse(module.read_text(encoding="utf-8"))


def test_imports_keep_their_contracts() -> None:
    config = str(ROOT / "pyproject.toml")
    assert lint_imports(config_filename=config, no_cache=True) == EXIT_STATUS_SUCCESS


@pytest.mark.parametrize("module", UI_MODULES, ids=name_in_source)
def test_the_ui_opens_no_files_and_holds_no_css(module: Path) -> None:
    nodes = list(ast.walk(parse(module)))
    methods = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    assert not methods & FILE_METHODS
    assert not names & {"CSS", "DEFAULT_CSS", "open"}


@pytest.mark.parametrize("kind", ["screens", "widgets"])
def test_every_stylesheet_is_named_after_its_module(kind: str) -> None:
    sheets = {sheet.stem for sheet in (ROOT / "styles" / kind).rglob("*.tcss")}
    modules = {module.stem for module in (SOURCE / "ui" / kind).rglob("*.py")}
    assert sheets <= modules


@pytest.mark.parametrize("sheet", STYLESHEETS, ids=lambda sheet: sheet.name)
def test_no_stylesheet_counts_siblings(sheet: Path) -> None:
    """Such a rule restyles every sibling at every mount."""
    text = sheet.read_text(encoding="utf-8")
    assert not [name for name in ORDER_PSEUDO_CLASSES if name in text]


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.name)
def test_the_readme_maps_every_package(package: Path) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    summary = (ast.get_docstring(parse(package / "__init__.py")) or "").splitlines()[0]
    assert f"`{package.name}/` {summary}" in readme


def test_every_folder_of_the_source_is_a_package() -> None:
    """A folder without __init__.py is invisible to the import contracts."""
    folders = {
        module.parent for module in SOURCE.rglob("*.py") if SOURCE / "demo" not in module.parents
    }
    assert not [folder for folder in folders if not (folder / "__init__.py").exists()]


DOOR = SOURCE / "core" / "output.py"
PRINTERS = sorted(
    module for module in SOURCE.rglob("*.py") if "demo" not in module.parts and module != DOOR
)
OWN_PROCESSES = {"tools/confine.py", "tools/plain_search.py"}
"""Modules that run as a child of ours: their output is read by the tool that started them."""


@pytest.mark.parametrize("module", PRINTERS, ids=name_in_source)
def test_only_one_module_prints(module: Path) -> None:
    """What is printed passes one door, where nothing goes through that a terminal obeys."""
    if name_in_source(module) in OWN_PROCESSES:
        return
    found = [
        f"{node.lineno}: {ast.unparse(node)}"
        for node in ast.walk(parse(module))
        if (isinstance(node, ast.Call) and ast.unparse(node.func) == "print")
        or (
            isinstance(node, ast.Attribute)
            and node.attr in ("write", "writelines", "buffer")
            and ast.unparse(node.value).startswith(("sys.std", "sys.__std"))
        )
    ]
    assert not found
