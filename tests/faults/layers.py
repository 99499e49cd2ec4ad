"""All layers of the harness, what each proves, and how much each must try in its long form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.faults import (
    cancel_layer,
    creation_layer,
    damage_layer,
    files_layer,
    files_system_layer,
    full_disk_layer,
    fuzz_layer,
    group_layer,
    model_layer,
    power_layer,
    process_layer,
    race_layer,
    sequences_layer,
    shim_layer,
    store_layer,
    strace_layers,
)
from tests.faults.outcome import Effort, Outcome


@dataclass(frozen=True, slots=True)
class Layer:
    """One way of looking for a broken promise.

    Attributes:
        what: what is done.
        proves: what holds when nothing is found.
        goal: the least that the long form must try, by unit; brief: the same for the short form.
        hunts: whether it is tried on every mutant.
    """

    name: str
    run: Callable[[Effort], Outcome]
    what: str
    proves: str
    goal: dict[str, int]
    brief: dict[str, int]
    hunts: bool = True


LAYERS = (
    Layer(
        "shim",
        shim_layer.run,
        "die, tear or fail at every os call of every act",
        "I3-I7, I9, I12, I22: old or new, archives whole, errors in words",
        {"deaths": 400, "torn writes": 100, "errors": 570},
        {"deaths": 400, "torn writes": 100, "errors": 570},
    ),
    Layer(
        "sequences",
        sequences_layer.run,
        "every sequence of acts; die in the last, and again in recovery",
        "I4-I6 in every order",
        {"deaths": 2_300, "double deaths": 5_000},
        {"deaths": 1_000, "double deaths": 1_500},
    ),
    Layer(
        "SIGKILL",
        strace_layers.kill,
        "SIGKILL at every system call of the real process",
        "I1, I4, I5 without a model in between",
        {"kills": 200},
        {"kills": 120},
    ),
    Layer(
        "system errors",
        strace_layers.fail,
        "every system call fails, once and from then on",
        "I3, I22, I23 in the real process",
        {"errors once": 325, "errors from then on": 325},
        {"errors once": 120, "errors from then on": 120},
    ),
    Layer(
        "power cut",
        power_layer.run,
        "every disk that a legal file system may leave after each call",
        "I1 at D1, I4, I5, I23: no acknowledged record is lost",
        {"disks": 800},
        {"disks": 800},
    ),
    Layer(
        "creation",
        creation_layer.run,
        "die or fail at every call of making a session; then the power goes",
        "I1, I4: a session is there whole, or can be made again",
        {"stories": 60, "disks": 30},
        {"stories": 60, "disks": 30},
    ),
    Layer(
        "store",
        store_layer.run,
        "die or fail at every call of delete, undelete, discard, fork, repair, prune; then the"
        " power goes",
        "I1, I3, I4, I6, I22: a session is in one place, whole; a new one complete or not listed",
        {"stories": 1_600, "disks": 300},
        {"stories": 700, "disks": 300},
    ),
    Layer(
        "two windows",
        race_layer.run,
        "one window discards or deletes, another writes; each cut into the other at every call",
        "I1, I18: discard takes no session in which something was said; delete loses nothing",
        {"sessions kept": 7, "interleavings": 4_000, "acknowledged": 700},
        {"sessions kept": 7, "interleavings": 2_000, "acknowledged": 300},
    ),
    Layer(
        "group commit",
        group_layer.run,
        "die, tear or fail at every call of appends of several callers; then the power goes",
        "I1-I3: each caller is told the truth, in its turn, and gets what it asked for",
        {"deaths": 100, "errors": 450, "torn writes": 2_000, "short writes": 2_000, "disks": 400},
        {"deaths": 100, "errors": 300, "torn writes": 150, "short writes": 120, "disks": 400},
    ),
    Layer(
        "size limit",
        full_disk_layer.limit,
        "RLIMIT_FSIZE at every byte that is written",
        "I22: the old state stands, work resumes",
        {"limits": 299},
        {"limits": 299},
    ),
    Layer(
        "tiny disk",
        full_disk_layer.tiny,
        "a tmpfs with few pages and inodes left",
        "I22 on a disk that is really full",
        {"full disks": 108},
        {"full disks": 108},
        hunts=False,
    ),
    Layer(
        "model",
        model_layer.run,
        "random stories with deaths against a model (hypothesis)",
        "I3-I9 together",
        {"stories": 300, "steps": 8_000},
        {"stories": 90, "steps": 2_400},
    ),
    Layer(
        "fuzz",
        fuzz_layer.run,
        "twisted bytes are loaded",
        "I10-I13: never raises, every byte accounted for, every good line read",
        {"inputs": 300_000},
        {"inputs": 8_000},
    ),
    Layer(
        "damaged files",
        damage_layer.run,
        "damaged logs built by hand, and things that are no file",
        "I10-I13, I15-I17, I24",
        {"damaged logs": 50},
        {"damaged logs": 50},
    ),
    Layer(
        "processes",
        process_layer.run,
        "4 writers, 2 lock-free readers, SIGKILL and SIGSTOP",
        "I1, I18-I20: none lost, none out of order",
        {"acknowledged": 1_000},
        {"acknowledged": 300},
    ),
    Layer(
        "signals",
        process_layer.signals,
        "signals at random moments of a process that appends",
        "I1, I27",
        {"SIGTERM": 100, "SIGINT": 100, "SIGHUP": 100, "SIGKILL": 100},
        {"SIGTERM": 20, "SIGINT": 20, "SIGHUP": 20, "SIGKILL": 20},
        hunts=False,
    ),
    Layer(
        "cancelled tasks",
        cancel_layer.run,
        "appends that are cancelled while they wait, write or settle",
        "I28: memory is disk, in order",
        {"cancelled appends": 10_000},
        {"cancelled appends": 10_000},
    ),
    Layer(
        files_layer.LAYER,
        files_layer.run,
        "die, tear or fail at every call of a revert of files, of its recovery, of a capture;"
        " then the power goes",
        "I29, I30",
        {"deaths": 100, "errors": 800, "double deaths": 8_000, "disks": 80, "broken captures": 300},
        {"deaths": 100, "errors": 300, "double deaths": 700, "disks": 80, "broken captures": 80},
        hunts=False,
    ),
    Layer(
        files_system_layer.SYSTEM_LAYER,
        files_system_layer.system_calls,
        "SIGKILL and errors at every system call of a process that reverts or captures files",
        "I29, I30 in the real process",
        {"kills": 200, "errors once": 300, "errors from then on": 300},
        {"kills": 40, "errors once": 40},
        hunts=False,
    ),
    Layer(
        files_system_layer.FULL_LAYER,
        files_system_layer.full_disk,
        "RLIMIT_FSIZE at every byte of a revert or a capture; a tmpfs with few pages and inodes",
        "I29, I30 on a disk that is really full",
        {"limits": 500, "full disks": 200},
        {"limits": 10, "full disks": 60},
        hunts=False,
    ),
)
BY_NAME = {layer.name: layer for layer in LAYERS}
