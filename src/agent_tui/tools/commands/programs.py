"""What is known of programs: which only read, and with which flags; which can run anything."""

from __future__ import annotations

from agent_tui.core.dataclass import dataclass
from agent_tui.tools.commands.shell_words import Words


@dataclass(frozen=True, slots=True)
class Known:
    """A program that only reads: its harmless flags, and whether it may look outside.

    Attributes:
        letters: its harmless flags of one letter.
        names: the long ones.
        words: those of several letters behind one dash.
        anywhere: whether it may name what lies outside of the workspace.
        most_words: how many words it may be given besides flags; more would be written to.
        deep: flags with which it follows the links in folders: harmless only where ``Places``
            knows where they lead.
    """

    letters: str = ""
    names: str = ""
    words: str = ""
    anywhere: bool = False
    most_words: int = 1_000
    deep: str = ""


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


# fmt: off
READERS: dict[Words, Known] = {
    ("ls",): Known(
        "aAbBcCdfFghHiklLmnNopqQrRsStTuUvwxX1Z",
        "all almost-all author classify color directory full-time group-directories-first "
        "human-readable inode numeric-uid-gid recursive reverse size sort time",
        anywhere=True,
    ),
    ("cd",): Known(most_words=1),
    ("pwd",): Known("LP", anywhere=True),
    ("cat",): Known("AbeEnstTuv", "number number-nonblank show-all squeeze-blank"),
    ("head",): Known("cnqvz", "bytes lines quiet silent verbose"),
    ("tail",): Known("cnqvz", "bytes lines quiet silent verbose"),
    ("wc",): Known("clLmw", "bytes chars lines max-line-length words"),
    ("nl",): Known("bdfhilnpsvw"),
    ("echo",): Known("neE", anywhere=True),
    ("true",): Known(),
    ("basename",): Known("as", anywhere=True),
    ("dirname",): Known("z", anywhere=True),
    ("which",): Known("a", anywhere=True),
    ("stat",): Known("cfLt", "format printf terse"),
    ("file",): Known("bhikLz", "brief mime mime-type"),
    ("du",): Known("abcdhklmsSx", "all bytes human-readable max-depth summarize total"),
    ("df",): Known("ahHiklPT", "all human-readable", anywhere=True),
    ("uname",): Known("amnoprsv", "all", anywhere=True),
    ("whoami",): Known(anywhere=True),
    ("grep",): Known(
        "abcCdDeEFGhHiIlLmnoqrsvwxyzABP",
        "after-context before-context color context count exclude exclude-dir extended-regexp "
        "files-with-matches files-without-match fixed-strings ignore-case include invert-match "
        "line-number max-count no-filename only-matching quiet recursive word-regexp",
    ),
    ("rg",): Known(
        "aABCcFghHiIjlMmnNoPqrsStTUuvVwx",
        "after-context before-context case-sensitive color context count files "
        "files-with-matches fixed-strings glob hidden ignore-case line-number max-count "
        "multiline no-heading no-ignore sort type word-regexp",
    ),
    ("diff",): Known(
        "abBCcdeEiInNpqstTuUwWyZ", "brief color ignore-all-space new-file stat unified",
        deep="r recursive",
    ),
    ("cut",): Known("bcdfns", "delimiter fields"),
    ("sort",): Known("bcCdfghiknRrstuVz", "numeric-sort reverse unique"),
    ("uniq",): Known("cdDfisuwz", "count repeated unique", most_words=1),
    ("tr",): Known("cCdst"),
    ("comm",): Known("123z"),
    ("cmp",): Known("bils"),
    ("md5sum",): Known("bt"),
    ("sha256sum",): Known("bt"),
    ("tree",): Known("adfhiLpsugDF", "dirsfirst noreport"),
    ("find",): Known(
        "P",
        words="a amin and atime cmin ctime daystart depth empty false group iname ipath iregex "
        "links ls maxdepth mindepth mmin mount mtime name newer not nouser o or path perm print "
        "print0 prune quit readable regex regextype size true type user xdev",
    ),
    ("git", "status"): Known(
        "bsuvz", "branch ignored long porcelain short show-stash untracked-files verbose"
    ),
    ("git", "diff"): Known(
        "abDMprsuUwzS",
        "cached check color color-words diff-filter exit-code find-renames ignore-all-space "
        "minimal name-only name-status no-color no-ext-diff no-renames numstat patch quiet "
        "shortstat staged stat summary unified word-diff",
    ),
    ("git", "log"): Known(
        "aciLnpSGuU",
        "abbrev-commit after all all-match author before branches cc color date decorate "
        "first-parent follow format graph grep max-count merges name-only name-status no-color "
        "no-decorate no-merges numstat oneline patch pretty reverse shortstat since skip stat "
        "tags topo-order until",
    ),
    ("git", "show"): Known(
        "psuU", "abbrev-commit color format name-only name-status no-color no-patch numstat "
        "oneline patch pretty shortstat stat unified",
    ),
    ("git", "blame"): Known("beLMCwsfn", "date porcelain"),
    ("git", "ls-files"): Known(
        "cdmoistuz", "cached deleted exclude-standard full-name modified others stage"
    ),
    ("git", "rev-parse"): Known("", "abbrev-ref git-dir is-inside-work-tree short show-toplevel"),
    ("git", "describe"): Known("", "abbrev all always dirty exact-match long tags"),
    ("git", "shortlog"): Known("ensc", "email numbered summary"),
}
"""Keyed by the first words; the flags that are named change nothing and run nothing.

Nor do they follow links that are met in folders, which may lead outside; only ``diff`` does, so
that what it reads is looked through before.
"""

