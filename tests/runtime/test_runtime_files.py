"""Files after ``@``: found by a few letters, ignored ones left out, whatever the number."""

from __future__ import annotations

import subprocess
from pathlib import Path

from agent_tui.runtime.starting.completion import FileList, list_files, rank_paths


def write(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", str(folder), *arguments], check=True, capture_output=True)


def test_what_git_ignores_is_not_offered(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    write(tmp_path, "src/report.py", "build/report.o", "notes.md")
    (tmp_path / ".gitignore").write_text("build/\n*.log\n")
    write(tmp_path, "trace.log")
    assert list_files(tmp_path) == [".gitignore", "notes.md", "src/", "src/report.py"]


def test_without_git_machinery_is_left_out(tmp_path: Path) -> None:
    write(tmp_path, "a.py", "node_modules/b.js", "lib/c.py")
    assert set(list_files(tmp_path)) == {"a.py", "lib/", "lib/c.py"}


def test_a_repository_cannot_have_a_program_of_its_own_run(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    write(tmp_path, "a.py")
    script = tmp_path / "evil.sh"
    script.write_text(f"#!/bin/sh\ntouch {tmp_path / 'PWNED'}\n")
    script.chmod(0o755)
    git(tmp_path, "config", "core.fsmonitor", str(script))
    assert "a.py" in list_files(tmp_path)
    assert not (tmp_path / "PWNED").exists()


def test_letters_that_fit_a_name_come_before_those_that_fit_a_path() -> None:
    paths = ["docs/report/index.md", "src/my_report.py", "src/report.py", "src/rare/export.py"]
    ranked = rank_paths("report", paths, paths, 10)
    assert ranked[:3] == ["src/report.py", "src/my_report.py", "docs/report/index.md"]
    assert rank_paths("srep", paths, paths, 10)[0] == "src/report.py"
    assert rank_paths("zzz", paths, paths, 10) == []


def test_a_hundred_thousand_files_are_all_searched(tmp_path: Path) -> None:
    paths = [f"package_{n % 500}/module_{n}.py" for n in range(100_000)]
    found = rank_paths("module_99999", paths, paths, 50)
    assert found == ["package_499/module_99999.py"]
    files = FileList(tmp_path)
    write(tmp_path, "one.py", "sub/two.py")
    assert files.matching("") == ["sub/", "one.py"]
    assert files.matching("two") == ["sub/two.py"]
