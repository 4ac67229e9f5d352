"""Searches of a repository that a test wrote, and the naive search that they are held against."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from coevo.git.repository import Repository
from coevo.languages.declarations import Member
from coevo.languages.prints import make_body_prints_by_hash
from coevo.languages.table import get_reading
from coevo.model.method_rows import MethodRow
from coevo.storage.dates import SearchBasis, SeenBodies
from coevo.storage.store import Store
from miners.cloning.mirror_git import list_clone_refs
from miners.dates.clone_search import SearchedClone, SearchListener, search_clone
from miners.dates.dating import load_wanted_prints, search_clone_for_bodies, update_wanted_bodies
from miners.dates.scanning import parse_bodies
from packagers.dating import DateJoin


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstSeen:
    """Dates by the hash of a whole member; None where there is no telling, absent where it never stood."""

    basis: SearchBasis
    dates: Mapping[str, datetime | None]


def search(
    repo: Path,
    members: Iterable[Member],
    language: str,
    *,
    crawled_at: datetime,
    known: SeenBodies | None = None,
) -> FirstSeen:
    """Search all refs of a repository for members, as a whole."""
    members = list(members)
    found = search_again(repo, members, language, crawled_at=crawled_at, known=known)
    wanted = {member.bare_hash for member in members}
    return FirstSeen(
        basis=found.basis,
        dates={each.body: each.date for each in found.seen if each.body in wanted},
    )


def search_again(
    repo: Path,
    members: Iterable[Member],
    language: str,
    *,
    crawled_at: datetime,
    known: SeenBodies | None = None,
    listener: SearchListener | None = None,
) -> SeenBodies:
    """Search for members as a whole and for their blocks; `known` is what an earlier search gave."""
    repository = Repository(repo / '.git' if (repo / '.git').exists() else repo)
    clone = SearchedClone(
        repository=repository, crawled_at=crawled_at, refs=list_clone_refs(repository)
    )
    prints = dict(
        pair
        for member in members
        for pair in make_body_prints_by_hash(get_reading(language).LEXIS, member)
    )
    return search_clone(clone, language, prints, known, listener)


def date_rows(
    store: Store,
    language: str,
    rows: Sequence[MethodRow],
    clones: Mapping[str, Path],
    *,
    crawled_at: datetime,
) -> list[MethodRow]:
    """Date rows of the first clone, as mining and a release would; `clones` are Git's folders."""
    searched = {
        repo: SearchedClone(
            repository=Repository(path),
            crawled_at=crawled_at,
            refs=list_clone_refs(Repository(path)),
        )
        for repo, path in clones.items()
    }
    first = next(iter(clones))
    update_wanted_bodies(store, first, language, searched[first], rows)
    for repo, clone in searched.items():
        search_clone_for_bodies(store, repo, clone, load_wanted_prints(store))
    return list(DateJoin(store.storage, clones).date_methods(rows))


def naive_dates(repo: Path, language: str, bodies: Iterable[str]) -> dict[str, datetime]:
    """The definition: each commit's whole tree, parsed, against those of its parents.

    Root commits of more than 20 tests, and commits of more than 200, are not looked at.
    """
    repository = Repository(repo / '.git')
    revs = repository.run_command('rev-list', '--all').decode().split()
    commits = {rev: repository.get_commit(rev) for rev in revs}
    parser = get_reading(language)
    held = {
        rev: frozenset(
            body
            for path, entry in repository.tree(rev).items()
            if path.endswith(parser.SUFFIXES)
            for body in parse_bodies(parser, repository.blob(entry.oid)).all
        )
        for rev in revs
    }
    found: dict[str, datetime] = {}
    for rev in revs:
        below = [each for each in revs if repository.is_ancestor(rev, each)]
        dates = [commits[rev].author_date, *(commits[each].committer_date for each in below)]
        date = min(each for each in dates if each is not None)
        parents = commits[rev].parents
        for body in bodies:
            if body in held[rev] and not any(body in held[parent] for parent in parents):
                found[body] = min(found.get(body, date), date)
    return found
