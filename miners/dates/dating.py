"""Date the bodies of a clone's rows as a step of mining.

The rows are read from the clone, and its history is searched for the store.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import chain

from coevo.git.repository import Repository
from coevo.languages.declarations import Member, SourceFile
from coevo.languages.prints import BodyPrint, make_body_prints_by_hash
from coevo.languages.table import LANGUAGES, get_reading, get_reading_of_file, name_parser_version
from coevo.model.dependencies import Dependency, Revised
from coevo.model.listener import SILENT, Listener
from coevo.model.method_rows import MethodRow
from coevo.model.single_revision_rows import SingleRevisionRow
from coevo.model.words import MethodChange
from coevo.storage import dates
from coevo.storage.dates import RowBodies, SeenBodies, WantedBodies, WantedBody, compute_row_key
from coevo.storage.store import Store
from miners.dates.clone_search import SearchedClone, SearchListener, search_clone
from miners.dates.scanning import find_tests


def date_repository(
    store: Store, repo: str, clone: SearchedClone, listener: Listener = SILENT
) -> None:
    """Record which bodies a repository's rows want, and search its clone for all wanted bodies.

    The clone is searched for those of all repositories of the store. Known results are not computed
    again: a second call only reads the store.
    """
    for language in sorted(
        {part.language for part in store.list_partitions() if part.repo == repo}
    ):
        update_wanted_bodies(store, repo, language, clone)
    search_clone_for_bodies(store, repo, clone, load_wanted_prints(store), listener)


def update_wanted_bodies(
    store: Store,
    repo: str,
    language: str,
    clone: SearchedClone,
    more: Iterable[MethodRow | SingleRevisionRow] = (),
) -> None:
    """Record the bodies that the rows of a repository want: its stored rows and `more` rows.

    Bodies that no row wants any more are dropped.
    """
    version = name_parser_version(language)
    known = dates.load_wanted_bodies(store.storage, repo, language, version)
    rows = chain(list_stored_rows(store, repo, language), more)
    wanted = collect_wanted_bodies(clone.repository, language, rows, known)
    if wanted != known:
        dates.write_wanted_bodies(store.storage, repo, language, wanted)


def list_stored_rows(
    store: Store, repo: str, language: str
) -> Iterator[MethodRow | SingleRevisionRow]:
    """Yield the rows of a repository that get dates, of all walks.

    These are its method rows, and its rows of test files whose adequacy was measured.
    """
    for partition in store.list_partitions():
        if (partition.repo, partition.language) == (repo, language):
            for segment in store.load_current_segments(partition):
                yield from segment.methods
                yield from (row for row in segment.single_revision if row.adequacy is not None)


def search_clone_for_bodies(
    store: Store,
    repo: str,
    clone: SearchedClone,
    wanted: Mapping[str, Mapping[str, BodyPrint]],
    listener: Listener = SILENT,
) -> None:
    """Search a clone for all wanted bodies, write the results, and mark the clone as searched.

    wanted  what `load_wanted_prints` returns
    """
    for language, prints in wanted.items():
        _search_language(store, repo, language, clone, prints, listener)
    dates.mark_searched(store.storage, repo)


def _search_language(
    store: Store,
    repo: str,
    language: str,
    clone: SearchedClone,
    prints: Mapping[str, BodyPrint],
    listener: Listener,
) -> None:
    def keep_seen(seen: SeenBodies) -> None:
        """Write the state of the search to the store."""
        dates.write_seen_bodies(store.storage, repo, language, seen)

    def report_step(done: int, total: int) -> None:
        """Report the progress of the search."""
        listener.step(f'history ({language})', done, total)

    known = dates.load_seen_bodies(store.storage, repo, language, name_parser_version(language))
    seen = search_clone(
        clone, language, prints, known, SearchListener(keep=keep_seen, step=report_step)
    )
    if seen != known:
        keep_seen(seen)


def load_wanted_prints(store: Store) -> Mapping[str, Mapping[str, BodyPrint]]:
    """Return, by language, the prints of all bodies that a store's repositories want."""
    prints_by_language: dict[str, dict[str, BodyPrint]] = {}
    versions = {language: name_parser_version(language) for language in LANGUAGES}
    for language, wanted in dates.load_wanted_bodies_by_language(store.storage, versions):
        prints_by_language.setdefault(language, {}).update(unpack_prints(wanted.bodies))
    return prints_by_language


# The rest reads the bodies of rows from the clone: those of tests, and of the source methods that a
# pair introduces.

_TEXT = 'latin-1'  # maps each byte to one character


def collect_wanted_bodies(
    repository: Repository,
    language: str,
    rows: Iterable[MethodRow | SingleRevisionRow],
    known: WantedBodies | None,
) -> WantedBodies:
    """Return the bodies of all rows; read the clone only for rows that are not known yet."""
    reader = _RowReader(repository, language)
    row_bodies = {row.key: row for row in known.rows} if known else {}
    prints = {each.body: each for each in known.bodies} if known else {}
    wanted: dict[str, RowBodies] = {}
    for row in rows:
        key = compute_row_key(row)
        if key not in wanted:
            wanted[key] = row_bodies.get(key) or reader.read(key, row)
    bodies = {body for row in wanted.values() for body in (*row.test, *row.code)}
    prints |= reader.prints
    return WantedBodies(
        version=name_parser_version(language),
        rows=tuple(wanted[key] for key in sorted(wanted)),
        bodies=tuple(prints[body] for body in sorted(bodies)),
    )


