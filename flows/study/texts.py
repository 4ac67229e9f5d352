"""What the texts of a test method tell: smells, and what a change does to its assertions."""

from __future__ import annotations

from dataclasses import replace

from coevo.git.repository import Repository
from coevo.languages.capabilities import NOT_OFFERED
from coevo.languages.table import detect_file_language, get_measures, get_reading_of_file
from coevo.measures.assertions import AssertionChange, classify_change, compare_assertions
from coevo.measures.type_under_test import find_type_under_test
from coevo.model.method_rows import MethodRow
from coevo.model.quality import Coverage
from coevo.model.records import Candidate, Pair, TestMethod
from coevo.model.words import Label


def add_text_measures(
    row: MethodRow, repository: Repository, pair: Pair, candidate: Candidate
) -> MethodRow:
    """Return a method's row with what needs no run."""
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
    """What a refinement did; the coverages are of the old and the new test on the new code."""
    if (
        label is not Label.REFINEMENT
        or candidate.old_source is None
        or candidate.new_source is None
    ):
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
    """None where the test does not stand at both ends, or its language offers no assertions."""
    assertions = get_measures(detect_file_language(candidate.method.test_file)).assertions
    if assertions is None or candidate.old_source is None or candidate.new_source is None:
        return None
    return compare_assertions(assertions, candidate.old_source, candidate.new_source)


def _compute_covered_share(coverage: Coverage | None) -> float | None:
    """Of the lines that have code."""
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
