"""The contamination columns of method rows: bodies looked up at their revision, dated by clone."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from coevo.git.repository import Repository
from coevo.languages.declarations import Member
from coevo.languages.declarations import SourceFile
from coevo.languages.table import reading
from coevo.languages.table import reading_at
from coevo.model.dependencies import Dependency
from coevo.model.dependencies import Revised
from coevo.model.listener import SILENT
from coevo.model.listener import Listener
from coevo.model.method_rows import MethodRow
from coevo.model.standing_rows import StandingRow
from coevo.model.words import Change
from packagers.contamination import earliest
from packagers.contamination import first_seen
from packagers.row_files import Sorter


@dataclass(frozen=True, slots=True, kw_only=True)
class DatedCrawl:
    """A clone, and when it was brought to what it holds.

    refs  those that are searched, as (name, object id); None is all that there are now
    """

    repository: Repository
    crawled_at: datetime
    refs: tuple[tuple[str, str], ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Bodies:
    """Hashes of a row: of its test method, and of the source methods that the pair put there.

    A test is looked for as it is declared and as what stands between its braces: one that got other
    modifiers or annotations, or was no test before, gives the same answer.
    """

    test: tuple[str, ...]
    code: tuple[str, ...]


def date_methods(
    rows: Sequence[MethodRow],
    crawls: Mapping[str, DatedCrawl],
    *,
    cache_folder: Path,
    space: Path | None = None,
    listener: Listener = SILENT,
) -> Iterator[MethodRow]:
    """The rows with `contamination_date`, `contamination_basis` and `code_first_seen` filled.

    A body is looked for in every clone of the store: who copied it elsewhere published it too. The first time that
    takes long, for each version of each file of a history is read, 200 a second.
    """
    sorter, wanted = Sorter(_Bodies, space), defaultdict[str, set[str]](set)
    for at, row in enumerate(rows):
        bodies = _bodies(crawls[row.repo].repository, row)
        wanted[row.language].update(_all(bodies))
        sorter.add((at,), bodies)
    searches = {
        language: _search(language, some, crawls, cache_folder, listener)
        for language, some in sorted(wanted.items())
    }
    for row, bodies in zip(rows, sorter.finish(), strict=True):
        search = searches[row.language]
        yield dataclasses.replace(
            row,
            contamination_date=earliest(search.dates.get(body) for body in bodies.test),
            contamination_basis=search.basis[row.repo],
            code_first_seen=earliest(search.dates.get(body) for body in bodies.code),
        )


def date_standing(
    rows: Sequence[StandingRow],
    crawls: Mapping[str, DatedCrawl],
    *,
    cache_folder: Path,
    listener: Listener = SILENT,
) -> Iterator[StandingRow]:
    """The rows that a family takes with their dates, of all tests of the file and of the focus."""
    bodies = {
        (row.standing_id, row.walk): _standing_bodies(crawls[row.repo].repository, row)
        for row in rows
        if row.adequacy is not None
    }
    wanted = defaultdict[str, set[str]](set)
    for row in rows:
        if row.adequacy is not None:
            wanted[row.language].update(_all(bodies[row.standing_id, row.walk]))
    searches = {
        language: _search(language, some, crawls, cache_folder, listener)
        for language, some in sorted(wanted.items())
    }
    for row in rows:
        if row.adequacy is None:
            yield row
            continue
        search, own = searches[row.language], bodies[row.standing_id, row.walk]
        yield dataclasses.replace(
            row,
            contamination_date=earliest(search.dates.get(body) for body in own.test),
            contamination_basis=search.basis[row.repo],
            unit_date=earliest(search.dates.get(body) for body in own.code),
        )


def _standing_bodies(repository: Repository, row: StandingRow) -> _Bodies:
    tests = _tests(repository, row)
    code = [
        member.bare_hash
        for one in row.focus
        for member in _members(repository, row.new_rev, one.file)
        if one.is_about(member.start_line, member.end_line)
        and member.kind in ('method', 'constructor')
    ]
    return _Bodies(test=tuple(h for one in tests for h in _hashes(one)), code=tuple(code))


def _tests(repository: Repository, row: StandingRow) -> Iterator[Member]:
    """Those of the file; of a function, those of all files that execute it."""
    if row.executing_tests is None:
        file = _file(repository, row.new_rev, row.test_file)
        found = reading(row.language).find_tests(file, lambda name: ()) if file else ()
        yield from (member for _, member in found)
        return
    executing = {
        (one.test_file, one.test_class, one.test_method, one.parameters)
        for one in row.executing_tests
    }
    for path in sorted({one.test_file for one in row.executing_tests}):
        for member in _members(repository, row.new_rev, path):
            if (path, member.owner, member.name, member.parameters) in executing:
                yield member


@dataclass(frozen=True, slots=True, kw_only=True)
class _Search:
    """Of the bodies of one language: when each was first seen, if it was at all and there is telling;
    and what was searched, by clone.
    """

    dates: Mapping[str, datetime | None]
    basis: Mapping[str, str]


def _search(
    language: str,
    wanted: set[str],
    crawls: Mapping[str, DatedCrawl],
    cache_folder: Path,
    listener: Listener,
) -> _Search:
    dates: dict[str, datetime | None] = {}
    basis: dict[str, str] = {}
    step = f'histories ({language})'
    for number, repo in enumerate(sorted(crawls)):
        listener.step(step, number, len(crawls))
        crawl = crawls[repo]
        seen = first_seen(
            crawl.repository,
            language,
            wanted,
            crawled_at=crawl.crawled_at,
            cache_folder=cache_folder,
            refs=crawl.refs,
        )
        basis[repo] = str(seen.basis)
        for body, date in seen.dates.items():
            dates[body] = earliest((dates[body], date)) if body in dates else date
    listener.step(step, len(crawls), len(crawls))
    return _Search(dates=dates, basis=basis)


def _all(bodies: _Bodies) -> Iterator[str]:
    yield from bodies.code
    yield from bodies.test


def _bodies(repository: Repository, row: MethodRow) -> _Bodies:
    rev = row.old_rev if row.change is Change.DELETED else row.new_rev
    test = [
        hash_
        for member in _members(repository, rev, row.test_file)
        if member.owner == row.test_class
        and member.name == row.test_method
        and member.parameters == row.parameters
        for hash_ in _hashes(member)
    ]
    code = (_code(repository, row.new_rev, dependency) for dependency in row.dependencies)
    return _Bodies(test=tuple(test), code=tuple(hash_ for hashes in code for hash_ in hashes))


def _hashes(member: Member) -> tuple[str, ...]:
    return tuple(one for one in (member.bare_hash, member.body_hash) if one is not None)


def _code(repository: Repository, rev: str, dependency: Dependency) -> Iterator[str]:
    """The method or constructor that stands at a dependency's lines; none for the rest of a type,
    nor for a resource, of which no bodies are kept."""
    if dependency.revised is Revised.REMOVED or dependency.is_resource:
        return
    for member in _members(repository, rev, dependency.file):
        place = (member.start_line, member.end_line)
        if place == (dependency.start_line, dependency.end_line):
            yield member.bare_hash


def _members(repository: Repository, rev: str, path: str) -> Iterable[Member]:
    file = _file(repository, rev, path)
    return (member for type_ in (file.types if file else ()) for member in type_.members)


def _file(repository: Repository, rev: str, path: str) -> SourceFile | None:
    entry = repository.tree(rev).get(path)
    return None if entry is None else reading_at(path).parse(repository.blob(entry.oid), path)
