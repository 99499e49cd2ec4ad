"""Which commands a pattern such as ``git diff *`` allows: known programs with harmless flags.

A pattern is the words with which a command begins. The words behind them may be any that name
something inside the workspace; flags only those that stand in the pattern, or that are known here
to change nothing. Programs that run other programs, or whose words are code, are allowed only word
for word.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from agent_tui.core.dataclass import dataclass
from agent_tui.tools.shell_words import Words, read_commands

ANYTHING = "*"


@dataclass(frozen=True, slots=True)
class _Known:
    """A program that only reads: its harmless flags, and whether it may look outside."""

    letters: str = ""
    names: str = ""
    anywhere: bool = False
    most_words: int = 1_000


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


# fmt: off
_READERS: dict[Words, _Known] = {
    ("ls",): _Known(
        "aAbBcCdfFghHiklLmnNopqQrRsStTuUvwxX1Z",
        "all almost-all author classify color directory full-time group-directories-first "
        "human-readable inode numeric-uid-gid recursive reverse size sort time",
        anywhere=True,
    ),
    ("cd",): _Known(most_words=1),
    ("pwd",): _Known("LP", anywhere=True),
    ("cat",): _Known("AbeEnstTuv", "number number-nonblank show-all squeeze-blank"),
    ("head",): _Known("cnqvz", "bytes lines quiet silent verbose"),
    ("tail",): _Known("cnqvz", "bytes lines quiet silent verbose"),
    ("wc",): _Known("clLmw", "bytes chars lines max-line-length words"),
    ("nl",): _Known("bdfhilnpsvw"),
    ("echo",): _Known("neE", anywhere=True),
    ("true",): _Known(),
    ("basename",): _Known("as", anywhere=True),
    ("dirname",): _Known("z", anywhere=True),
    ("which",): _Known("a", anywhere=True),
    ("stat",): _Known("cfLt", "format printf terse"),
    ("file",): _Known("bhikLz", "brief mime mime-type"),
    ("du",): _Known("abcdhklmsSx", "all bytes human-readable max-depth summarize total"),
    ("df",): _Known("ahHiklPT", "all human-readable", anywhere=True),
    ("uname",): _Known("amnoprsv", "all", anywhere=True),
    ("whoami",): _Known(anywhere=True),
    ("grep",): _Known(
        "abcCdDeEFGhHiIlLmnoqrRsvwxyzABP",
        "after-context before-context color context count exclude exclude-dir extended-regexp "
        "files-with-matches files-without-match fixed-strings ignore-case include invert-match "
        "line-number max-count no-filename only-matching quiet recursive word-regexp",
    ),
    ("rg",): _Known(
        "aABCcFghHiIjlLMmnNoPqrsStTUuvVwx",
        "after-context before-context case-sensitive color context count files "
        "files-with-matches fixed-strings glob hidden ignore-case line-number max-count "
        "multiline no-heading no-ignore sort type word-regexp",
    ),
    ("diff",): _Known(
        "abBCcdeEiInpqrstTuUwWyZ", "brief color ignore-all-space recursive stat unified"
    ),
    ("cut",): _Known("bcdfns", "delimiter fields"),
    ("sort",): _Known("bcCdfghiknRrstuVz", "numeric-sort reverse unique"),
    ("uniq",): _Known("cdDfisuwz", "count repeated unique", most_words=1),
    ("tr",): _Known("cCdst"),
    ("comm",): _Known("123z"),
    ("cmp",): _Known("bils"),
    ("md5sum",): _Known("bt"),
    ("sha256sum",): _Known("bt"),
    ("tree",): _Known("adfhiLpsugDF", "dirsfirst noreport"),
    ("find",): _Known(),
    ("git", "status"): _Known(
        "bsuvz", "branch ignored long porcelain short show-stash untracked-files verbose"
    ),
    ("git", "diff"): _Known(
        "abDMprsuUwzS",
        "cached check color color-words diff-filter exit-code find-renames ignore-all-space "
        "minimal name-only name-status no-color no-ext-diff no-renames numstat patch quiet "
        "shortstat staged stat summary unified word-diff",
    ),
    ("git", "log"): _Known(
        "aciLnpSGuU",
        "abbrev-commit after all all-match author before branches cc color date decorate "
        "first-parent follow format graph grep max-count merges name-only name-status no-color "
        "no-decorate no-merges numstat oneline patch pretty reverse shortstat since skip stat "
        "tags topo-order until",
    ),
    ("git", "show"): _Known(
        "psuU", "abbrev-commit color format name-only name-status no-color no-patch numstat "
        "oneline patch pretty shortstat stat unified",
    ),
    ("git", "blame"): _Known("beLMCwsfn", "date porcelain"),
    ("git", "ls-files"): _Known(
        "cdmoistuz", "cached deleted exclude-standard full-name modified others stage"
    ),
    ("git", "rev-parse"): _Known("", "abbrev-ref git-dir is-inside-work-tree short show-toplevel"),
    ("git", "describe"): _Known("", "abbrev all always dirty exact-match long tags"),
    ("git", "shortlog"): _Known("ensc", "email numbered summary"),
}
"""Keyed by the first words; the flags that are named change nothing and run nothing."""

_RUNNERS = _names(
    "ash awk bash bun busybox builtin chroot command csh curl dash dd deno docker doas "
    "emacs env eval exec fish flock gawk gdb ionice kill ksh kubectl ld less lua m4 make "
    "man mawk more mksh mv nano nc nice node nohup nsenter ocaml open osascript parallel "
    "perl php pkexec podman powershell pwsh python python2 python3 rm rsync ruby run0 "
    "runuser scp screen script sed setsid sftp sh shred socat source sqlite3 ssh stdbuf "
    "strace su sudo systemctl systemd-run tar taskset tclsh tee telnet time timeout tmux "
    "trap truncate unlink unshare vi view vim watch wget xargs xdg-open zip zsh . ed ex "
    "expect chmod chown cp ln install rmdir find crontab at batch alias unalias set export "
    "declare printf read mount umount iptables reboot shutdown halt bpftrace bwrap chpst "
    "entr fakeroot npx pnpx uvx pipx pushd popd java jshell groovy scala swift runghc erl "
    "elixir iex julia rscript dart racket guile sbcl clojure octave gnuplot nodejs ts-node tsx "
    "pypy ipython nu elvish xonsh tcsh rbash nvim gvim vimdiff emacsclient toybox hyperfine "
    "watchexec nodemon just valgrind ltrace perf setarch numactl chrt prlimit sg newgrp unbuffer "
    "rlwrap xterm faketime xvfb-run dbus-run-session firejail caffeinate ssh-agent enable hash "
    "gtimeout genv gxargs gfind mpirun wine rake psql mysql"
)
"""Programs that run others, whose words are code, or that destroy: never by a wide pattern."""
_INSTALLERS = _names(
    "pip pip3 uv gem brew apt apt-get dnf yum pacman conda poetry nix"
)
_ACTING = _names(
    "add apply clean create delete destroy dlx exec get i init install link login merge "
    "prune publish purge push release remove rm rollback uninstall update upgrade x"
)
"""Subcommands that fetch, change or run what their words name."""
# fmt: on

_ENDINGS = {"python3": "-m pytest", "python": "-m pytest", "make": "test", "git": "fetch"}

_VERSION = re.compile(r"[\d.-]+$")
_ASKS_GNUPG = re.compile(r"%[-+ ]?G")
_SUBCOMMAND = re.compile(r"[a-z][a-z0-9:_-]*")
_OUTSIDE = re.compile(r"(?:^|[=:,@])(?:/|~)|(?:^|/|[=:,@])\.\.(?:/|$)|^[A-Za-z]+://")


def offer_patterns(command: str) -> tuple[str, ...]:
    """What could be allowed for a command: the widest pattern that is safe, then word for word.

    Nothing for one that would read like a pattern.
    """
    if command.endswith(ANYTHING):
        return ()
    commands = read_commands(command)
    exact = " ".join(command.split("\n")).strip()
    if commands is None or len(commands) != 1:
        return (command,)
    wide = _widen(commands[0])
    return (wide, command) if wide and wide != exact else (command,)


def _widen(words: Words) -> str:
    known = _known(words)
    if known is not None:
        return " ".join((*known[0], ANYTHING))
    if _only_word_for_word(words):
        return ""
    start = [words[0]]
    for word in words[1:3]:
        if not _SUBCOMMAND.fullmatch(word):
            break
        start.append(word)
    flags = [word for word in words[len(start) :] if word.startswith("-")]
    return " ".join((*start, *dict.fromkeys(flags), ANYTHING))


def allows(pattern: str, words: Words) -> bool:
    """Whether a pattern allows a simple command."""
    parts = pattern.split()
    if not parts or parts[-1] != ANYTHING:
        return False
    start = tuple(part for part in parts[:-1] if not part.startswith("-"))
    flags = {part for part in parts[:-1] if part.startswith("-")}
    if not start or words[: len(start)] != start:
        return False
    known = _known(words)
    if known is None and _only_word_for_word(words):
        return False
    rest = words[len(start) :]
    harmless = known[1] if known is not None else _Known()
    if words[0] == "cd" and (len(words) != 2 or words[1].startswith("-")):
        return False  # home, or where it came from
    if known is None and any(word.startswith("@") for word in rest):
        return False  # many programs read more words, flags too, from the file behind @
    if any(_ASKS_GNUPG.search(word) for word in rest):
        return False  # git runs the program that its settings name
    if sum(not word.startswith("-") for word in rest) > harmless.most_words:
        return False
    return all(_is_harmless(word, flags, harmless) for word in rest)


def pattern_mistake(pattern: str) -> str:
    """Why a pattern can never allow a command, and what would; empty when it can."""
    *start, last = pattern.split()
    if not last.endswith(ANYTHING):
        return ""
    if not start or last != ANYTHING:
        whole = "run_command alone allows every command"
        return f"* must be a word of its own, the last one, as in run_command(git diff *); {whole}."
    words = tuple(start)
    names = tuple(word for word in start if not word.startswith("-"))
    if read_commands(" ".join(start)) != (words,):
        return "only plain words can stand before *, as in run_command(git diff *)."
    begins_reader = names in {known[: len(names)] for known in _READERS}
    if not begins_reader and _known(words) is None and _only_word_for_word(words):
        return (
            f"{' '.join(words)} can run or change anything, so it is allowed only word for word, "
            f"as in run_command({_example(words)})."
        )
    if not names or words[: len(names)] != names:
        return "its words come first and its flags behind them, as in run_command(ls -la *)."
    return ""


def _example(words: Words) -> str:
    """A whole command that begins so."""
    return " ".join(words if len(words) > 1 else (*words, _ENDINGS.get(words[0], "ARGUMENTS")))


def command_is_allowed(patterns: Sequence[str], command: str) -> bool:
    """Whether every simple command of a line is allowed, or the line is, word for word."""
    if not command.endswith(ANYTHING) and command in patterns:
        return True
    commands = read_commands(command)
    if commands is None or _runs_git_elsewhere(commands):
        return False
    exact = [read_commands(pattern) for pattern in patterns if not pattern.endswith(ANYTHING)]
    return all(
        (words,) in exact or any(allows(pattern, words) for pattern in patterns)
        for words in commands
    )


def _runs_git_elsewhere(commands: Sequence[Words]) -> bool:
    """Whether git would run in another folder, which may be a repository with programs to run."""
    programs = {words[0] for words in commands}
    return bool(programs & {"cd", "pushd", "popd"}) and "git" in programs


def _known(words: Words) -> tuple[Words, _Known] | None:
    for length in (2, 1):
        start = words[:length]
        if start in _READERS:
            return start, _READERS[start]
    return None


def _only_word_for_word(words: Words) -> bool:
    program = words[0]
    acting = any(word in _ACTING for word in words[1:3])
    plain = _VERSION.sub("", program.lower())
    runs = bool({program, plain} & (_RUNNERS | _INSTALLERS | {"git"}))
    return runs or "/" in program or acting


def _is_harmless(word: str, flags: set[str], known: _Known) -> bool:
    if not word.startswith("-") or word in ("-", "--"):
        return word != "--" and (known.anywhere or not _OUTSIDE.search(word))
    if word in flags:
        return True
    if word.startswith("--"):
        name, _, value = word[2:].partition("=")
        return name in known.names.split() and (known.anywhere or not _OUTSIDE.search(value))
    letters = word[1:].rstrip("0123456789")
    return all(letter in known.letters for letter in letters) and bool(letters or known.letters)
