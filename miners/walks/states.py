"""States: runs of commits with identical source files, each named by its newest commit.

The walk `states` pairs neighbouring states; the walk `window` pairs all states that are close
enough in time. Published tasks were made of such pairs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from coevo.git.objects import FOLDER, SUBMODULE
from coevo.git.repository import CorruptObject, Repository
from coevo.model.reasons import Reason
from coevo.model.records import Commit, Drop, Pair, TestMethod, compute_candidate_id
from coevo.model.words import MethodChange
from miners.diffs.changes import PairChange, diff_pair
from miners.diffs.coupling import Reference
from miners.walks.routes import Route

# Maximal hours between the ends of a window, by committer time: no published pair is further apart.
WINDOW_HOURS = 12.0


def pair_neighbouring_states(
    repository: Repository, route: Route, commits: Sequence[Commit]
) -> Iterator[Pair | Drop]:
    """Yield each state paired with the next older one.

    The other commits, and the oldest state, are drops.
    """
    related = _Ancestry(repository, commits)
    newest: Commit | None = None
    for state_or_drop in _list_states(repository, route, commits):
        if isinstance(state_or_drop, Drop):
            yield state_or_drop
            continue
        if newest is not None:
            yield route.make_pair(
                state_or_drop, newest, old_is_ancestor=related(state_or_drop, newest)
            )
        newest = state_or_drop
    if newest is not None:
        yield route.make_drop(newest.rev, Reason.OLDEST_STATE)


def pair_states_in_window(
    repository: Repository, route: Route, commits: Sequence[Commit]
) -> Iterator[Pair | Drop]:
    """Yield each state paired with every state that is at most `WINDOW_HOURS` older.

    States without such a pair, and the other commits, are drops.
    """
    related = _Ancestry(repository, commits)
    states: list[Commit] = []
    for state_or_drop in _list_states(repository, route, commits):
        if isinstance(state_or_drop, Drop):
            yield state_or_drop
        else:
            states.append(state_or_drop)
    for position, new in enumerate(states):
        reach = [
            (number, old)
            for number, old in enumerate(states[position + 1 :], start=position + 1)
            if _is_close(old, new)
        ]
        for number, old in reach:
            between = tuple(state.rev for near, state in reach if near < number)
            yield route.make_pair(old, new, old_is_ancestor=related(old, new), between=between)
        if not reach:
            last = position == len(states) - 1
            yield route.make_drop(new.rev, Reason.OLDEST_STATE if last else Reason.EMPTY_WINDOW)


def _is_close(old: Commit, new: Commit) -> bool:
    if old.committer_date is None or new.committer_date is None:
        return False
    seconds = (new.committer_date - old.committer_date).total_seconds()
    return 0 <= seconds <= WINDOW_HOURS * 3600


def _list_states(
    repository: Repository, route: Route, commits: Sequence[Commit]
) -> Iterator[Commit | Drop]:
    """Yield the newest commit of each run of commits with the same source files, newest first.

    The others are drops.
    """
    state_of = _StateNamer(repository, route.suffixes)
    state: str | None = None
    for commit in commits:
        try:
            commit_state = state_of(commit)
        except CorruptObject as error:
            yield route.make_unreadable_drop(repository, commit.rev, error)
            continue
        if commit_state == state:
            yield route.make_drop(commit.rev, Reason.SAME_CODE_STATE)
        else:
            yield commit
            state = commit_state


class _StateNamer:
    """Names the source files of a commit: names are equal if paths and contents are equal.

    Names are cached by tree object, so what two commits share is read once. All files are read, so
    that a corrupt one shows now.
    """

    def __init__(self, repository: Repository, suffixes: tuple[str, ...]) -> None:
        self._repository = repository
        self._suffixes = suffixes
        self._known: dict[str, str] = {}
        self._sound: set[str] = set()

    def __call__(self, commit: Commit) -> str:
        return self._name_tree(self._repository.header(commit.rev).tree)

    def _name_tree(self, tree: str) -> str:
        """Return the name of a tree, empty if it has no source files.

        Subfolders are named first, without recursion: a tree may be deeper than Python's stack.
        """
        todo = [tree]
        while todo:
            entries = self._repository.folder(todo[-1])
            below = [oid for mode, _, oid in entries if mode == FOLDER and oid not in self._known]
            if below:
                todo += below
            else:
                self._known[todo.pop()] = self._hash_folder(entries)
        return self._known[tree]

    def _hash_folder(self, entries: Sequence[tuple[str, str, str]]) -> str:
        """Return the name of a folder whose subfolders already have names."""
        parts = []
        for mode, name, oid in entries:
            if mode == FOLDER:
                if self._known[oid]:
                    parts.append(f'{name}/{self._known[oid]}')
            elif mode != SUBMODULE and name.endswith(self._suffixes):
                self._check_blob(oid)
                parts.append(f'{name}\0{oid}')
        text = '\0'.join(parts).encode('utf-8', 'surrogateescape')
        return hashlib.sha256(text).hexdigest() if parts else ''

    def _check_blob(self, blob: str) -> None:
        if blob not in self._sound:
            self._repository.blob(blob)
            self._sound.add(blob)


class _Ancestry:
    """Decides whether one commit of a walk is an ancestor of another.

    The commits of the walk are given newest first.
    """

    def __init__(self, repository: Repository, commits: Sequence[Commit]) -> None:
        self._repository, self._commits = repository, commits
        self._place = {commit.rev: number for number, commit in enumerate(commits)}

    def __call__(self, old: Commit, new: Commit) -> bool:
        """Return whether `old` is an ancestor of `new`.

        The commits between the two are searched first; Git is run only if they show no path.
        """
        end = self._place[old.rev]
        waiting, seen = [new.rev], {new.rev}
        while waiting:
            rev = waiting.pop()
            if rev == old.rev:
                return True
            for parent in self._commits[self._place[rev]].parents:
                if parent not in seen and self._place.get(parent, end + 1) <= end:
                    seen.add(parent)
                    waiting.append(parent)
        return self._repository.is_ancestor(old.rev, new.rev)


# Find which changed tests of a window's pair belong to a nearer old state.
#
# The old end of a published task is the latest state since which both the test and a method that it
# calls changed. If no such method is seen, it is the latest state since which the test and any source
# changed. The published tasks show what counts:
# - A test that is new since the old end is treated separately from a test that changed since then.
# - Constructors, the rest of types and what tests cannot call are never among the dependencies.
# - A state whose own tests do not compile is no end.

CHANGED_TESTS = (MethodChange.CHANGED, MethodChange.INSERTED)

Edit = tuple[MethodChange, TestMethod]

Holds = Callable[[str, str], bool]
"""Returns whether the own tests of a revision's module compile."""


