"""Measure the texts of a test method: its smells, and the change of its assertions."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from enum import StrEnum

from coevo.git.repository import Repository
from coevo.languages.capabilities import NOT_OFFERED
from coevo.languages.measures import Assertions
from coevo.languages.table import detect_file_language, get_measures, get_reading_of_file
from coevo.measures.declaration_pairs import find_type_under_test
from coevo.model.method_rows import MethodRow
from coevo.model.quality import Coverage
from coevo.model.records import Candidate, Pair, TestMethod
from coevo.model.words import Label

REFINED = (Label.REFINEMENT, Label.EXTENSION)
"""The labels of changed tests whose old version passes on the new code."""


def add_text_measures(
    row: MethodRow, repository: Repository, pair: Pair, candidate: Candidate
) -> MethodRow:
    """Return a method's row with its smells and the number of lost and gained assertions.

    Nothing is run for them.
    """
    row = replace(
        row,
        smells_old=_find_smells(repository, pair.old.rev, candidate.old),
        smells_new=_find_smells(repository, pair.new.rev, candidate.new),
    )
    change = _compare_assertions(candidate)
    if change is None:
        return row
    return replace(row, assertions_lost=len(change.lost), assertions_gained=len(change.gained))


def find_refinement_kinds(
    label: Label | None, candidate: Candidate, old: Coverage | None, new: Coverage | None
) -> tuple[str, ...]:
    """Return what changed in a refinement or extension, such as `assertions_gained`.

    Empty for other labels.

    old, new  coverage of the old and the new test on the new code; None if not measured
    """
    if label not in REFINED or candidate.old_source is None or candidate.new_source is None:
        return ()
    return tuple(
        map(
            str,
            classify_change(
                _compare_assertions(candidate),
                _compute_covered_share(old),
                _compute_covered_share(new),
            ),
        )
    )


def _compare_assertions(candidate: Candidate) -> AssertionChange | None:
    """Return how the assertions of a test changed.

    None if the test is missing at an end, or its language offers no assertions.
    """
    assertions = get_measures(detect_file_language(candidate.method.test_file)).assertions
    if assertions is None or candidate.old_source is None or candidate.new_source is None:
        return None
    return compare_assertions(assertions, candidate.old_source, candidate.new_source)


def _compute_covered_share(coverage: Coverage | None) -> float | None:
    """Return the covered share of the lines that have code; None if unknown."""
    if coverage is None or not coverage.known_lines:
        return None
    return coverage.covered_lines / coverage.known_lines


def _find_smells(repository: Repository, rev: str, method: TestMethod | None) -> tuple[str, ...]:
    if method is None:
        return ()
    smells = get_measures(detect_file_language(method.test_file)).smells
    if smells is None:
        return (NOT_OFFERED,)
    reading = get_reading_of_file(method.test_file)
    source = reading.open_tree(repository, rev).read_content(method.test_file)
    production = find_type_under_test(reading, repository, rev, method)
    return tuple(map(str, smells.find_smells(source, method, production)))


# The rest compares the assertions of a test method as texts, and classifies refinements by their
# changes.
#
# TAM-Eval (III-B) sorts broken tests by their defects: syntax; execution (fails to compile or to
# run); coverage (runs but adds little or nothing to coverage or mutation score); efficiency (lacks
# assertions or checks). Tests with the latter two defects pass, so undoing such a defect is a
# refinement. `AssertionKind` says which of the two a change of a test was, in either direction.

COVERAGE_STEP = 0.05
"""The minimal change of coverage that counts, as a share of lines: TAM-Eval III-C takes 5 %."""


class AssertionKind(StrEnum):
    """Kinds of change in a test that passes at both ends.

    `assertions_changed` is the same kind of assertion on other values.
    """

    ASSERTIONS_CHANGED = 'assertions_changed'
    ASSERTIONS_GAINED = 'assertions_gained'
    ASSERTIONS_LOST = 'assertions_lost'
    COVERAGE_GAINED = 'coverage_gained'
    COVERAGE_LOST = 'coverage_lost'


@dataclass(frozen=True, slots=True, kw_only=True)
class AssertionChange:
    """The texts of assertions that were removed or added, and of those whose values changed."""

    lost: tuple[str, ...]
    gained: tuple[str, ...]
    changed: tuple[tuple[str, str], ...]


def compare_assertions(assertions: Assertions, old_source: str, new_source: str) -> AssertionChange:
    """Return the assertions in which two versions of a test method differ.

    A lost and a gained assertion of one kind count as one that changed.

    old_source, new_source  the text of the method alone
    """
    old, new = (Counter(assertions.list_assertions(text)) for text in (old_source, new_source))
    lost, come = list((old - new).elements()), list((new - old).elements())
    changed = []
    for text in list(lost):
        kind = assertions.extract_assertion_name(text)
        other = next(
            (
                candidate
                for candidate in come
                if assertions.extract_assertion_name(candidate) == kind
            ),
            None,
        )
        if other is not None:
            changed.append((text, other))
            lost.remove(text)
            come.remove(other)
    return AssertionChange(lost=tuple(lost), gained=tuple(come), changed=tuple(changed))


def classify_change(
    change: AssertionChange | None, coverage_old: float | None, coverage_new: float | None
) -> tuple[AssertionKind, ...]:
    """Return the sorted kinds of the change of a passing test.

    change                      None if the language offers no assertions
    coverage_old, coverage_new  shares of the lines of the focal code, 0 to 1; None if not measured
    """
    kinds: dict[AssertionKind, bool] = {}
    if change is not None:
        kinds[AssertionKind.ASSERTIONS_CHANGED] = bool(change.changed)
        kinds[AssertionKind.ASSERTIONS_GAINED] = bool(change.gained)
        kinds[AssertionKind.ASSERTIONS_LOST] = bool(change.lost)
    if coverage_old is not None and coverage_new is not None:
        kinds[AssertionKind.COVERAGE_GAINED] = _is_notable_coverage_rise(coverage_old, coverage_new)
        kinds[AssertionKind.COVERAGE_LOST] = _is_notable_coverage_rise(coverage_new, coverage_old)
    return tuple(sorted(kind for kind, holds in kinds.items() if holds))


def _is_notable_coverage_rise(low: float, high: float) -> bool:
    return round(high - low, 9) >= COVERAGE_STEP
