"""Deliberate bugs, those that others have shipped among them: a test turns red for each."""

from __future__ import annotations

import asyncio
import collections
import contextlib
import errno
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest.mock import ANY

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from agent_tui.agent import workspace_watch
from agent_tui.core import file_changes
from agent_tui.core.file_changes import FileState, LeftOut
from agent_tui.core.revert_plan import PathPlan
from agent_tui.mcp.borrowed_tool import BorrowedTool
from agent_tui.runtime.files import change_groups, session_files, watching
from agent_tui.tools.task import Task
from agent_tui.workspace import (
    capture,
    folder_names,
    folders,
    git,
    git_doubt,
    git_listing,
    git_scan,
    merge,
    oids,
    patches,
    places,
    placing,
    plain_scan,
    plan,
    reading,
    recent,
    renaming,
    restore,
    seed,
    store,
    trimming,
)
from agent_tui.workspace.origins import ScannedRepository
from agent_tui.workspace.scanning import Sight
from agent_tui.workspace.timeline import FileTimeline, build_timeline
from tests.faults import files_layer
from tests.faults.hunt import scratch_folder
from tests.faults.outcome import Effort, Outcome
from tests.mcp import test_mcp_tools as borrowed
from tests.workspace import test_workspace_bad_input as bad_input
from tests.workspace import test_workspace_births as births_tests
from tests.workspace import test_workspace_both as both
from tests.workspace import test_workspace_capture as captures
from tests.workspace import test_workspace_listing as listings
from tests.workspace import test_workspace_model as model
from tests.workspace import test_workspace_origins as replacing
from tests.workspace import test_workspace_patches as patch_tests
from tests.workspace import test_workspace_renaming as renamings
from tests.workspace import test_workspace_revert as reverts
from tests.workspace import test_workspace_seed as seeds
from tests.workspace import test_workspace_session as sessions
from tests.workspace import test_workspace_store as stores
from tests.workspace.promises import PROMISES
from tests.workspace.yard import Yard

Patch = AbstractContextManager[None]


@contextlib.contextmanager
def replaced(*changes: tuple[Any, str, Any]) -> Iterator[None]:
    """Put something in the place of attributes for a while."""
    with pytest.MonkeyPatch.context() as patch:
        for target, name, value in changes:
            patch.setattr(target, name, value)
        yield


