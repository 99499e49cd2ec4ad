"""Hooks for every test run: what is slow, the counts of the fault harness, and hypothesis."""

from __future__ import annotations

import gc
import itertools
import os
import signal
import sys
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from tests.faults.summary import pytest_terminal_summary

__all__ = ["pytest_terminal_summary"]

SLOW_FOLDERS = {"attacks", "benchmarks", "e2e", "faults", "mcp", "screenshots", "ui", "workspace"}
"""Folders that run whole programs or count by the thousand: ``-m "not slow"`` leaves them out."""

READ_THE_SOURCE = {"test_architecture.py", "test_words.py"}
"""Modules whose tests all look at the parsed source."""

MEASURED = "benchmarks/"
"""What is measured would slow each other down: one worker alone runs all of it, first."""

LONGEST = (
    "faults/test_faults_layers.py",
    "e2e/test_e2e_hour.py",
    "e2e/test_e2e_killed.py",
    "ui/test_keys_in_order.py::test_a_thousand_keys_at_once_all_act",
    "workspace/test_workspace_both.py::test_both_halves_or_none",
    "e2e/test_e2e_approvals.py",
    "attacks/test_attacks_rows_world.py",
    "attacks/test_attacks_sentences.py",
    "attacks/test_attacks_plain.py",
    "e2e/test_e2e_cancelled.py",
    "importers/test_importers_fuzz.py::test_any_damage",
    "importers/test_importers_registry.py::test_any_content",
    "workspace/test_workspace_mutants.py",
)
"""What takes longest, by the beginning of its name: the others begin with their share of it."""

LAST_TIME = 1_800_000_000
"""January 2027: later than anything happens that a test tells of."""

# A shell's background job ignores the interrupt, and so would every program that is started here.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Without caches each worker would rewrite the assertions of every module and plugin at each start,
# and each process that a test starts would compile the program.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# The theme of a terminal of sixteen colours is another one, whoever runs the tests in such a one.
os.environ["COLORTERM"] = "truecolor"


def pytest_configure(config: pytest.Config) -> None:
    """The quick tests try fewer examples of each law; the whole tries the usual hundred.

    ``--hypothesis-profile=long`` tries a thousand.
    """
    # Imported only now, so that its rewritten modules are kept, too.
    from hypothesis import HealthCheck, settings

    # How fast a machine makes up examples says nothing of what is tested with them.
    settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.register_profile("quick", settings.get_profile("busy"), max_examples=10)
    settings.register_profile("long", settings.get_profile("busy"), max_examples=1_000)
    chosen = config.getoption("--hypothesis-profile", default=None)
    settings.load_profile(chosen or ("quick" if config.option.markexpr == "not slow" else "busy"))


def pytest_xdist_auto_num_workers() -> int:
    """More workers than cores with ``-n auto``: many tests wait for a disk or for a process."""
    return (os.cpu_count() or 1) + 2


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not even import the slow folders for the quick tests: that takes half of their time."""
    if (
        config.option.markexpr != "not slow"
        or config.args_source is not pytest.Config.ArgsSource.TESTPATHS
    ):
        return None
    here = Path(__file__).parent
    return True if collection_path.parent == here and collection_path.name in SLOW_FOLDERS else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what lies in a slow folder; a module elsewhere says so itself with ``pytestmark``."""
    here = Path(__file__).parent
    for item in items:
        if item.path.relative_to(here).parts[0] in SLOW_FOLDERS:
            item.add_marker(pytest.mark.slow)
    # One worker alone parses the whole source.
    items.sort(key=lambda item: item.path.name not in READ_THE_SOURCE)
    if hands := int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "0")):
        items[:] = deal(items, hands)


def deal(items: list[pytest.Item], hands: int) -> list[pytest.Item]:
    """The items in such an order that each of so many equal parts begins with its long ones."""
    names = {item: item.nodeid.partition("tests/")[2] for item in items}
    measured = [item for item in items if names[item].startswith(MEASURED)]
    ranks = {item: _rank(names[item]) for item in items if item not in set(measured)}
    long = sorted((item for item in ranks if ranks[item] < len(LONGEST)), key=ranks.__getitem__)
    rest = (item for item in ranks if ranks[item] == len(LONGEST))
    firsts = [measured, *(long[hand :: hands - 1] for hand in range(hands - 1))]
    dealt: list[pytest.Item] = []
    for hand, first in enumerate(firsts if hands > 1 else [[*measured, *long]]):
        share = (len(items) - len(dealt)) // (hands - hand)
        dealt += [*first, *itertools.islice(rest, max(0, share - len(first)))]
    return [*dealt, *rest]


def _rank(name: str) -> int:
    """The place of a test among the longest; behind all of them for any other."""
    return next((at for at, one in enumerate(LONGEST) if name.startswith(one)), len(LONGEST))


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """What was collected stays to the end: no collector of garbage need look at it again."""
    gc.freeze()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport() -> Generator[None, Any, Any]:
    """No garbage is collected while a failure is put into words, or one failure ends every run.

    Words come by way of ``ast.parse``, and in Python 3.11 that ends with a SystemError, which
    pytest takes for its own, where a finalizer in the middle of it formats a traceback.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        return (yield)
    finally:
        if was_enabled:
            gc.enable()


@pytest.fixture(autouse=True)
def _keys_of_this_test_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key that one test took from the environment is not there for the next."""
    monkeypatch.setattr("agent_tui.providers.environment._taken", {})


@pytest.fixture(autouse=True)
def _times_of_tests_are_no_future(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests tell of days that the machine's clock may not have reached."""
    monkeypatch.setattr("agent_tui.core.times._clock", lambda: max(time.time(), LAST_TIME))


@pytest.fixture(autouse=True)
def _no_sessions_of_other_agents(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """What the machine's user does with other agents is not listed in a test."""
    monkeypatch.setenv("HOME", str(tmp_path_factory.getbasetemp() / "no-home"))
