"""Neighbours that a patch weakens: they pass, but no longer notice what they noticed before.

Only neighbours that the patch touches are asked, so a patch that leaves them alone costs nothing.
They are run with released mutants of the change, and have to notice those that they notice in
gold's file. Where they notice none there, they may at least not have fewer assertions. Rewritten
ones also have to pass under the observer, as targets do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from coevo.evaluation.assignments import locate_target
from coevo.evaluation.judging.neighbours import NeighbourResult
from coevo.evaluation.judging.submitted_tests import run_alone
from coevo.evaluation.judging.task_context import TaskContext, recall_or_compute
from coevo.evaluation.ledger import Ledger
from coevo.evaluation.measuring.adequacy import select_released_mutants
from coevo.evaluation.measuring.gold import GoldMethod
from coevo.evaluation.suites.maintained_kills import measure_kills
from coevo.languages.capabilities import Capability
from coevo.languages.declarations import DeclaredType, Member, SourceFile
from coevo.languages.reading import LanguageReading
from coevo.languages.table import get_measures, get_reading, offers_capability
from coevo.measures.edited_cells import EditedCellRunner
from coevo.measures.mutant_sets import DrawnMutant, join_sets
from coevo.model.records import TestMethod
from coevo.model.words import Outcome

# The neighbours whose worth a patch may have changed, by the syntax trees of the test file.
#
# A neighbour is touched if its own text is neither that of the start file nor that of gold's file,
# or if the same holds for something that it may use: a fixture, a helper, a field, the head of its
# class, an import. What a patch adds touches a neighbour only if it runs by itself (a fixture, an
# initialiser) or takes a name that the neighbours use.

Key = tuple[str, str, str, tuple[str, ...]]
"""The owner, kind, name and parameters of a member."""

_CALLABLES = ('method', 'constructor')


@dataclass(frozen=True, slots=True, kw_only=True)
class TouchedNeighbours:
    """Neighbours by name.

    rewritten         those with another text of their own
    touched           these and those that use something changed
    fewer_assertions  touched ones that have fewer assertions, in themselves or in a helper that they
                      name
    """

    rewritten: frozenset[str] = frozenset()
    touched: frozenset[str] = frozenset()
    fewer_assertions: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class NeighbourFile:
    """A test file as far as its neighbours matter.

    known        its content in the start file and in gold's file, as far as these exist
    find_targets returns the targets that a parsed version declares
    neighbours   the neighbours that pass with a patch, by name
    """

    language: str
    path: str
    known: tuple[bytes, ...]
    find_targets: Callable[[SourceFile], Iterable[TestMethod]]
    neighbours: Mapping[str, TestMethod]


def find_touched_neighbours(file: NeighbourFile, patched: bytes) -> TouchedNeighbours:
    """Return which of the neighbours that pass with a patch it touches."""
    reading, neighbours = get_reading(file.language), file.neighbours
    known = [_read_members(file, text) for text in file.known]
    now = _read_members(file, patched)
    own = {name: key for name, method in neighbours.items() if (key := _make_key(method))}
    rewritten = frozenset(
        name
        for name, key in own.items()
        if key in now.tests
        and not any(_is_same(now.tests, version.tests, key) for version in known)
    )
    shares_changes = now.file.has_error or any(_list_shared_changes(reading, now, known))
    touched = frozenset(neighbours) if shares_changes else rewritten
    return TouchedNeighbours(
        rewritten=rewritten,
        touched=touched,
        fewer_assertions=frozenset(
            name
            for name, key in own.items()
            if name in touched and _has_fewer_assertions(file.language, key, now, known)
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _FileMembers:
    """The members of a file by their keys, without those of the targets.

    tests   the neighbours
    shared  all others
    """

    file: SourceFile
    tests: Mapping[Key, Member]
    shared: Mapping[Key, Member]

    @property
    def used_identifiers(self) -> frozenset[str]:
        """The identifiers in all of these members."""
        members = (*self.tests.values(), *self.shared.values())
        return frozenset[str]().union(*(member.names for member in members))

    @property
    def imported_names_by_text(self) -> dict[str, str]:
        """The imported names by the text of the import."""
        return {f'{import_.text} {import_.static}': import_.name for import_ in self.file.imports}

    @property
    def types(self) -> Mapping[str, DeclaredType]:
        """The types by their binary names."""
        return {type_.name: type_ for type_ in self.file.types}


def _read_members(file: NeighbourFile, text: bytes) -> _FileMembers:
    parsed = get_reading(file.language).parse(text, file.path)
    own = set(map(_make_key, file.neighbours.values()))
    targets = set(map(_make_key, file.find_targets(parsed)))
    members = {
        (member.owner, member.kind, member.name, member.parameters): member
        for type_ in parsed.types
        for member in type_.members
    }
    return _FileMembers(
        file=parsed,
        tests={key: member for key, member in members.items() if key in own},
        shared={key: member for key, member in members.items() if key not in own | targets},
    )


def _make_key(method: TestMethod) -> Key:
    return method.test_class, 'method', method.test_method, method.parameters


def _is_same(now: Mapping[Key, Member], before: Mapping[Key, Member], key: Key) -> bool:
    return key in now and key in before and now[key].hash == before[key].hash


def _list_shared_changes(
    reading: LanguageReading, now: _FileMembers, known: Iterable[_FileMembers]
) -> Iterator[str]:
    """Yield the names of what a patch changes, removes or adds beside tests, if it may matter."""
    files = list(known)
    used = frozenset[str]().union(*(file.used_identifiers for file in files))
    before = {key for file in files for key in file.shared}
    kept_by_all = before.intersection(*(file.shared for file in files))
    for key in before if files else ():
        is_kept = any(_is_same(now.shared, file.shared, key) for file in files)
        if (key in now.shared or key in kept_by_all) and not is_kept:
            yield key[2]
    for key, member in now.shared.items():
        if key not in before and _may_matter(reading, member, used):
            yield member.name
    shapes = {(name, type_.shape_hash) for file in files for name, type_ in file.types.items()}
    old_names = {name for name, _ in shapes}
    for name, type_ in now.types.items():
        if (name, type_.shape_hash) not in shapes and (name in old_names or type_.simple in used):
            yield name
    old_imports = {text for file in files for text in file.imported_names_by_text}
    for text, name in now.imported_names_by_text.items():
        if text not in old_imports and (name in used or name in ('', '*')):
            yield name


def _may_matter(reading: LanguageReading, added: Member, used: frozenset[str]) -> bool:
    """Return whether an added member runs by itself, or takes a name that is in use."""
    if reading.is_run_by_framework(added) or added.name in used:
        return True
    return added.kind not in (*_CALLABLES, 'field')


def _has_fewer_assertions(
    language: str, key: Key, now: _FileMembers, known: Iterable[_FileMembers]
) -> bool:
    """Return whether a neighbour has fewer assertions than in each version before.

    The assertions of the helpers that it names count as its own.
    """
    assertions = get_measures(language).assertions
    if assertions is None or key not in now.tests:
        return False

    def count_assertions(file: _FileMembers) -> int:
        """Return the number of assertions of the neighbour in a version of the file."""
        test = file.tests[key]
        helpers = (member for member in file.shared.values() if member.name in test.names)
        return sum(len(assertions.list_assertions(member.source)) for member in (test, *helpers))

    before = [count_assertions(file) for file in known if key in file.tests]
    return bool(before) and count_assertions(now) < min(before)


# The most mutants, drawn by their ids, and the most rewritten neighbours that are watched.
MOST_MUTANTS = 30
MOST_WATCHED = 20

_WHAT = 'neighbour_kills'

Methods = Mapping[str, TestMethod]


@dataclass(frozen=True, slots=True, kw_only=True)
class NeighbourStrength:
    """The neighbours that became weaker, by name; `touched` is the number of those asked."""

    weakened: tuple[str, ...] = ()
    touched: int = 0
    cpu_seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _GoldKill:
    """A mutant, and the neighbours that notice it in gold's file: at least one."""

    mutant_id: str
    tests: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _GoldKills:
    kills: tuple[_GoldKill, ...]


