"""What the texts of a test method tell: smells, and what a change does to its assertions."""

from __future__ import annotations

from dataclasses import replace

from coevo.git.repository import Repository
from coevo.languages.java.smells.tsdetect import smells_of
from coevo.languages.table import reading_at
from coevo.measures.assertions import assertion_change
from coevo.measures.assertions import change_kinds
from coevo.measures.class_under_test import type_under_test
from coevo.model.quality import Coverage
from coevo.model.records import Candidate
from coevo.model.records import Label
from coevo.model.records import Pair
from coevo.model.records import TestMethod
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
    if candidate.old_source is None or candidate.new_source is None:
        return known
    change = assertion_change(candidate.old_source, candidate.new_source)
    return replace(known, assertions_lost=len(change.lost), assertions_gained=len(change.gained))


def refinement_kinds(
    label: Label | None, candidate: Candidate, old: Coverage | None, new: Coverage | None
) -> tuple[str, ...]:
    """What a refinement did; the coverages are of the old and the new test on the new code."""
    old_source, new_source = candidate.old_source, candidate.new_source
    if label is not Label.REFINEMENT or old_source is None or new_source is None:
        return ()
    return tuple(map(str, change_kinds(old_source, new_source, _share(old), _share(new))))


def _share(coverage: Coverage | None) -> float | None:
    """Of the lines that have code."""
    if coverage is None or not coverage.known_lines:
        return None
    return coverage.covered_lines / coverage.known_lines


def _smells(repository: Repository, rev: str, method: TestMethod | None) -> tuple[str, ...]:
    if method is None:
        return ()
    found = reading_at(method.test_file).tree(repository, rev)
    entry = found.entries[method.test_file]
    production = type_under_test(found, method)
    return tuple(map(str, smells_of(repository.blob(entry.oid), method, production)))