def find_tests_changed_in_between(
    repository: Repository, change: PairChange, do_tests_compile: Holds
) -> frozenset[TestMethod]:
    """Return the tests, at new, whose change a state between the ends already shows.

    holds  returns whether the own tests of a revision's module compile; it is slow, so it is called
           for few states only
    """
    own = _map_edits_to_changed_calls(change)
    shown_tests: set[TestMethod] = set()
    end = replace(change.pair, old=change.pair.new, old_is_ancestor=True, between=())
    for rev in change.pair.between:
        shown = _map_edits_since_state(repository, end, rev)
        for edit, calls_changed in own.items():
            test = edit[1]
            is_shown = edit in shown and (shown[edit] or not calls_changed)
            if is_shown and test not in shown_tests and do_tests_compile(rev, test.module):
                shown_tests.add(test)
    return frozenset(shown_tests)


# A new state is compared with all states of its window, of which there are seldom more than a few.
@lru_cache(maxsize=256)
def _map_edits_since_state(repository: Repository, end: Pair, old: str) -> Mapping[Edit, bool]:
    """Return the changed tests between an older state and an end of the walk.

    end  the end, given as a pair with itself
    """
    return _map_edits_to_changed_calls(
        diff_pair(repository, replace(end, old=repository.get_commit(old)))
    )


def _map_edits_to_changed_calls(change: PairChange) -> dict[Edit, bool]:
    """Return the changed tests, each with whether a method that it calls changed.

    Empty if the pair changes no source.
    """
    if not change.source_changed:
        return {}
    return {
        (item.change, item.new): _calls_changed_method(
            change.references[compute_candidate_id(change.pair, item)]
        )
        for item in change.candidates
        if item.change in CHANGED_TESTS and item.new is not None
    }


def _calls_changed_method(references: Sequence[Reference]) -> bool:
    members = [reference.change.member for reference in references]
    return any(m and m.kind == 'method' and 'private' not in m.modifiers for m in members)