def find_weakened_neighbours(
    context: TaskContext,
    patched: bytes,
    others: NeighbourResult,
    gold: Iterable[GoldMethod],
    ledger: Ledger | None,
) -> NeighbourStrength:
    """Return the neighbours that pass with a patch and are weaker than in gold's file.

    Raises: Transient if a test process does not start.
    """
    neighbours = find_touched_neighbours(_describe_file(context, others.methods), patched)
    if not neighbours.touched:
        return NeighbourStrength()
    mutants = _select_usable_released_mutants(gold)
    runner = context.make_edited_runner(context.gold)
    entry = recall_or_compute(
        ledger,
        context.assignment,
        (_WHAT, *sorted(others.methods)),
        _GoldKills,
        lambda: _find_gold_kills(context, runner, others.methods, mutants),
    )
    kills = {kill.mutant_id: frozenset(kill.tests) for kill in entry.kills}
    killed_mutants = [mutant for mutant in mutants if mutant.mutant_id in kills]
    touched = {name: others.methods[name] for name in others.methods if name in neighbours.touched}
    own = context.make_edited_runner(patched)
    missed, settled = _find_missing_and_asked_neighbours(
        context, own, touched, killed_mutants, kills
    )
    watched = [name for name in touched if name in neighbours.rewritten][:MOST_WATCHED]
    unseen, cpu_seconds = _find_unconfirmed_passes_with_cpu_seconds(
        context, patched, {name: touched[name] for name in watched}
    )
    lacking = neighbours.fewer_assertions - settled
    return NeighbourStrength(
        weakened=tuple(sorted(missed | unseen | lacking)),
        touched=len(touched),
        cpu_seconds=runner.cpu_seconds + own.cpu_seconds + cpu_seconds,
    )


