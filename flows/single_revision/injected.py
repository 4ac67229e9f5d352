"""The start `injected`: a test file with one defect, of a kind that is drawn, which a run has proven."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from coevo.languages.capabilities import NOT_OFFERED
from coevo.languages.declarations import Member
from coevo.languages.table import get_measures, get_reading
from coevo.model.families import Defect, SuiteAdequacy
from coevo.model.reasons import Reason
from coevo.model.records import compute_short_hash
from coevo.model.single_revision_rows import SingleRevisionRow
from coevo.model.words import Outcome
from flows.single_revision.falls import compute_falls
from flows.single_revision.observed_suite import ObservedSuite
from flows.single_revision.start_worth import StartRun, measure_start, run_start
from flows.single_revision.started import NoStart, Start

_GREEN = (Defect.MISSED_ASSERTS, Defect.NO_NEW_COVERED_LOGIC)
# Of one kind, before another is tried.
_TRIES = 3


def build_injected_start(observed: ObservedSuite, row: SingleRevisionRow) -> Start | NoStart:
    """The first kind, by lot, of which a defect does what such a defect does (TAM-Eval, repairs)."""
    insertion = get_measures(observed.revision.pair.language).defects
    if insertion is None:
        return NoStart(reason=Reason.NO_DEFECT, detail=NOT_OFFERED)
    tests, path = _draw_passing_tests(observed), observed.file.test_file
    for kind in order_defects(path):
        for text in islice(insertion.insert_defects(kind, observed.text, tests), _TRIES):
            adequacy = _prove_defect(observed, row, kind, text, insertion.UNRESOLVED)
            if adequacy is not None:
                return Start(text=text, adequacy=adequacy, defect=kind)
    return NoStart(reason=Reason.NO_DEFECT)


def order_defects(path: str) -> Sequence[Defect]:
    """All, in the order in which they are tried for a test file."""
    return sorted(Defect, key=lambda one: compute_short_hash(path, one))


def _draw_passing_tests(observed: ObservedSuite) -> Sequence[Member]:
    """Those that pass, by lot: the same at each revision that has the same tests."""
    file = get_reading(observed.revision.pair.language).parse(
        observed.text, observed.file.test_file
    )
    passing = {
        (method.test_class, method.test_method, method.parameters)
        for method in observed.suite.methods
    }
    members = [
        member
        for type_ in file.types
        for member in type_.members
        if (type_.name, member.name, member.parameters) in passing
    ]
    return sorted(members, key=lambda one: compute_short_hash(one.owner, one.name, *one.parameters))


def _prove_defect(
    observed: ObservedSuite,
    row: SingleRevisionRow,
    kind: Defect,
    text: bytes,
    unresolved: frozenset[Outcome],
) -> SuiteAdequacy | None:
    """What the file is worth with a defect; None where that is none of its kind."""
    if text == observed.text:
        return None
    run = run_start(observed, text)
    if run.breaks_others or not _shows_defect(kind, run, unresolved):
        return None
    adequacy = measure_start(observed, row, run)
    if kind in _GREEN and not any(fall > 0 for fall in compute_falls(row.adequacy, adequacy)):
        return None
    return adequacy


def _shows_defect(kind: Defect, run: StartRun, unresolved: frozenset[Outcome]) -> bool:
    """Whether the tests end as with such a defect."""
    if kind in _GREEN:
        return run.outcomes <= {Outcome.PASS, Outcome.SKIPPED}
    if kind is Defect.RUNTIME_ERRORS:
        broken = {Outcome.FAIL, Outcome.ERROR, Outcome.TIMEOUT}
        return Outcome.COMPILE_ERROR not in run.outcomes and bool(run.outcomes & broken)
    if kind is Defect.SYNTAX_ERROR:
        return Outcome.COMPILE_ERROR in run.outcomes
    return bool(unresolved & run.outcomes)
