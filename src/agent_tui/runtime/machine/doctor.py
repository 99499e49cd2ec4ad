"""Whether everything that a run needs is there: each check is one line, with what to do."""

from __future__ import annotations

import os
import platform
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Literal, assert_never

from agent_tui import __version__
from agent_tui.config import Settings, config_path, data_root, load_settings
from agent_tui.core.errors import AgentTuiError
from agent_tui.core.format import format_size
from agent_tui.core.text import format_count
from agent_tui.providers.registry import choose_model, usable_providers
from agent_tui.runtime.machine.terminal import wants_no_colour
from agent_tui.tools.confinement import Confinement
from agent_tui.tools.sandbox import sandbox_of
from agent_tui.workspace.limits import DEFAULT_LIMITS
from agent_tui.workspace.trimming import count_trimmed, size_of_contents

_PACKAGES = ("textual", "pydantic", "openai", "mcp", "httpx2", "tiktoken")
_TOOLS = (
    ("git", "without it, searching and restoring files works less well"),
    ("rg", "makes file searches fast; without it Python searches"),
    ("bwrap", "with it, commands can run in a sandbox"),
)


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found; ``detail`` says what to do where the state is not ok."""

    name: str
    state: Literal["ok", "warning", "error"]
    detail: str


def examine() -> list[Finding]:
    """Run every check, causes before effects; blocks, touches no network."""
    findings = [*_check_program(), _check_terminal(), *_check_data()]
    settings, finding = _check_settings()
    findings.append(finding)
    if settings is not None:
        findings += [
            _guarded("providers", lambda: _check_providers(settings)),
            _check_mcp(settings),
            _check_sandbox(settings),
        ]
    return [*findings, *_check_tools()]


def _guarded(name: str, check: Callable[[], Finding]) -> Finding:
    try:
        return check()
    except AgentTuiError as error:
        return Finding(name, "error", str(error))


def _check_program() -> Iterator[Finding]:
    place = f"{platform.system()} {platform.release()} {platform.machine()}"
    yield Finding("agent-tui", "ok", f"{__version__}, Python {platform.python_version()}, {place}")
    found, missing = [], []
    for name in _PACKAGES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            missing.append(name)
    if missing:
        yield Finding("packages", "error", f"missing: {', '.join(missing)}; reinstall agent-tui")
    yield Finding("packages", "ok", ", ".join(found))


def _check_terminal() -> Finding:
    size = shutil.get_terminal_size()
    words = [
        f"TERM={os.environ.get('TERM', 'not set')}",
        f"COLORTERM={os.environ.get('COLORTERM', 'not set')}",
        f"{size.columns} by {size.lines} cells",
        f"encoding {sys.stdout.encoding}",
    ]
    if wants_no_colour():
        words.append("NO_COLOR is set")
    encoding = (sys.stdout.encoding or "").lower().replace("-", "")
    if encoding != "utf8":
        return Finding("terminal", "warning", f"{', '.join(words)}; expected UTF-8: set LANG")
    if os.environ.get("TERM", "dumb") == "dumb":
        return Finding("terminal", "warning", f"{', '.join(words)}; the screen needs a terminal")
    return Finding("terminal", "ok", ", ".join(words))


def _check_data() -> Iterator[Finding]:
    root = data_root()
    if not root.exists():
        yield Finding("data", "ok", f"{root} will be created with the first session")
        return
    mode = stat.S_IMODE(root.stat().st_mode)
    if mode & 0o077:
        yield Finding("data", "warning", f"{root} can be read by others; run: chmod 700 {root}")
    yield _check_disk(root)
    yield _check_contents(root)


def _check_contents(root: Path) -> Finding:
    """How much is kept to revert files by, and whether some of it had to go."""
    folders = [str(each) for each in root.glob("projects/*/workspace")]
    size = format_size(sum(map(size_of_contents, folders)))
    told = f"{size} of {format_size(DEFAULT_LIMITS.store_bytes)} used by earlier versions of files"
    if trimmed := sum(map(count_trimmed, folders)):
        told += f"; {format_count(trimmed, 'old session')} lost some of them to stay below that"
    return Finding("file versions", "ok", told)


def _check_disk(root: Path) -> Finding:
    """Whether files can be written and linked: archives are hard links of the live log."""
    try:
        with tempfile.TemporaryDirectory(prefix=".doctor-", dir=root) as name:
            probe = Path(name) / "a"
            probe.write_bytes(b"x")
            try:
                os.link(probe, Path(name) / "b")
            except OSError:
                return Finding("data", "warning", f"{root}: no hard links; archives are copies")
    except OSError as error:
        return Finding("data", "error", f"{root} cannot be written: {error.strerror}")
    free = shutil.disk_usage(root).free
    if free < 100_000_000:
        return Finding("data", "warning", f"{root}: only {free // 1_000_000:,} MB are free")
    return Finding("data", "ok", f"{root}, {free // 1_000_000_000:,} GB free")


def _check_settings() -> tuple[Settings | None, Finding]:
    path = config_path()
    try:
        settings = load_settings(path)
    except AgentTuiError as error:
        return None, Finding("settings", "error", str(error))
    return settings, Finding("settings", "ok", str(path) if path.exists() else f"{path} (none yet)")


def _check_providers(settings: Settings) -> Finding:
    usable = usable_providers(settings)
    chosen = choose_model(settings)
    if chosen is None:
        return Finding(
            "providers", "warning", "none is set up; start agent-tui, or set OPENAI_API_KEY"
        )
    model = chosen.model or next(iter(chosen.provider.models), "the first one that it lists")
    return Finding(
        "providers", "ok", f"{', '.join(usable)}; default: {chosen.provider.name}, {model}"
    )


def _check_mcp(settings: Settings) -> Finding:
    missing = [
        f"{name}: {each.command} is not on PATH"
        for name, each in settings.mcp.servers.items()
        if each.command and each.enabled and shutil.which(each.command) is None
    ]
    if missing:
        return Finding("mcp", "warning", "; ".join(missing))
    count = len(settings.mcp.servers)
    more = "; try them with agent-tui mcp list" if count else ""
    return Finding("mcp", "ok", f"{format_count(count, 'server')}{more}")


def _check_sandbox(settings: Settings) -> Finding:
    """What keeps commands in: with Landlock they can write to .git, whose hooks run outside."""
    chosen = settings.commands
    if chosen.sandbox == "off":
        return Finding("sandbox", "ok", "off, as the settings say")
    match sandbox_of(Confinement(chosen.sandbox, chosen.network)):
        case "bwrap":
            return Finding("sandbox", "ok", "bubblewrap; .git is read-only for commands")
        case "landlock":
            words = "Landlock; commands can write to .git and its hooks: install bubblewrap"
            return Finding("sandbox", "warning", words)
        case "none":
            words = "none; commands can write wherever you can: install bubblewrap"
            return Finding("sandbox", "warning", words)
        case unknown:
            assert_never(unknown)


def _check_tools() -> Iterator[Finding]:
    for name, about in _TOOLS:
        place = shutil.which(name)
        yield Finding(name, "ok" if place else "warning", place or f"not found: {about}")
