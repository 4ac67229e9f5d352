"""Make rows of functions that no test executes, so that a release has tasks without gold of them.

Mining drops such a function (`not_tested`), since no test file can be its gold. What needs no gold
can still be asked of it: whether submitted tests pass, which lines they reach, which mutants they
kill. The rows are made of the drops and the clone, so nothing is mined again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field, replace
from itertools import chain

from coevo.git.repository import Repository
from coevo.languages.table import get_reading
from coevo.model.families import Family, StartBuilder, SuiteAdequacy
from coevo.model.pair_rows import PairRow
from coevo.model.profiles import load_profile
from coevo.model.reasons import Reason
from coevo.model.records import Drop, compute_short_hash
from coevo.model.single_revision_rows import SingleRevisionRow
from coevo.model.words import Stage
from miners.units import UntestedFunction, list_code_units, list_untested_functions
from packagers.dating import find_earliest_if_all_known
from packagers.rows import Rows, list_rows_of_repo

# The adequacy of a gold file that does not exist.
_NO_GOLD = SuiteAdequacy(tests=0, passing=0)


def add_untested_functions(rows: Rows, open_clone: Callable[[str], Repository]) -> Rows:
    """Return the rows with a row of `single_revision` for each untested function, not its drop.

    A function that calls other code of the project keeps its drop, with the reason
    `not_self_contained`. One that a test file names, or for which no test file shows where tests
    belong, keeps it as it is; so does one in a module whose environment is unknown.
    """
    replacement = _Replacement()
    for row in rows.repositories:
        replacement.add_repository(rows, row.repo, open_clone)
    if not replacement.rows and not replacement.drops:
        return rows
    drops = (
        replacement.drops.get(drop.key, drop)
        for drop in rows.drops
        if drop.key not in replacement.keys
    )
    return rows.replace_tables(
        single_revision=chain(rows.single_revision, replacement.rows), drops=drops
    )


@dataclass(slots=True, kw_only=True)
class _Replacement:
    """The rows that replace drops, the keys of those drops, and drops with another reason."""

    rows: list[SingleRevisionRow] = field(default_factory=list)
    keys: set[str] = field(default_factory=set)
    drops: dict[str, Drop] = field(default_factory=dict)

    def add_repository(
        self, rows: Rows, repo: str, open_clone: Callable[[str], Repository]
    ) -> None:
        """Add what becomes of the untested functions of a repository."""
        dropped: dict[str, dict[str, Drop]] = defaultdict(dict)
        for drop in list_rows_of_repo(rows.drops, repo):
            if (drop.stage, drop.reason) == (Stage.SINGLE_REVISION, Reason.NOT_TESTED):
                dropped[drop.pair_id or ''][drop.key] = drop
        if not dropped:
            return
        modules = {
            (environment.pair_id, environment.module)
            for environment in list_rows_of_repo(rows.environments, repo)
        }
        for pair in list_rows_of_repo(rows.pairs, repo):
            if pair.pair_id in dropped:
                own = {module for pair_id, module in modules if pair_id == pair.pair_id}
                self._add_pair(pair, dropped[pair.pair_id], own, open_clone(repo))

    def _add_pair(
        self, pair: PairRow, dropped: dict[str, Drop], modules: Collection[str], clone: Repository
    ) -> None:
        for key, function in _list_dropped_functions(pair, dropped, clone):
            if function.callees:
                detail = f'{function.unit.name} {" ".join(function.callees[:3])}'
                self.drops[key] = replace(
                    dropped[key], reason=Reason.NOT_SELF_CONTAINED, detail=detail
                )
            elif function.test_file is not None and function.module in modules:
                self.keys.add(key)
                self.rows.append(_make_row(pair, function, function.test_file))


def _list_dropped_functions(
    pair: PairRow, dropped: Collection[str], clone: Repository
) -> Iterator[tuple[str, UntestedFunction]]:
    """Yield the dropped functions of a pair that no test file names, each with the drop's key."""
    tree = get_reading(pair.language).open_tree(clone, pair.new_rev)
    units = [
        unit
        for unit in list_code_units(tree, pair.language, [Family.FUNCTION], load_profile('default'))
        if _compute_drop_key(pair, unit.name) in dropped
    ]
    for function in list_untested_functions(tree, pair.language, units):
        yield _compute_drop_key(pair, function.unit.name), function


def _compute_drop_key(pair: PairRow, name: str) -> str:
    return compute_short_hash(pair.pair_id, Family.FUNCTION, name)


def _make_row(pair: PairRow, function: UntestedFunction, test_file: str) -> SingleRevisionRow:
    """Return the row of a function, dated by its revision.

    No test of it was public then, as far as coevo knows.
    """
    family, start, name = Family.FUNCTION, StartBuilder.ABSENT, function.unit.name
    return SingleRevisionRow(
        suite_id=compute_short_hash(pair.pair_id, test_file, family, start, name),
        repo=pair.repo,
        walk=pair.walk,
        pair_id=pair.pair_id,
        language=pair.language,
        new_rev=pair.new_rev,
        module=function.module,
        test_file=test_file,
        tests=0,
        passing=0,
        unstable=0,
        focus=function.focus,
        adequacy=_NO_GOLD,
        family=family,
        start_builder=start,
        start_patch='',
        unit=name,
        complexity=function.unit.complexity,
        executing_tests=(),
        contamination_date=find_earliest_if_all_known(
            (pair.new_author_date, pair.new_committer_date)
        ),
    )
