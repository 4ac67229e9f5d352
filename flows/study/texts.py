"""What the texts of a test method tell: smells, and what a change does to its assertions."""

from __future__ import annotations

from dataclasses import replace

from coevo.git.repository import Repository
from coevo.languages.capabilities import NOT_OFFERED
from coevo.languages.table import language_at
from coevo.languages.table import measures
from coevo.languages.table import reading_at
from coevo.measures.assertions import AssertionChange
from coevo.measures.assertions import assertion_change
from coevo.measures.assertions import change_kinds
from coevo.measures.type_under_test import type_under_test
from coevo.model.quality import Coverage
from coevo.model.records import Candidate
from coevo.model.records import Pair
from coevo.model.records import TestMethod
from coevo.model.words import Label
from flows.findings import MethodFindings


def with_texts(
    known: MethodFindings, repository: Repository, pair: Pair, candidate: Candidate
) -> MethodFindings:
    """With what needs no run."""
    known = replace(
        known,
        smells_old=_smells(repository, pair.old.rev, candidate.old),
        smells_new=_smells(repository, pair.new.rev, candidate.new),
    )
    change = _change(candidate)
    if change is None:
        return known
    return replace(known, assertions_lost=len(change.lost), assertions_gained=len(change.gained))


def refinement_kinds(
    label: Label | None, candidate: Candidate, old: Coverage | None, new: Coverage | None
) -> tuple[str, ...]:
    """What a refinement did; the coverages are of the old and the new test on the new code."""
    if (
        label is not Label.REFINEMENT
        or candidate.old_source is None
        or candidate.new_source is None
    ):
        return ()
    return tuple(map(str, change_kinds(_change(candidate), _share(old), _share(new))))


def _change(candidate: Candidate) -> AssertionChange | None:
    """None where the test does not stand at both ends, or its language offers no assertions."""
    assertions = measures(language_at(candidate.method.test_file)).assertions
    if assertions is None or candidate.old_source is None or candidate.new_source is None:
        return None
    return assertion_change(assertions, candidate.old_source, candidate.new_source)


def _share(coverage: Coverage | None) -> float | None:
    """Of the lines that have code."""
    if coverage is None or not coverage.known_lines:
        return None
    return coverage.covered_lines / coverage.known_lines


def _smells(repository: Repository, rev: str, method: TestMethod | None) -> tuple[str, ...]:
    if method is None:
        return ()
    smells = measures(language_at(method.test_file)).smells
    if smells is None:
        return (NOT_OFFERED,)
    reading = reading_at(method.test_file)
    source = reading.tree(repository, rev).content(method.test_file)
    production = type_under_test(reading, repository, rev, method)
    return tuple(map(str, smells.smells_of(source, method, production)))
