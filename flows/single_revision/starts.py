"""Where tasks of a suite start: the builders of each family, and why one makes nothing of a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from coevo.git.contents import load_content
from coevo.languages.surgery import StartStateInvalid, StartTarget
from coevo.languages.table import get_reading, get_surgery
from coevo.model.families import Family, StartBuilder
from coevo.model.reasons import Reason
from coevo.model.records import TestMethod, compute_short_hash
from coevo.model.single_revision_rows import SingleRevisionRow
from flows.single_revision.falls import compute_falls
from flows.single_revision.injected import build_injected_start
from flows.single_revision.observed_suite import ObservedSuite
from flows.single_revision.start_worth import measure_start, run_start
from flows.single_revision.started import NoStart, Start

BuildStart = Callable[[ObservedSuite, SingleRevisionRow], Start | NoStart]
"""From a suite and its row with all that its gold is worth."""


def build_absent_start(observed: ObservedSuite, row: SingleRevisionRow) -> Start | NoStart:
    if observed.is_needed:
        return NoStart(reason=Reason.FILE_NEEDED)
    return Start(text=None)


def build_as_is_start(observed: ObservedSuite, row: SingleRevisionRow) -> Start | NoStart:
    """The whole file, where it leaves lines of its focus out (TAM-Eval: "coverage < 100 %")."""
    gold = row.adequacy
    if gold is not None and gold.lines is not None and gold.covered_lines == gold.lines:
        return NoStart(reason=Reason.NOTHING_TO_ADD)
    return Start(text=observed.text, adequacy=gold)


# -- removed ---------------------------------------------------------------------------------------


def build_removed_start(observed: ObservedSuite, row: SingleRevisionRow) -> Start | NoStart:
    """Without half of its tests, drawn by a hash, and what they alone use ("Recover Tests")."""
    path, rev = observed.file.test_file, observed.revision.rev
    cut, targets = get_surgery(observed.revision.pair.language), _draw_half(observed.suite.methods)
    if not targets:
        return NoStart(reason=Reason.START_BROKEN, detail='no test would be left')
    try:
        text = cut.make_start_file(
            observed.text,
            observed.text,
            [StartTarget(method=target) for target in targets],
            used_elsewhere=cut.list_names_used_elsewhere(
                observed.revision.tools.repository, rev, path
            ),
        )
    except StartStateInvalid as error:
        return NoStart(reason=Reason.START_BROKEN, detail=str(error))
    assert text is not None, 'the file is there before'
    run = run_start(observed, text)
    if run.breaks_others:
        return NoStart(reason=Reason.FILE_NEEDED)
    if set(observed.suite.methods) - set(targets) - set(run.passing):
        return NoStart(reason=Reason.START_BROKEN, detail='a test that is left does not pass')
    adequacy = measure_start(observed, row, run)
    if not any(fall > 0 for fall in compute_falls(row.adequacy, adequacy)):
        return NoStart(reason=Reason.START_NO_WORSE, adequacy=adequacy)
    return Start(text=text, adequacy=adequacy)


def _draw_half(methods: tuple[TestMethod, ...]) -> tuple[TestMethod, ...]:
    """The same ones at each revision that has the same tests."""
    lot = sorted(
        methods,
        key=lambda one: compute_short_hash(one.test_class, one.test_method, *one.parameters),
    )
    return tuple(lot[: len(lot) // 2])


# -- older -----------------------------------------------------------------------------------------


def build_older_start(observed: ObservedSuite, row: SingleRevisionRow) -> Start | NoStart:
    """As at the newest commit with other code in the focal file, where it is worth less now."""
    older_rev = _find_older_rev(observed, row)
    if older_rev is None:
        return NoStart(reason=Reason.NO_OLDER_CODE)
    text = load_content(observed.revision.tools.repository, older_rev, observed.file.test_file)
    if text is None or text == observed.text:
        return NoStart(reason=Reason.SAME_TEST_FILE, rev=older_rev)
    run = run_start(observed, text)
    if run.breaks_others:
        return NoStart(reason=Reason.FILE_NEEDED, rev=older_rev)
    adequacy = measure_start(observed, row, run)
    fall = max(compute_falls(row.adequacy, adequacy), default=0.0)
    if fall < observed.revision.tools.profile.files.least_fall:
        return NoStart(
            reason=Reason.START_NO_WORSE, detail=f'{fall:.1f}', adequacy=adequacy, rev=older_rev
        )
    return Start(text=text, adequacy=adequacy, rev=older_rev)


def _find_older_rev(observed: ObservedSuite, row: SingleRevisionRow) -> str | None:
    """The newest commit of the first parents at which the focal file has other code."""
    (focus,) = row.focus
    now = _load_declarations(observed, observed.revision.rev, focus.file)
    for rev in _list_earlier_revisions(observed, focus.file):
        then = _load_declarations(observed, rev, focus.file)
        if then is None:
            return None
        if then != now:
            return rev
    return None


def _list_earlier_revisions(observed: ObservedSuite, path: str) -> Iterator[str]:
    """The commits before those that changed a file, newest first."""
    repository = observed.revision.tools.repository
    log = repository.run_command(
        'log', '--first-parent', '--format=%P', observed.revision.rev, '--', f':(literal){path}'
    )
    for line in log.decode().splitlines():
        parents = line.split()
        if parents:
            yield parents[0]


def _load_declarations(
    observed: ObservedSuite, rev: str, path: str
) -> frozenset[tuple[str, str, str]] | None:
    """What a file declares, by the hash of each; None where it does not exist."""
    text = load_content(observed.revision.tools.repository, rev, path)
    if text is None:
        return None
    file = get_reading(observed.revision.pair.language).parse(text, path)
    return frozenset(
        (type_.name, member.name, member.hash) for type_ in file.types for member in type_.members
    )


BUILDERS: Mapping[StartBuilder, BuildStart] = {
    StartBuilder.ABSENT: build_absent_start,
    StartBuilder.AS_IS: build_as_is_start,
    StartBuilder.REMOVED: build_removed_start,
    StartBuilder.OLDER: build_older_start,
    StartBuilder.INJECTED: build_injected_start,
}

STARTS: Mapping[Family, tuple[StartBuilder, ...]] = {
    Family.CLASS: (StartBuilder.ABSENT,),
    Family.FUNCTION: (StartBuilder.ABSENT,),
    Family.MODULE: (StartBuilder.ABSENT,),
    Family.FILE: (
        StartBuilder.ABSENT,
        StartBuilder.AS_IS,
        StartBuilder.REMOVED,
        StartBuilder.OLDER,
        StartBuilder.INJECTED,
    ),
}