def nothing(*_: Any, **__: Any) -> None:
    """Do nothing."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """A bug, and the test that notices it."""

    name: str
    patch: Callable[[], Patch]
    test: Callable[[Path], None]


def of_yard(test: Callable[[Yard], None], *, with_git: bool = True) -> Callable[[Path], None]:
    return lambda folder: test(Yard(folder / "yard", with_git=with_git))


def of_make(test: Callable[..., None], *more: Any) -> Callable[[Path], None]:
    def run(folder: Path) -> None:
        made: list[int] = []

        def make(**options: Any) -> Yard:
            made.append(1)
            return Yard(folder / f"yard{len(made)}", **options)

        test(make, *more)

    return run


def failing_git(folder: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        make = lambda **options: Yard(folder / "yard", **options)  # noqa: E731
        captures.test_a_failing_git_gives_no_answer_rather_than_the_last_one(make, patch, folder)


def harness(_folder: Path) -> None:
    with scratch_folder() as scratch:
        outcome = files_layer.run(Effort(scratch, first_only=True))
    assert not outcome.findings


def cut_reverts(_folder: Path) -> None:
    outcome = Outcome("reverts")
    with scratch_folder() as scratch:
        place = files_layer.Place(scratch / "place")
        place.prepare(scratch)
        effort = Effort(scratch, first_only=True)
        files_layer.cut_power_of_reverts(place, effort, outcome)
    assert not outcome.findings


def cut_captures(_folder: Path) -> None:
    outcome = Outcome("captures")
    with scratch_folder() as scratch:
        files_layer.cut_power_of_captures(Effort(scratch, first_only=True), outcome)
    assert not outcome.findings


def outside(folder: Path) -> None:
    reverts.test_a_path_of_a_log_that_leaves_the_workspace_is_refused(Yard(folder / "yard"), "../x")


def swapped(folder: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        yard = Yard(folder / "yard")
        reverts.test_a_link_that_is_swapped_in_during_the_restore_is_not_followed(yard, patch)


def between_halves(folder: Path) -> None:
    asyncio.run(both.test_a_death_between_the_halves_is_finished_at_the_next_start(folder))


def killed_stories(_folder: Path) -> None:
    """Stories of little else than edits and deaths."""
    steps = [st.tuples(st.just("shell"), model.FILE, model.LINES)]
    steps += [st.tuples(st.just("kill"), model.FILE, st.integers(1, 160))] * 3
    tell_stories(st.one_of(steps))


def stories(_folder: Path) -> None:
    tell_stories(model.STEPS)


def tell_stories(steps: st.SearchStrategy[tuple[str, str, int]]) -> None:
    tell = given(st.lists(steps, min_size=4, max_size=16))
    quick = settings(
        max_examples=150,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    story = model.test_the_persons_changes_stay_and_the_agents_go
    quick(tell(story.hypothesis.inner_test))()  # type: ignore[attr-defined]  # set by @given


def one_undo(folder: Path) -> None:
    asyncio.run(both.test_one_undo_and_one_redo_move_both(folder))


def saved_late(folder: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        reverts.test_a_file_that_is_saved_just_before_the_rename_is_kept(
            Yard(folder / "yard"), patch
        )


def of_folders(test: Callable[[Yard, pytest.MonkeyPatch], None]) -> Callable[[Path], None]:
    def run(folder: Path) -> None:
        with pytest.MonkeyPatch.context() as patch:
            test(Yard(folder / "yard"), patch)

    return run


def of_crash(test: Callable[..., None], *more: Any) -> Callable[[Path], None]:
    def run(folder: Path) -> None:
        with pytest.MonkeyPatch.context() as patch:
            test(Yard(folder / "yard"), patch, *more)

    return run


def of_saved(test: Callable[..., None], *more: Any) -> Callable[[Path], None]:
    def run(folder: Path) -> None:
        with pytest.MonkeyPatch.context() as patch:
            test(renamings.edited(folder), patch, *more)

    return run


def of_created(test: Callable[..., None], *more: str) -> Callable[[Path], None]:
    def run(folder: Path) -> None:
        with pytest.MonkeyPatch.context() as patch:
            test(folder, patch, *more)

    return run


def tick(_folder: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        births_tests.test_a_tick_is_waited_for(patch)


def take_away_unseen(name: str, folder: int, aside: str, staging: int) -> bool:
    """As before names could be moved aside: the moment of the test, and then it is unlinked."""
    with replaced((renaming, "_library", lambda: None)):
        renaming.rename_at(folder, name, staging, aside, renaming._NOREPLACE)
    return False


def give_back_once() -> Patch:
    """What comes out when a saved file is given back is not looked at."""

    def give_back(spot: placing.Spot, ours: FileState | None) -> None:
        renaming.put_in_place(
            spot.staged, spot.staging, spot.name, spot.folder, exchange=ours is not None
        )

    return replaced((placing.Spot, "give_back", give_back))


def every_folder_is_new() -> Patch:
    """Those that were there before count as well, whoever made them."""

    def around(path: str, _: object) -> list[str]:
        return [str(each) for each in list(Path(path).parents)[:-1]]

    same = lambda _, made: collections.defaultdict(lambda: (0, 0), made)  # noqa: E731
    return replaced(
        (plan, "new_folders_around", around),
        (plan, "_same_folders", same),
        (restore, "identity_of", lambda *_: (0, 0)),
    )


def call_all_changes_the_agents() -> Patch:
    real = change_groups.describe_changes

    def describe(*told: Any) -> Any:
        return [replace(each, cause="tool_call") for each in real(*told)]

    return replaced((session_files, "describe_changes", describe))


def trust_the_name_of_a_folder() -> Patch:
    """Whatever has the name of a folder that the agent made is that folder."""
    return replaced(
        (plan, "_same_folders", lambda _, made: dict.fromkeys(made, (1, 1))),
        (restore, "identity_of", lambda *_: (1, 1)),
        (folder_names, "is_made_since", lambda *_: False),
        (plain_scan, "is_made_since", lambda *_: False),
    )


def trust_the_name_since_the_preview() -> Patch:
    real = restore._folders_that_go

    def going(actions: Any) -> dict[str, tuple[int, int]]:
        return dict.fromkeys(real(actions), (1, 1))

    return replaced(
        (restore, "_folders_that_go", going), (restore, "identity_of", lambda *_: (1, 1))
    )


def never_the_persons() -> Patch:
    real = plan._folders_made

    def made(taken: Any, causes: frozenset[str]) -> Any:
        return real([each for each in taken if each.cause in causes], causes)

    return replaced(
        (plan, "_folders_made", made),
        (plan, "_same_folders", lambda _, made: dict.fromkeys(made, (1, 1))),
        (restore, "identity_of", lambda *_: (1, 1)),
    )


def rename_over_everything() -> Patch:
    def put(staged: str, staging: int, name: str, folder: int, *, exchange: bool) -> bool:
        flags = renaming._EXCHANGE if exchange else renaming._NOREPLACE
        with replaced((renaming, "_library", lambda: None)):
            renaming.rename_at(staging, staged, folder, name, flags)  # the moment of the test
        os.rename(staged, name, src_dir_fd=staging, dst_dir_fd=folder)
        return False

    return replaced((placing, "put_in_place", put))


def of_session(test: Callable[[Path], Any]) -> Callable[[Path], None]:
    return lambda folder: asyncio.run(test(folder))


def of_patched_session(test: Callable[..., Any]) -> Callable[[Path], None]:
    def run(folder: Path) -> None:
        with pytest.MonkeyPatch.context() as patch:
            asyncio.run(test(folder, patch))

    return run


def of_disk(test: Callable[..., None], *, with_git: bool = True) -> Callable[[Path], None]:
    def run(folder: Path) -> None:
        with pytest.MonkeyPatch.context() as patch:
            test(lambda **options: Yard(folder / "yard", **options), patch, with_git)

    return run


def of_tmp(test: Callable[..., None], *more: Any) -> Callable[[Path], None]:
    return lambda folder: test(folder, *more)


def of_listing(test: Callable[..., None], *more: Any) -> Callable[[Path], None]:
    """A test of the listing, that takes a yard with a commit; and whatever else it asks for."""

    def run(folder: Path) -> None:
        yard = listings.committed(folder)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(folder_names, "_SURE_NS", int(listings.SURE_SECONDS * 1e9))
            patch.setattr(folder_names, "keeps_folder_times", lambda _: True)
            test(yard, *(more or (patch,)))

    return run


def see_edit_tools_alone() -> Patch:
    """Claude Code: what a shell command changes is not captured."""
    real = workspace_watch.WorkspaceWatch.around

    def around(self: Any, call: Any, *args: Any, **options: Any) -> Any:
        if call.name == "run_command":
            return contextlib.AsyncExitStack()
        return real(self, call, *args, **options)

    return replaced((workspace_watch.WorkspaceWatch, "around", around))


def forget_what_was_rotated() -> Patch:
    def live(log: Any) -> Any:
        return build_timeline([watching._live_marks(log.state)])

    return replaced((session_files, "read_timeline", live))


def capture_on_the_loop() -> Patch:
    async def inline(work: Callable[..., Any], *args: Any) -> Any:
        return work(*args)

    return replaced((asyncio, "to_thread", inline))


def use_the_users_index() -> Patch:
    def use(self: git.Git, index: str) -> None:
        self.index = index
        self._environment["GIT_INDEX_FILE"] = str(Path(self.top) / ".git" / "index")

    at_once = ((git_scan, "_MOST_RECENT", 0), (reading, "_RACY_NS", 0))
    return replaced((git.Git, "use_index", use), *at_once)


def write_the_users_index() -> Patch:
    real = git.Git.start

    def start(self: git.Git, *arguments: str, reading: str = "", **more: Any) -> git.Running:
        index, self.index = self.index, reading or self.index
        self._environment["GIT_INDEX_FILE"] = self.index
        running = real(self, *arguments, **more)
        self.use_index(index)
        return running

    return replaced((git.Git, "start", start))


def with_setting(name: str, value: str) -> Patch:
    return replaced((git, "_SETTINGS", {**git._SETTINGS, name: value}))


def remove_trees() -> Patch:
    def remove(self: Any, _changes: Any) -> None:
        with contextlib.suppress(OSError):
            os.rmdir("new", dir_fd=self.root)
        shutil.rmtree(Path(self.journal.root) / "new", ignore_errors=True)

    return replaced((restore._Replacing, "_remove_empty", remove))


def make_no_folders() -> Patch:
    real = folders.open_parent
    return replaced((restore, "open_parent", lambda root, path, make=False: real(root, path)))


def read_pipes() -> Patch:
    real = reading._read

    def read(folder: int, name: str, most_bytes: int) -> reading.Reading:
        found = real(folder, name, most_bytes)
        return replace(found, why="") if found.state and found.state.kind == "other" else found

    return replaced((reading, "_read", read))


def read_whatever_the_size() -> Patch:
    """Files are opened before their size is looked at; what is too much is dropped then."""
    real = reading._read

    def read(folder: int, name: str, most_bytes: int) -> reading.Reading:
        found = real(folder, name, most_bytes)
        if found.state and found.state.kind == "file":
            reading._content(folder, name, most_bytes)
        return found

    return replaced((reading, "_read", read))


def lose_what_cannot_be_read() -> Patch:
    return replaced((reading, "_unreadable", lambda *_: reading.ABSENT))


def swallow_errors_of_the_disk() -> Patch:
    def write(_descriptor: int, data: bytes) -> None:
        with contextlib.suppress(OSError):
            os.write(_descriptor, data)

    return replaced((store, "write_all", write), (restore, "write_all", write),
                    (oids, "write_all", write), (folders, "write_all", write))  # fmt: skip


def read_names_as_utf8() -> Patch:
    def names(printed: bytes) -> list[str]:
        return [name.decode(errors="replace") for name in printed.split(b"\0") if name]

    return replaced((git_listing, "names_in", names))


def trust_after_a_failure() -> Patch:
    def look(self: Any, on_begin: Any = None, reading: str = "") -> None:
        fresh = self._names.refresh(self._outside) if self._is_begun else None
        self._is_begun = True
        if fresh is None:
            self._list_all(on_begin, reading)
        else:
            self._list_changed(fresh)

    return replaced((git_listing.GitListing, "look", look))


def overlook_new_names() -> Patch:
    real = folder_names.FolderNames._look_into

    def look_into(self: Any, folder: str, now: int) -> set[str]:
        real(self, folder, now)
        return set()

    return replaced((folder_names.FolderNames, "_look_into", look_into))


def keep_whatever_comes() -> Patch:
    def keep(self: capture._Work, content: bytes, _path: str) -> bool:
        self._store.put(content)
        return True

    return replaced((capture._Work, "_keep", keep))


def keep_in_the_index() -> Patch:
    """What an index has is not removed from it before it is taken up again."""
    real = git.Git.run

    def run(self: git.Git, *arguments: str, **options: Any) -> bytes:
        return b"" if "--force-remove" in arguments else real(self, *arguments, **options)

    return replaced((git.Git, "run", run))


def forget_what_is_secret() -> Patch:
    real = git_scan.GitScanner.look

    def look(self: Any, on_begin: Any = None) -> Sight:
        return replace(real(self, on_begin), ignored=set())

    return replaced((git_scan.GitScanner, "look", look))


def stale_lock(folder: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        captures.test_a_stale_lock_of_ours_is_no_hindrance(
            lambda **options: Yard(folder / "yard", **options), patch
        )


def claim_what_was_pruned() -> Patch:
    def state_of(_self: Any, _path: str, settled: Any) -> FileState:
        return FileState("file", 0o644, settled.oid.ljust(64, "0"), 6)

    return replaced((git_scan.GitScanner, "_state_of", state_of))


def conflicts_everywhere() -> Patch:
    def merged(base: bytes, ours: bytes, theirs: bytes) -> merge.Merged:
        return merge.Merged(ours, theirs if theirs != base else ours)

    return replaced((plan, "merge_contents", merged))


def trust_the_preview() -> Patch:
    always = lambda *_: True  # noqa: E731
    return replaced((restore, "is_as", always), (placing, "is_as", always))


def looked_once() -> Patch:
    """A path is compared when a revert begins, and not again; nor is it exchanged."""
    seen: dict[str, Any] = {}
    real = reading.read_entry

    def remember(root: int, path: str, most_bytes: int) -> reading.Reading:
        found = real(root, path, most_bytes)
        seen.setdefault(path, found.state)
        return found

    return replaced(
        (restore, "read_entry", remember),
        (placing.Spot, "now", lambda self: seen[self.path]),
        (renaming, "rename_at", lambda *_: errno.ENOSYS),
    )


def ignore_exit_code() -> Patch:
    def output(self: git.Running, data: bytes = b"", may_be: int = 0) -> bytes:
        return self._process.communicate(data)[0]

    return replaced((git.Running, "output", output))


def follow_links() -> Patch:
    follow = folders.FOLDER & ~os.O_NOFOLLOW
    return replaced((folders, "FOLDER", follow), (restore, "FOLDER", follow))


def tick_everything() -> Patch:
    every = property(lambda self: frozenset({0}) | {hunk.id for hunk in self.hunks})
    return replaced((PathPlan, "default", every))


def take_theirs() -> Patch:
    def merged(base: bytes, ours: bytes, theirs: bytes) -> merge.Merged:
        return merge.Merged(theirs, theirs)

    return replaced((plan, "merge_contents", merged))


def forget_the_unknown() -> Patch:
    return replaced((git_scan, "is_below", lambda *_: False))


def see_nothing_without_a_scanner() -> Patch:
    """What cannot be looked at for want of a scanner counts as unchanged."""
    real = capture.Capture._take

    def take(self: capture.Capture, *args: Any) -> capture.WorkspaceDelta:
        try:
            return real(self, *args)
        except ImportError:
            return capture.WorkspaceDelta("captured", first=True)

    return replaced((capture.Capture, "_take", take))


@contextlib.contextmanager
def let_import_errors_through() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(capture, "ImportError", KeyError, raising=False)
        yield


def settle_before_the_log() -> Patch:
    real = capture.Capture.take

    def take(self: capture.Capture, *args: Any, **options: Any) -> capture.WorkspaceDelta:
        found = real(self, *args, **options)
        self.settle()
        return found

    return replaced((capture.Capture, "take", take))


def touch_everything() -> Patch:
    real = restore.Restore.run

    def run(self: restore.Restore, *args: Any) -> Any:
        for place in Path(self._root).glob("*.txt"):
            place.write_bytes(place.read_bytes())
        return real(self, *args)

    return replaced((restore.Restore, "run", run))


def trusting(self: store.ContentStore, digest: str) -> bytes:
    return Path(self.path_of(digest)).read_bytes()


def deleted_only() -> Callable[[Any], Iterator[str]]:
    """Sessions beside the one that is deleted are not asked."""
    real = trimming._sessions
    return lambda folders: real(folders) if len(list(folders)) > 1 else iter(())


PLAIN, WITH_GIT = (False,), (True,)
MADE_AGAIN = (True,)
NOTHING = seed.Truth(set(), set(), hidden=False)


def trusting_the_index(target: Any, name: str, *, answer: object) -> Patch:
    """Nor is anything compared that was written lately."""
    return replaced(
        (target, name, lambda *_: answer),
        (git_doubt.DoubtfulEntries, "find", lambda *_: iter(())),
    )


def without_links(*arguments: Any) -> seed.Truth:
    return replace(seed.unhide(*arguments), links=set())


def one_hash_for_all_modes() -> Patch:
    def staged(folder: int, name: str, state: Any, content: bytes) -> None:
        real(folder, name, replace(state, mode=0o644), content)

    real = restore._stage
    return replaced((restore, "_stage", staged))


MUTANTS = (
    Mutant("the exit code of git is ignored", ignore_exit_code, failing_git),
    Mutant("unknown files are deleted", lambda: replaced((plan, "_may_delete", lambda _: True)),
           of_yard(reverts.test_a_file_that_a_person_created_is_never_deleted)),
    Mutant("links are followed", follow_links,
           of_yard(reverts.test_no_link_is_followed_out_of_the_workspace)),
    Mutant("a patch names contents as another repository does",
           lambda: replaced((patches, "name_of", lambda data, _: oids.name_of(data, "sha1"))),
           lambda folder: patch_tests.test_git_applies_what_a_patch_tells(folder, "sha256")),
    Mutant("a patch holds local configuration", forget_what_is_secret,
           patch_tests.test_a_patch_holds_no_secret_and_says_what_it_leaves_out),
    Mutant("a path in a log is believed",
           lambda: replaced((file_changes, "is_safe_path", lambda _: True)), outside),
    Mutant("a path is opened wherever it leads",
           lambda: replaced((folders, "is_safe_path", lambda _: True)), outside),
    Mutant("a link that is swapped in is followed", follow_links, swapped),
    Mutant("everything is ticked", tick_everything,
           of_yard(reverts.test_a_conflict_is_shown_and_nothing_is_overwritten)),
    Mutant("what a person wrote is overwritten", take_theirs,
           of_yard(reverts.test_a_person_s_lines_stay_when_the_agent_s_go)),
    Mutant("what was ignored counts as created", forget_the_unknown,
           of_make(captures.test_what_git_no_longer_ignores_was_not_created_by_anybody)),
    Mutant("the pre-image is not adopted",
           lambda: replaced((git_scan.GitScanner, "_adopt", nothing)),
           of_make(captures.test_amend_and_gc_cost_nothing_that_was_captured)),
    Mutant("git's objects are taken for contents",
           lambda: replaced((seed, "_converted", lambda *_: iter(()))),
           of_make(captures.test_line_ends_identifiers_and_filters_do_not_change_what_is_kept)),
    Mutant("hidden paths stay hidden",
           lambda: trusting_the_index(git_scan, "unhide", answer=NOTHING),
           of_make(captures.test_hidden_paths_of_an_index_are_looked_at_all_the_same)),
    Mutant("an index is trusted unread",
           lambda: trusting_the_index(seed, "newest_change", answer=0),
           of_make(captures.test_hidden_paths_of_an_index_are_looked_at_all_the_same)),
    Mutant("a guess about the user's settings is kept",
           lambda: replaced((seed.UserSettings, "excludes",
                             property(seed.UserSettings.guess_excludes))),
           of_created(seeds.test_what_a_user_ignores_everywhere_is_heeded_from_the_first_capture_on,
                      "included")),
    Mutant("the user's settings are never asked for",
           lambda: replaced((seed, "_says_nothing", lambda _: True)),
           of_created(seeds.test_what_a_user_ignores_everywhere_is_heeded_from_the_first_capture_on,
                      "included")),
    Mutant("attributes of the user's go unnoticed",
           lambda: replaced((seed.UserSettings, "attributes", "")),
           of_created(
               seeds.test_what_a_user_converts_everywhere_is_kept_as_it_stands_in_the_file)),
    Mutant("nested repositories are not looked into",
           lambda: replaced((git_scan, "unhide", without_links)),
           lambda folder: captures.test_a_submodule_is_a_scope_of_its_own(
               lambda **o: Yard(folder / str(len(list(folder.iterdir()))), **o), folder)),
    Mutant("a file that changes while it is read is kept as it came",
           lambda: replaced((reading, "_is_steady", lambda *_: True)),
           of_make(captures.test_a_file_that_keeps_changing_is_left_out_and_found_later,
                   *PLAIN)),
    Mutant("settled before it is in the log", settle_before_the_log,
           of_make(captures.test_a_capture_that_never_reached_the_log_is_found_again, *PLAIN)),
    Mutant("files are not marked as secret",
           forget_what_is_secret,
           of_make(captures.test_small_ignored_files_are_kept_and_marked_secret)),
    Mutant("every mtime changes", touch_everything,
           of_yard(reverts.test_no_other_mtime_changes)),
    Mutant("modes are not kept", one_hash_for_all_modes,
           of_yard(reverts.test_edits_deletions_and_creations_go_back_with_their_modes)),
    Mutant("the preview is trusted", trust_the_preview,
           of_yard(reverts.test_a_file_that_changes_after_the_preview_stops_the_whole_revert)),
    Mutant("a file that is saved late is overwritten", looked_once, saved_late),
    Mutant("a content is not checked against its hash",
           lambda: replaced((store.ContentStore, "get", trusting)),
           of_yard(reverts.test_a_damaged_content_is_never_restored)),
    Mutant("there is no lock on the store", lambda: replaced((store, "_lock", nothing)),
           of_make(captures.test_two_sessions_of_a_project_keep_apart)),
    Mutant("a content is not flushed before the log names it",
           lambda: replaced((store.ContentStore, "flush", nothing)), cut_captures),
    Mutant("there is no journal", lambda: replaced((restore, "write_journal", nothing)), harness),
    Mutant("the journal does not say that the conversation goes too",
           lambda: replaced((session_files, "parse_move", nothing)), between_halves),
    Mutant("an undo forgets the conversation's half",
           lambda: replaced((session_files.SessionFiles, "moved_by", lambda *_: 0)), one_undo),
    Mutant("what a person wrote is overwritten, in a story", take_theirs, stories),
    Mutant("unknown files are deleted, in a story",
           lambda: replaced((plan, "_may_delete", lambda _: True)), stories),
    Mutant("everything is ticked, in a story", tick_everything, stories),
    Mutant("a hunk takes the whole file along, in a story",
           lambda: replaced((plan, "_chosen", lambda path, _: path.then)), stories),
    Mutant("there is no journal, in a story",
           lambda: replaced((restore, "write_journal", nothing)), killed_stories),
    Mutant("nothing is recovered, in a story",
           lambda: replaced((restore.Restore, "recover", lambda _: None)), killed_stories),
    Mutant("nothing is recovered",
           lambda: replaced((restore.Restore, "recover", lambda _: None)), harness),
    Mutant("an error is not rolled back",
           lambda: replaced((restore.Restore, "_give_up", nothing)), harness),
    Mutant("new contents are not flushed",
           lambda: replaced((restore, "sync_files", nothing)), cut_reverts),
    Mutant("a folder that came after a crash counts as the one before",
           trust_the_name_since_the_preview,
           of_crash(reverts.test_a_folder_that_a_person_makes_after_a_crash_stays, *MADE_AGAIN)),
    Mutant("a folder that came after a crash of a rollback counts as the one before",
           lambda: replaced((restore, "identity_of", lambda *_: (1, 1))),
           of_crash(
               reverts.test_a_folder_that_a_person_makes_after_a_crash_of_a_rollback_stays,
               *MADE_AGAIN)),
    Mutant("nothing is seen without git",
           lambda: replaced((plain_scan.PlainScanner, "look", lambda _: Sight())),
           of_make(captures.test_a_restart_finds_what_changed_meanwhile, *PLAIN)),
    Mutant("what was there before the first capture counts as created",
           lambda: replaced((git_scan, "UNSETTLED", "index")),
           lambda folder:
               seeds.test_what_was_there_is_no_change_until_the_first_capture_is_logged(
                   folder, again=True)),
    Mutant("half a first capture counts as settled",
           lambda: replaced((git_scan, "has_settled", lambda folder: any(Path(folder).iterdir()))),
           seeds.test_a_first_capture_of_which_half_was_settled_begins_again),
    Mutant("what is ignored from now on goes unnoticed",
           lambda: replaced((git_scan, "mark_of", nothing)),
           seeds.test_what_a_user_begins_to_ignore_meanwhile_is_local_configuration),
    Mutant("half of an index in two parts is read",
           lambda: replaced((seed, "_join_index", nothing)),
           seeds.test_an_index_in_two_parts_is_captured_whole),
    Mutant("what a capture found that is not in the log is the next call's",
           lambda: replaced((workspace_watch, "UNWRITTEN", "")),
           of_session(sessions.test_what_could_not_be_written_down_is_nobodys_later)),
    Mutant("the index is not seeded", lambda: replaced((git_scan, "copy_index", nothing)),
           of_make(bad_input.test_a_first_capture_copies_nothing_that_git_holds)),
    Mutant("an index that changes under git is taken for the one that was copied",
           lambda: replaced((git_scan, "mark_to_read", lambda _: ANY)),
           of_created(seeds.test_an_index_that_changes_while_git_reads_it_is_read_again)),
    Mutant("git notes in the user's index what it has read", write_the_users_index,
           seeds.test_the_users_index_is_read_and_never_written),
    Mutant("old sessions are never deleted",
           lambda: replaced((stores, "shrink", lambda *_: [])),
           stores.test_the_oldest_sessions_go_first_and_what_others_need_stays),
    Mutant("contents that another session needs are deleted",
           lambda: replaced((trimming, "_sessions", deleted_only())),
           stores.test_the_oldest_sessions_go_first_and_what_others_need_stays),
    Mutant("a session loses contents without a word",
           lambda: replaced((trimming, "_note", nothing)),
           stores.test_a_session_that_lost_contents_is_told_so),
    Mutant("a fork does not say what it needs of the session before it",
           lambda: replaced((watching, "tend_store", nothing)),
           of_session(sessions.test_a_fork_reverts_what_changed_before_it_was_made)),
    Mutant("what a fork inherited is deleted before it is opened",
           lambda: replaced((watching, "unlisted_forks", lambda _: ())),
           of_session(sessions.test_a_fork_that_nobody_opened_yet_keeps_what_it_inherited)),
    Mutant("a session counts as old while it is used",
           lambda: replaced((store.ContentStore, "note_use", nothing)),
           of_session(sessions.test_a_session_that_is_taken_up_again_is_not_the_oldest)),
    Mutant("a fork that nobody opened counts as new",
           lambda: replaced((watching, "Unlisted",
                             lambda name, needed, _: trimming.Unlisted(name, needed, time.time()))),
           of_session(sessions.test_a_fork_that_nobody_opened_goes_in_its_turn_where_room_is_made)),
    Mutant("what a live window writes counts as left behind",
           lambda: replaced((store, "_lock", nothing)),
           stores.test_what_a_live_window_writes_just_now_stays),
    Mutant("the journal of a revert that was cut off is deleted with old contents",
           lambda: replaced((trimming, "JOURNAL", "none")),
           stores.test_a_session_whose_revert_was_cut_off_keeps_its_contents),
    Mutant("only edit tools are seen", see_edit_tools_alone,
           of_session(sessions.test_every_call_tells_what_it_really_changed)),
    Mutant("a call does not tell how many lines it changed",
           lambda: replaced((capture, "count_lines", lambda *_: (0, 0))),
           of_session(sessions.test_every_call_tells_what_it_really_changed)),
    Mutant("what a tool of a server changed is not seen",
           lambda: replaced((BorrowedTool, "changes_files", False)),
           of_session(borrowed.test_a_borrowed_tool_is_called_under_its_own_name)),
    Mutant("a folder of a person's counts as a project",
           lambda: replaced((places, "_PERSONAL", ())),
           of_tmp(captures.test_places_that_are_not_projects_are_refused, "Desktop")),
    Mutant("changes since a checkpoint are all changes",
           lambda: replaced((FileTimeline, "since", lambda self, _: self.captures)),
           of_session(sessions.test_changes_are_told_by_turn_call_and_cause_since_any_checkpoint)),
    Mutant("a view of the changes takes a person for the agent", call_all_changes_the_agents,
           of_session(sessions.test_changes_are_told_by_turn_call_and_cause_since_any_checkpoint)),
    Mutant("what a subagent changed is a person's",
           lambda: replaced((Task, "changes_files", False)),
           of_patched_session(sessions.test_what_a_subagent_changed_is_the_agents)),
    Mutant("what a call changed is a person's while it runs",
           lambda: replaced((workspace_watch.WorkspaceWatch, "_begin_between",
                             lambda self: self._begin("human"))),
           of_session(sessions.test_what_a_call_changed_is_its_own_while_it_runs)),
    Mutant("folders are not made again", make_no_folders,
           of_yard(reverts.test_edits_deletions_and_creations_go_back_with_their_modes)),
    Mutant("empty folders stay",
           lambda: replaced((restore._Replacing, "_remove_empty", nothing)),
           of_yard(reverts.test_folders_that_came_with_a_file_go_with_it_and_a_person_s_stay)),
    Mutant("every folder counts as the agent's",
           every_folder_is_new,
           of_yard(reverts.test_folders_that_came_with_a_file_go_with_it_and_a_person_s_stay)),
    Mutant("a folder that came before its file stays",
           lambda: replaced((capture, "_folders_that_came", lambda _: {})),
           of_yard(reverts.test_a_folder_that_came_before_its_file_goes_with_it)),
    Mutant("a folder is the agent's for ever", never_the_persons,
           of_yard(reverts.test_a_folder_that_a_person_made_stays_when_a_file_goes)),
    Mutant("an undo counts folders that it did not make",
           lambda: replaced((restore, "count_missing_folders", lambda _, path: path.count("/"))),
           of_yard(reverts.test_a_folder_that_a_person_made_stays_when_an_undo_is_taken_back)),
    Mutant("folders that git ignores count as the agent's",
           lambda: replaced((folder_names, "is_below", lambda *_: False)),
           reverts.test_folders_that_git_ignores_are_not_told),
    Mutant("a folder that was made again is still the agent's",
           trust_the_name_of_a_folder,
           of_tmp(reverts.test_a_folder_that_a_person_made_again_stays, *(True, False))),
    Mutant("a folder that was made again at once is still the agent's",
           lambda: replaced((births_tests, "wait_for_tick", time.time_ns)),
           tick),
    Mutant("a folder that was made again before it was in the log is still the agent's",
           trust_the_name_of_a_folder,
           of_yard(reverts.test_a_folder_that_a_person_makes_again_before_a_capture_is_in_the_log_stays)),
    Mutant("a folder that was made again after the preview is still the agent's",
           trust_the_name_since_the_preview,
           of_yard(reverts.test_a_folder_that_a_person_makes_again_after_the_preview_stays)),
    Mutant("a folder that was made again after a revert made it is still the agent's",
           trust_the_name_of_a_folder,
           of_yard(reverts.test_a_folder_that_a_person_makes_again_after_a_revert_made_it_stays)),
    Mutant("a folder goes with what is in it", remove_trees,
           of_folders(reverts.test_a_folder_that_is_not_empty_is_never_removed)),
    Mutant("an empty folder goes without a word",
           lambda: replaced((git_scan, "LeftOut", lambda *_: LeftOut("", ""))),
           of_yard(reverts.test_an_empty_folder_that_goes_is_named)),
    Mutant("what is saved in the last moment is overwritten", rename_over_everything,
           of_saved(renamings.test_a_file_that_is_saved_in_the_last_moment_is_kept)),
    Mutant("of several saves in the last moment the first one stays", give_back_once,
           of_saved(renamings.test_of_several_saves_in_the_last_moment_the_last_one_stays,
                    *(2, False))),
    Mutant("of two saves and a death one is gone",
           lambda: replaced((placing.Spot, "keep_beside", lambda spot: spot.path)),
           of_saved(renamings.test_a_death_between_two_saves_in_the_last_moment_keeps_both,
                    "commit")),
    Mutant("what is created in the last moment is overwritten", rename_over_everything,
           of_saved(renamings.test_a_file_that_is_created_in_the_last_moment_is_kept)),
    Mutant("what is saved in the last moment is deleted",
           lambda: replaced((placing, "take_away", take_away_unseen)),
           of_created(renamings.test_a_file_that_is_saved_just_before_it_is_deleted_is_kept)),
    Mutant("what a deletion took away is gone with a crash",
           lambda: replaced((restore._Replacing, "_return_saved", lambda *_: ())),
           of_created(
               renamings.test_a_death_in_the_middle_of_a_deletion_loses_nothing_that_was_saved,
               "commit")),
    Mutant("what an exchange took away is deleted",
           lambda: replaced((restore._Replacing, "_return_saved", lambda *_: ())),
           of_saved(renamings.test_a_death_just_after_the_exchange_loses_nothing_that_was_saved,
                    "commit")),
    Mutant("what a compaction rotated is forgotten", forget_what_was_rotated,
           of_session(sessions.test_files_go_back_after_a_compaction)),
    Mutant("what another branch changed is forgotten", forget_what_was_rotated,
           of_session(sessions.test_files_go_back_to_a_checkpoint_of_another_branch)),
    Mutant("what an archive tells is forgotten", forget_what_was_rotated,
           of_session(sessions.test_files_go_back_after_the_conversation_did)),
    Mutant("the user's index is written", use_the_users_index,
           of_make(captures.test_git_of_the_user_is_never_touched)),
    Mutant("there is no redo", lambda: replaced((session_files, "find_redo", nothing)), one_undo),
    Mutant("an undo is forgotten at a restart",
           lambda: replaced((session_files, "find_undo", nothing)),
           of_session(sessions.test_a_revert_can_be_undone_after_a_restart)),
    Mutant("files that a person changed are refused", conflicts_everywhere,
           of_yard(reverts.test_a_person_s_lines_stay_when_the_agent_s_go)),
    Mutant("a capture holds the loop up", capture_on_the_loop,
           of_session(sessions.test_a_prompt_does_not_wait_for_a_capture)),
    Mutant("a late capture is the agent's all the same",
           lambda: replaced((workspace_watch, "LATE", "")),
           of_session(sessions.test_a_tool_waits_for_a_capture_up_to_a_limit_and_then_its_changes_are_doubtful)),
    Mutant("what cannot be read is gone", lose_what_cannot_be_read,
           of_disk(bad_input.test_a_file_that_cannot_be_read_is_named_and_is_not_gone)),
    Mutant("pipes are read", read_pipes,
           of_make(captures.test_pipes_sockets_and_unreadable_files_are_named, *PLAIN)),
    Mutant("large files are read",
           lambda: replaced((capture._Work, "_cap", lambda *_: 1 << 20)),
           of_make(captures.test_large_files_are_left_out_but_for_the_target_of_an_edit)),
    Mutant("a file of 2 GB is opened", read_whatever_the_size,
           of_disk(captures.test_two_gigabytes_are_not_read)),
    Mutant("there is no cap on files",
           lambda: replaced((git_scan.GitScanner, "_count", lambda _: 0)),
           of_make(bad_input.test_more_files_than_can_be_covered_are_refused_in_a_sentence,
                   *WITH_GIT)),
    Mutant("names are read as UTF-8", read_names_as_utf8,
           of_make(captures.test_names_that_are_not_utf8_and_case_only_renames, *WITH_GIT)),
    Mutant("names that differ by case are one", lambda: with_setting("core.ignoreCase", "true"),
           of_make(captures.test_names_that_are_not_utf8_and_case_only_renames, *WITH_GIT)),
    Mutant("exec bits are not looked at", lambda: with_setting("core.fileMode", "false"),
           of_make(bad_input.test_exec_bits_alone_are_a_change_that_goes_back)),
    Mutant("a full disk goes unnoticed by a capture", swallow_errors_of_the_disk,
           of_disk(bad_input.test_a_capture_on_a_full_disk_says_so_and_the_next_one_finds_it_all)),
    Mutant("a full disk goes unnoticed by a revert", swallow_errors_of_the_disk,
           of_disk(bad_input.test_a_revert_on_a_full_disk_changes_nothing_and_says_so)),
    Mutant("a capture without a scanner counts as made", see_nothing_without_a_scanner,
           of_disk(bad_input.test_a_capture_whose_scanner_cannot_be_loaded_says_so)),
    Mutant("a scanner that cannot be loaded ends the turn", let_import_errors_through,
           of_disk(bad_input.test_a_capture_whose_scanner_cannot_be_loaded_says_so)),
    Mutant("a deleted store goes unnoticed",
           lambda: replaced((capture.Capture, "_require_store", nothing)),
           of_make(bad_input.test_a_store_that_goes_while_it_is_in_use_is_noticed, *PLAIN)),
    Mutant("a stale lock is not removed",
           lambda: replaced((git_scan, "remove_stale_lock", nothing)),
           stale_lock),
    Mutant("new names go unnoticed",
           overlook_new_names,
           of_listing(listings.test_where_no_name_is_new_only_the_index_is_compared)),
    Mutant("a listing that failed is trusted", trust_after_a_failure,
           of_listing(listings.test_after_a_failure_everything_is_listed_again)),
    Mutant("what was settled beside the index is forgotten",
           lambda: replaced((recent.RecentStates, "load", lambda _: {})),
           of_make(captures.test_a_restart_finds_what_changed_meanwhile, *WITH_GIT)),
    Mutant("what is written again in the same second is taken for the same",
           lambda: replaced((git_doubt.DoubtfulEntries, "find", lambda *_: iter(()))),
           of_make(captures.test_a_file_that_is_written_again_in_the_same_second_is_noticed,
                   *WITH_GIT)),
    Mutant("an index keeps the name of an older content", keep_in_the_index,
           of_disk(lambda make, patch, _:
               captures.test_what_git_takes_for_unchanged_is_settled_as_it_is(make, patch))),
    Mutant("a replaced repository goes unnoticed",
           lambda: replaced((ScannedRepository, "is_same", lambda *_: True)),
           lambda folder: replacing.test_after_a_repository_was_replaced_everything_is_captured(
               folder, "sha1", "sha256", commits=True, closed=True)),
    Mutant("a capture has no limit", keep_whatever_comes,
           of_make(captures.test_what_is_too_much_for_one_capture_is_named, *PLAIN)),
    Mutant("a rebase is not told",
           lambda: replaced((git.Repository, "operation", lambda _: "")),
           of_session(sessions.test_a_rebase_in_progress_is_told_and_only_the_conversation_is_offered)),
    Mutant("what gc took is claimed to be known", claim_what_was_pruned,
           of_make(bad_input.test_what_gc_took_before_it_was_captured_is_named_and_left_alone)),
)  # fmt: skip


def test_every_promise_has_a_bug_that_breaks_it() -> None:
    named = {bug for promise in PROMISES for bug in promise.bugs}
    assert named == {mutant.name for mutant in MUTANTS}
    assert all(promise.bugs for promise in PROMISES)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name.replace(" ", "-"))
def test_a_bug_is_noticed(mutant: Mutant, tmp_path: Path) -> None:
    with mutant.patch(), pytest.raises((Exception, pytest.fail.Exception)):
        mutant.test(tmp_path)