RUNNERS = _names(
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
    "gtimeout genv gxargs gfind mpirun wine rake psql mysql "
    "chronic ifne pee lckdo mispipe vipe ts sponge sshpass autossh mosh gosu su-exec setpriv capsh "
    "choom cpulimit cgexec uclampset softlimit envdir setuidgid envuidgid start-stop-daemon tini "
    "dumb-init catchsegv eatmydata proot fakechroot torsocks tsocks proxychains apptainer "
    "singularity nerdctl ctr crictl systemd-nspawn systemd-inhibit machinectl busctl gdbus "
    "cross-env env-cmd dotenv direnv concurrently npm-run-all run-s run-p lint-staged onchange pm2 "
    "forever honcho foreman goreman supervisord fd fdfind fzf sk rush xe sem apply dc tcc cling "
    "coffee qjs gjs rhino phantomjs electron wish scheme csi gsi clisp ecl ccl abcl fennel janet "
    "hy bb lein amm kotlin ghc swipl prolog maxima gp sage gap r forth gforth rexx sqlite mongo "
    "mongosh redis-cli duckdb cqlsh isql sqlplus lftp ftp ncat netcat tcpdump nmap mail mutt mailx "
    "rvim rview joe jed kak hx mc ranger gnuplot coverage pdb pydoc uwsgi gunicorn uvicorn flask "
    "ansible ansible-playbook puppet salt invoke inv fab doit scons waf nox tox patch split csplit "
    "rename gzip gunzip bzip2 bunzip2 xz unxz zstd 7z unrar cpio ar sendmail wall "
    "write kexec insmod modprobe sysctl swapoff mkfs fdisk parted wipefs losetup nft"
)
"""Programs that run others, whose words are code, or that destroy: never by a wide pattern."""
INSTALLERS = _names(
    "pip pip3 uv gem brew apt apt-get dnf yum pacman conda poetry nix"
)
ACTING = _names(
    "add apply clean create delete destroy dlx exec get i init install link login merge "
    "prune publish purge push release remove reset restore revert rm rollback set sync uninstall "
    "update upgrade upload x deploy drop eval unset"
)
"""Subcommands that fetch, change or run what their words name."""
# fmt: on