def unpack_prints(wanted: Iterable[WantedBody]) -> Mapping[str, BodyPrint]:
    """Return the prints of bodies, by hash, in the form that a search takes."""
    return {
        each.body: BodyPrint(
            words=frozenset(_unpack_tokens(each.words)),
            spelled=frozenset(_unpack_tokens(each.spelled)),
            segments=tuple(_unpack_tokens(segment) for segment in each.segments),
            result=_unpack_tokens(each.result),
        )
        for each in wanted
    }


class _RowReader:
    """Reads bodies from a clone, and collects their prints."""

    def __init__(self, repository: Repository, language: str) -> None:
        self.prints: dict[str, WantedBody] = {}
        self._repository, self._reading = repository, get_reading(language)
        self._file = lru_cache(maxsize=64)(self._parse_file)

    def read(self, key: str, row: MethodRow | SingleRevisionRow) -> RowBodies:
        """Return the bodies of one row: of its tests, and of its source methods."""
        if isinstance(row, MethodRow):
            tests, code = self._find_method_test(row), self._list_method_code(row)
        else:
            tests, code = self._list_tests_of_row(row), self._list_focus_members(row)
        test_hashes = [body for member in tests for body in self._record_prints(member)]
        # For a source method, only its whole declaration is searched for: its block alone
        # identifies it poorly.
        code_hashes = [self._record_prints(member)[0] for member in code]
        return RowBodies(key=key, test=tuple(test_hashes), code=tuple(code_hashes))

    def _record_prints(self, member: Member) -> list[str]:
        """Record the prints of a member and return its hashes, the whole declaration first."""
        prints = dict(make_body_prints_by_hash(self._reading.LEXIS, member))
        for body, body_print in prints.items():
            self.prints[body] = WantedBody(
                body=body,
                words=_pack_tokens(sorted(body_print.words)),
                spelled=_pack_tokens(sorted(body_print.spelled)),
                segments=tuple(map(_pack_tokens, body_print.segments)),
                result=_pack_tokens(body_print.result),
            )
        return list(prints)

    def _find_method_test(self, row: MethodRow) -> Iterator[Member]:
        """Yield the test method of a row.

        It is searched for both as declared and by its block alone. So a method that got other
        modifiers or annotations, or was no test before, is still found.
        """
        rev = row.old_rev if row.change is MethodChange.DELETED else row.new_rev
        for member in self._list_members(rev, row.test_file):
            here = member.owner, member.name, member.parameters
            if here == (row.test_class, row.test_method, row.parameters):
                yield member

    def _list_method_code(self, row: MethodRow) -> Iterator[Member]:
        for dependency in row.dependencies:
            yield from self._find_dependency(row.new_rev, dependency)

    def _find_dependency(self, rev: str, dependency: Dependency) -> Iterator[Member]:
        """Yield the method or constructor at a dependency's lines.

        Nothing for a removed one, another part of a type, or a resource.
        """
        if dependency.revised is Revised.REMOVED or dependency.is_resource:
            return
        for member in self._list_members(rev, dependency.file):
            if (member.start_line, member.end_line) == (dependency.start_line, dependency.end_line):
                yield member

    def _list_tests_of_row(self, row: SingleRevisionRow) -> Iterator[Member]:
        """Yield the tests of the row's file; for a function, all tests that execute it."""
        if row.executing_tests is None:
            file = self._file(row.new_rev, row.test_file)
            yield from find_tests(self._reading, file) if file else ()
            return
        executing = {
            (each.test_file, each.test_class, each.test_method, each.parameters)
            for each in row.executing_tests
        }
        for path in sorted({each.test_file for each in row.executing_tests}):
            for member in self._list_members(row.new_rev, path):
                if (path, member.owner, member.name, member.parameters) in executing:
                    yield member

    def _list_focus_members(self, row: SingleRevisionRow) -> Iterator[Member]:
        for focus in row.focus:
            for member in self._list_members(row.new_rev, focus.file):
                is_method = member.kind in ('method', 'constructor')
                if is_method and focus.includes_declaration(member.start_line, member.end_line):
                    yield member

    def _list_members(self, rev: str, path: str) -> Iterator[Member]:
        file = self._file(rev, path)
        for type_ in file.types if file else ():
            yield from type_.members

    def _parse_file(self, rev: str, path: str) -> SourceFile | None:
        entry = self._repository.tree(rev).get(path)
        if entry is None:
            return None
        return get_reading_of_file(path).parse(self._repository.blob(entry.oid), path)


def _pack_tokens(tokens: Iterable[bytes]) -> str:
    return b' '.join(tokens).decode(_TEXT)


def _unpack_tokens(text: str) -> tuple[bytes, ...]:
    return tuple(text.encode(_TEXT).split(b' ')) if text else ()
