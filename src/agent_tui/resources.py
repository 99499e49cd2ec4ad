"""Where shipped files are: stylesheets, prompts, pages, token ranks and the demo's workspace."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).parent


def stylesheet(name: str) -> Path:
    """The path of a stylesheet, for example ``base.tcss`` or ``screens/help.tcss``.

    The packaged folder is preferred; in a checkout the top-level ``styles`` folder serves.
    """
    packaged = _PACKAGE / "styles" / name
    return packaged if packaged.exists() else _PACKAGE.parents[1] / "styles" / name


def stylesheets() -> list[Path]:
    """The paths of all stylesheets."""
    return sorted(stylesheet("base.tcss").parent.rglob("*.tcss"))


def prompt(name: str) -> str:
    """The text of a shipped prompt, by file name without its ending."""
    return (_PACKAGE / "prompts" / f"{name}.md").read_text(encoding="utf-8")


def agent_spec(name: str) -> str:
    """The text of a shipped agent's spec, by its name."""
    return (_PACKAGE / "agents" / f"{name}.yaml").read_text(encoding="utf-8")


def agent_spec_names() -> list[str]:
    """The names of the shipped agents."""
    return sorted(path.stem for path in (_PACKAGE / "agents").glob("*.yaml"))


def token_ranks(encoding: str) -> Path:
    """The compressed tiktoken ranks of an encoding, for example ``o200k_base``."""
    return _PACKAGE / "ranks" / f"{encoding}.tiktoken.xz"


def demo_folder() -> Path:
    """The folder that holds the demo's scenario and sample workspace."""
    return _PACKAGE / "demo"


def copy_demo_workspace(to: Path) -> None:
    """Make a copy of the sample workspace, without what an installation has compiled of it."""
    import shutil  # only the demo has a use for it

    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(demo_folder() / "workspace", to, ignore=ignored, dirs_exist_ok=True)


def page_part(name: str) -> str:
    """The text of a part of exported HTML pages, for example ``session.css``."""
    return (_PACKAGE / "pages" / name).read_text(encoding="utf-8")
