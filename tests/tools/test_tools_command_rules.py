"""What a pattern allows: no hostile command of a large corpus, nearly all of the benign ones."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from agent_tui.tools.commands.command_rules import allows, command_is_allowed, offer_patterns
from agent_tui.tools.commands.places import Places, find_places
from agent_tui.tools.commands.programs import READERS
from agent_tui.tools.commands.shell_words import Command, read_commands
from tests.tools.hostile_commands import ALLOWED, BENIGN, HOSTILE


def test_no_hostile_command_is_allowed_and_nearly_every_benign_one_is() -> None:
    wrong = [command for command in HOSTILE if command_is_allowed(ALLOWED, command)]
    right = [command for command in BENIGN if command_is_allowed(ALLOWED, command)]
    asked = sorted(set(BENIGN) - set(right))
    print(
        f"commands: {len(HOSTILE)} hostile, {len(wrong)} allowed; "
        f"{len(BENIGN)} benign, {len(right)} allowed"
    )
    assert not wrong
    assert len(HOSTILE) >= 200
    assert len(BENIGN) >= 50
    assert len(right) >= 0.95 * len(BENIGN), asked


@pytest.mark.parametrize(
    ("command", "offers"),
    [
        ("ls /", ("ls *", "ls /")),
        ("git diff --stat", ("git diff *", "git diff --stat")),
        ("pytest -q tests/a.py", ("pytest -q *", "pytest -q tests/a.py")),
        ("git push origin main", ("git push origin main",)),
        ("pip install x", ("pip install x",)),
        ("npm install x", ("npm install x",)),
        ("rm -rf build", ("rm -rf build",)),
        ("git status; rm -rf x", ("git status; rm -rf x",)),
        ("python3 -c 'x'", ("python3 -c 'x'",)),
        ("rm *", ()),
        ("find . -name a", ("find *", "find . -name a")),
        ("find . -delete", ("find . -delete",)),
        ("git log -3 -- src", ("git log *", "git log -3 -- src")),
        ("grep -R foo .", ("grep -R foo .",)),
        ("cat /etc/passwd", ("cat /etc/passwd",)),
        ("pytest -q ../a.py", ("pytest -q ../a.py",)),
    ],
)
def test_only_a_safe_pattern_is_offered(command: str, offers: tuple[str, ...]) -> None:
    assert offer_patterns(command) == offers
    for pattern in offers:
        assert command_is_allowed([pattern], command)


def test_what_is_offered_for_a_command_allows_it() -> None:
    for command in (*BENIGN, *HOSTILE):
        for pattern in offer_patterns(command):
            assert command_is_allowed([pattern], command), (pattern, command)
    assert offer_patterns("cat away", Places(frozenset({"away"}))) == ("cat away",)


def test_moving_inside_of_the_workspace_needs_no_rule_in_front_of_what_reads() -> None:
    assert command_is_allowed(["ls *"], "cd src && ls -la")
    assert command_is_allowed(["ls *", "wc *"], "cd src; ls | wc -l")
    assert offer_patterns("cd src && ls -la") == ("ls *", "cd src && ls -la")
    refused = ["cd src", "cd src && cat a", "cd .. && ls", "cd / && ls", "cd - && ls", "cd && ls",
               "cd src && pytest -q", "cd src && git status", "cd a* && ls"]  # fmt: skip
    assert [c for c in refused if command_is_allowed(["ls *", "pytest -q *", "git *"], c)] == []


def test_a_glob_is_no_word_that_was_allowed_as_it_stood() -> None:
    assert not command_is_allowed(["rm 'a*.o'"], "rm a*.o")
    assert not command_is_allowed(["rm a*.o"], "ls; rm a*.o")
    assert not command_is_allowed(["build --x=a* *"], "build --x=a* b")
    assert command_is_allowed(["rm a*.o"], "rm a*.o")
    assert offer_patterns("wc -l src/*") == ("wc *",)


def test_words_are_read_as_the_shell_reads_them() -> None:
    assert read_commands("git log 'a b' \"c\"d; pwd") == (
        Command(("git", "log", "a b", "cd")),
        Command(("pwd",)),
    )
    assert read_commands("ls | wc -l") == (Command(("ls",)), Command(("wc", "-l"), fed=True))
    assert read_commands("echo $HOME") is None


LEAVING = [
    "cat notes",
    "cat ./notes",
    "cat sub/../notes",
    "cat sub/away/secret",
    "head -n 1 notes",
    "grep canary notes a.txt",
    "grep -rn canary sub/away",
    "wc -l away/secret",
    "sort notes | uniq -c",
    "tail a.txt notes",
    "cd away && ls",
    "cd away && cat secret",
    "cd sub && cat ../notes",
    "cd sub && cat away/secret",
    "cd sub && cd away && cat secret",
    "cd sub; cat up",
    "rg canary away",
    "find away",
    "pytest -q away/test_a.py::test_b",
    "pytest -q twice",
    "diff sub other",
    "diff a.txt notes",
    "cat 'notes'",
    "cat {here}/notes",
    "cat {here}/sub/away/secret",
    "cat {here}/sub/../notes",
    "cat {here}/../outside/secret",
    "cat {here}2/x",
    "grep -rn canary {here}/away",
    "grep --include={here}/../x -rn canary sub",
    "sort a.txt {here}/notes",
    "git diff {here}/a:/etc/passwd",
    "cd {here}/away && cat secret",
    "cd {here}/.. && ls",
    "cd {here}/sub && cd {here}/away && cat secret",
    "cd {here}/sub && git status",
    "cd missing; cat notes",
    "cd a.txt; cat notes",
    "cd sub | cat notes",
    "cd sub && cd deep || cat up",
    "cd a; cd b; cd c; cd d; cat a.txt",
    "cat n*",
    "cat ./n*",
    "cat ./*",
    "wc -l sub/*",
    "wc -l {here}/n*",
    "grep -rn canary s*/a*",
    "grep -rn canary ./*/away",
    "cd sub && cat u*",
    "cd missing; cat n*",
    "cat many/*/*/*",
    "cat odd/x*",
    "cat pipe",
    "wc -l pip*",
    "diff tied other",
    "diff other {here}/tied",
    "diff ot* tied",
    "diff -r deep other",
    "diff -ru other deep",
    "diff --recursive other deep",
    "diff -rq deep/er other",
    "diff -r . other",
    "diff -r other away",
    "cat note?",
    "cat not[er]s",
    "cat ./note?",
    "cat n[!a]tes",
    "wc -l su?/*",
    "cat {here}/note[s]",
    "grep -rn canary s?b/aw[a]y",
    "cd sub && cat u?",
    "cat m[a]ny/?/?",
    "cat od?/x?..",
    "cat pip?",
    "cat lit[e]ral",
    "diff other tie?",
    "diff -r othe[r] dee?",
]
STAYING = [
    "cat a.txt",
    "cat inner",
    "cat sub/b.txt",
    "cd sub && cat b.txt",
    "diff a.txt sub/b.txt",
    "cat missing",
    "pytest -q sub/b.txt::test_b",
    "cd inside && cat b.txt",
    "ls away",
    "cat {here}/a.txt",
    "grep -rn x {here}/other",
    "grep -rn x {here}",
    "wc -l {here}/sub/b.txt a.txt",
    "pytest -q {here}/sub/b.txt::test_b",
    "find {here} -name '*.txt'",
    "cd {here} && git status",
    "cd {here} && python3 -m unittest",
    "cd {here}/sub && cat b.txt",
    "wc -l sub/b*",
    "wc -l {here}/sub/b*",
    "cat a.* sub/b*.txt",
    "cat none/*.txt",
    "cd sub && cat b*",
    "cd missing; cat a.txt",
    "diff other same",
    "diff {here}/other same",
    "diff deep other",
    "diff -r other same",
    "diff -rN {here}/other same",
    "diff -ruN other missing",
    "diff --recursive --brief circle other",
    "cat a.?xt none/?",
    "cat a.[tu]xt",
    "wc -l sub/b?txt",
    "wc -l {here}/sub/[b].txt a.txt",
    "cd sub && cat b.tx?",
]


def test_no_link_of_the_workspace_takes_a_command_out_of_it(tmp_path: Path) -> None:
    workspace, outside = tmp_path / "work", tmp_path / "outside"
    for folder in (workspace / "sub", workspace / "other", outside):
        folder.mkdir(parents=True)
    (outside / "secret").write_text("canary")
    for folder in (workspace / "same", workspace / "tied", workspace / "odd"):
        folder.mkdir()
    (workspace / "other" / "c.txt").write_text("c")
    (workspace / "tied" / "c.txt").symlink_to(outside / "secret")
    (workspace / "odd" / "x=..").touch()
    (workspace / "deep" / "er").mkdir(parents=True)
    (workspace / "deep" / "er" / "c.txt").symlink_to(outside / "secret")
    (workspace / "circle").mkdir()
    (workspace / "circle" / "again").symlink_to(workspace / "circle")
    (workspace / "lit[e]ral").symlink_to(outside / "secret")
    os.mkfifo(workspace / "pipe")
    (workspace / "a.txt").write_text("a")
    (workspace / "sub" / "b.txt").write_text("b")
    links: dict[str, Path | str] = {
        "notes": outside / "secret", "away": outside, "sub/away": outside, "twice": "away",
        "inner": "a.txt", "inside": "sub", "sub/up": "../notes",
    }  # fmt: skip
    for name, target in links.items():
        (workspace / name).symlink_to(target)

    def is_allowed(command: str) -> bool:
        command = command.format(here=workspace)
        return command_is_allowed(ALLOWED, command, find_places(command, workspace))

    assert [each for each in LEAVING if is_allowed(each)] == []
    assert [each for each in STAYING if not is_allowed(each)] == []
    print(f"links: {len(LEAVING)} ways out, 0 allowed; {len(STAYING)} that stay, all allowed")


@pytest.mark.slow
@pytest.mark.parametrize("leaves", [False, True])
def test_folders_may_be_nested_ever_so_deep(tmp_path: Path, leaves: bool) -> None:
    workspace = tmp_path / "work"
    for name in ("other", "deep"):
        (workspace / name).mkdir(parents=True)
    lowest = workspace / "deep" / "/".join("d" * 600)
    lowest.mkdir(parents=True)
    (lowest / "c.txt").symlink_to(tmp_path if leaves else workspace / "other")
    places = find_places("diff -r deep other", workspace)
    assert places.outside == (frozenset({"deep"}) if leaves else frozenset())


def test_what_lies_too_deep_to_be_looked_at_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = tmp_path / "work"
    for folder in (workspace, workspace / "other", workspace / "deep"):
        folder.mkdir()
    monkeypatch.chdir(workspace / "deep")
    for _ in range(16):
        Path("d" * 250).mkdir()
        os.chdir("d" * 250)
    Path("link").symlink_to(tmp_path)
    assert find_places("diff -r deep other", workspace).outside == {"deep"}


@pytest.mark.slow
def test_no_harmless_flag_of_a_known_program_writes_anything(tmp_path: Path) -> None:
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path / "home"), "LC_ALL": "C"}
    folder = tmp_path / "work"
    folder.mkdir()
    for name in ("a.txt", "1"):
        (folder / name).write_text("b\na\na\n")
    kept = {path.name: path.read_bytes() for path in folder.iterdir()}
    tried = 0
    for start, known in READERS.items():
        pattern = " ".join((*start, "*"))
        flags = [f"-{letter}" for letter in known.letters]
        flags += [f"-{word}" for word in known.words.split()]
        flags += [f"--{name}{value}" for name in known.names.split() for value in ("", "=1")]
        for flag in ("", *flags):
            for rest in (("-", "made1"), ("a.txt", "made2"), ("1", "-", "made3")):
                words = (*start, *([flag] if flag else []), *rest)
                if start[0] in ("cd", "git") or not allows(pattern, words):
                    continue
                tried += 1
                try:
                    subprocess.run(
                        words, cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                        capture_output=True, timeout=20, check=False,
                    )  # fmt: skip
                except FileNotFoundError:
                    break  # rg and tree are not everywhere
        assert {path.name: path.read_bytes() for path in folder.iterdir()} == kept, start
    print(f"harmless flags: {tried} commands run, 0 wrote anything")
