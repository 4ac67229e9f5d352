"""What a test file covers of a focal file, by the product: its environment, sandbox, verdicts and coverage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from coevo.git.repository import Repository
from coevo.languages.cells import CellEdits, CompiledTests
from coevo.languages.conditions import RunConditions
from coevo.languages.engine import BuiltPair
from coevo.languages.reading import RevisionTree
from coevo.languages.table import get_reading
from coevo.languages.traces import CoveredLine
from coevo.languages.verdicts import Verdict
from coevo.measures.edited_cells import EditedCellRunner
from coevo.model.records import Pair, TestMethod
from coevo.model.words import Outcome, Walk


@dataclass(frozen=True, slots=True, kw_only=True)
class Covered:
    """What the passing tests of a file cover together.

    outcomes  how many tests, by outcome
    lines     of the focal file that hold code; none where no test passes, or nothing is known
    trouble   what stood in the way, in the product's words
    """

    outcomes: dict[str, int]
    lines: tuple[CoveredLine, ...] = ()
    trouble: str = ''

    @property
    def known(self) -> frozenset[int]:
        return frozenset(one.line for one in self.lines)

    @property
    def covered(self) -> frozenset[int]:
        return frozenset(one.line for one in self.lines if one.covered_instructions)

    @property
    def whole(self) -> frozenset[int]:
        """Those of which no instruction is missed."""
        return frozenset(
            one.line
            for one in self.lines
            if one.covered_instructions and not one.missed_instructions
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TestText:
    """A test file with a text, which may be another than its own."""

    __test__ = False

    path: str
    text: bytes
    is_own: bool


def single_revision_pair(repository: Repository, repo: str, rev: str, language: str) -> Pair:
    """A revision with itself."""
    commit = repository.get_commit(rev)
    return Pair(
        repo=repo,
        language=language,
        walk=Walk.SINGLE_REVISION,
        old=commit,
        new=commit,
        old_is_ancestor=True,
    )


def covered(repository: Repository, built: BuiltPair, test: TestText, focal: str) -> Covered:
    """What a text covers of a focal file; Transient."""
    tree = get_reading(built.pair.language).open_tree(repository, built.pair.new.rev)
    module = tree.find_module(test.path)
    trouble = built.new.failure or built.new.find_trouble(module)
    if trouble is not None:
        return Covered(outcomes={}, trouble=trouble)
    methods = tests_of(built.pair.language, tree, test, module)
    if not methods:
        return Covered(outcomes={}, trouble='no tests')
    compiled = _compiled(built, module, test)
    runner = EditedCellRunner(built=built, repository=repository)
    verdicts = runner.run_all(compiled, methods, None)
    outcomes, trouble = _told(verdicts)
    passing = [one for one, verdict in zip(methods, verdicts, strict=True) if _passes(verdict)]
    if not passing:
        return Covered(outcomes=outcomes, trouble=trouble)
    traced = built.trace(compiled, passing, [focal], RunConditions(), shared=True, together=True)
    whole = traced.together
    return Covered(
        outcomes=outcomes, lines=whole.lines.get(focal, ()) if whole else (), trouble=trouble
    )


def _passes(verdict: Verdict | None) -> bool:
    return verdict is not None and verdict.outcome is Outcome.PASS


def _compiled(built: BuiltPair, module: str, test: TestText) -> CompiledTests:
    """Which other files of the tree load is not asked, but of languages that compile."""
    rev, edits = built.pair.new.rev, CellEdits(tests=((test.path, test.text),))
    if built.pair.language != 'python':
        return built.compile(rev, rev, module, edits=None if test.is_own else edits)
    return CompiledTests(
        tests_rev=rev,
        code_rev=rev,
        module=module,
        unit_ok=True,
        edits=None if test.is_own else edits,
    )


def _told(verdicts: Sequence[Verdict | None]) -> tuple[dict[str, int], str]:
    outcomes = Counter('lost' if one is None else str(one.outcome) for one in verdicts)
    said = Counter(
        f'{one.outcome} {one.signature} {one.environment or ""}'.strip()
        for one in verdicts
        if one is not None and one.outcome.is_broken
    )
    return dict(outcomes), '; '.join(name for name, _ in said.most_common(3))


def tests_of(
    language: str, tree: RevisionTree, test: TestText, module: str
) -> tuple[TestMethod, ...]:
    read = get_reading(language)
    found = read.find_tests(
        read.parse(test.text, test.path),
        lambda simple: [one.type for one in tree.resolve_type(test.path, simple)],
    )
    return tuple(
        TestMethod(
            module=module,
            test_file=test.path,
            test_class=type_.name,
            test_method=member.name,
            parameters=member.parameters,
        )
        for type_, member in found
    )