def _describe_file(context: TaskContext, neighbours: Methods) -> NeighbourFile:
    def find_targets(file: SourceFile) -> Iterator[TestMethod]:
        """Yield the targets of the task, by their names at the start and in gold's file."""
        for target in context.assignment.targets:
            for name in (target.method_at_start, target.row.test_method):
                method = locate_target(file, target, name)
                if method is not None:
                    yield method

    return NeighbourFile(
        language=context.pair.language,
        path=context.assignment.task.test_file,
        known=tuple(text for text in (context.start, context.gold) if text is not None),
        find_targets=find_targets,
        neighbours=neighbours,
    )


def _select_usable_released_mutants(gold: Iterable[GoldMethod]) -> Sequence[DrawnMutant]:
    joined = join_sets(map(select_released_mutants, gold))
    usable = {mutant.mutant_id: mutant for mutant in joined.mutants if not mutant.equal_compiled}
    return [usable[mutant_id] for mutant_id in sorted(usable)[:MOST_MUTANTS]]


def _find_gold_kills(
    context: TaskContext,
    runner: EditedCellRunner,
    methods: Methods,
    mutants: Sequence[DrawnMutant],
) -> _GoldKills:
    kills = measure_kills(runner, context.module, methods, mutants) if mutants else None
    noticing = zip(mutants, kills.by_mutant if kills else (), strict=True)
    return _GoldKills(
        kills=tuple(
            _GoldKill(mutant_id=mutant.mutant_id, tests=tuple(sorted(names)))
            for mutant, names in noticing
            if names
        )
    )


def _find_missing_and_asked_neighbours(
    context: TaskContext,
    runner: EditedCellRunner,
    touched: Methods,
    killed_mutants: Sequence[DrawnMutant],
    kills: Mapping[str, frozenset[str]],
) -> tuple[frozenset[str], frozenset[str]]:
    """Return the neighbours that miss a mutant, and all that were asked about one."""
    concerned = [mutant for mutant in killed_mutants if touched.keys() & kills[mutant.mutant_id]]
    if not concerned:
        return frozenset(), frozenset()
    now = measure_kills(runner, context.module, touched, concerned)
    missed: set[str] = set()
    settled: set[str] = set()
    for mutant, noticing in zip(concerned, now.by_mutant, strict=True):
        wanted = now.measured & kills[mutant.mutant_id]
        settled |= wanted
        missed |= wanted - noticing
    return frozenset(missed), frozenset(settled)


def _find_unconfirmed_passes_with_cpu_seconds(
    context: TaskContext, patched: bytes, methods: Methods
) -> tuple[frozenset[str], float]:
    """Return the neighbours whose pass the observer does not confirm, and the CPU seconds.

    None are returned if the language offers no observer.
    """
    if not methods or not offers_capability(context.pair.language, Capability.OBSERVE):
        return frozenset(), 0.0
    conditions = replace(
        context.conditions,
        observed=True,
        expects=get_reading(context.pair.language).list_expected_throws(patched),
    )
    cell = context.compile(context.pair.new.rev, ((context.assignment.task.test_file, patched),))
    unseen, cpu_seconds = set(), cell.cpu_seconds
    for name, method in methods.items():
        verdict, batch = run_alone(context.built, cell, method, conditions)
        cpu_seconds += batch.cpu_seconds
        if verdict.outcome is not Outcome.PASS or verdict.tampered is not None:
            unseen.add(name)
    return frozenset(unseen), cpu_seconds
