"""Two commits written by a test, as a pair to diff."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from coevo.git.repository import Repository
from coevo.model.records import Candidate, Commit, Pair
from coevo.model.words import Walk
from miners.diffs.changes import PairChange, diff_pair
from tests import repos

MAIN = 'src/main/java/p/'
TEST = 'src/test/java/p/'


def diffed(
    folder: Path, old: Mapping[str, str], new: Mapping[str, str | None], *, whole: bool = False
) -> PairChange:
    """The change between a commit with the files `old` and one that adds `new`.

    Names without a folder are Java files of package p: those ending in Test or Base are tests.
    With `whole`, nothing of `old` stays.
    """
    before = {'pom.xml': '<project/>', **{_path(k): _java(k, v) for k, v in old.items()}}
    after = {_path(k): _java(k, v) if v is not None else None for k, v in new.items()}
    if whole:
        after = {**dict.fromkeys(before.keys() - {'pom.xml'} - after.keys()), **after}
    repo = repos.init(folder / 'repository')
    first = repos.commit(repo, 'old', before)
    second = repos.commit(repo, 'new', after)
    return diff_between(repo, first, second)


def diff_between(repo: Path, old: str, new: str) -> PairChange:
    """The change between two commits of a repository."""
    pair = Pair(
        repo='local/repository',
        language='java',
        walk=Walk.PARENTS,
        old=_commit(old),
        new=_commit(new),
        old_is_ancestor=True,
    )
    return diff_pair(Repository(repo / '.git'), pair)


def changes(change: PairChange) -> dict[str, str]:
    """Method name to change."""
    found = {c.method.test_method: c.change.value for c in change.candidates}
    assert len(found) == len(change.candidates)
    return found


def only(change: PairChange) -> Candidate:
    (found,) = change.candidates
    return found


def java_class(*methods: str, name: str = 'FooTest', extra: str = '') -> str:
    return f'class {name} {extra} {{ {" ".join(methods)} }}'


def _path(name: str) -> str:
    if '/' in name:
        return name
    return f'{TEST if name.endswith(("Test", "Base")) else MAIN}{name}.java'


def _java(name: str, text: str) -> str:
    return text if '/' in name else f'package p;\n{text}'


def _commit(rev: str) -> Commit:
    return Commit(rev=rev, parents=(), author_date=None, committer_date=None)
