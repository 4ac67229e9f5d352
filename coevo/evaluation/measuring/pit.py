"""PIT's mutants of the changed methods, run on request in addition to the released mutants.

PIT's answer is advisory. Its minions load the submitted test and report their own kills, so a test
could claim any number of kills. No outcome, no SuccessStrict and no other flag follows from it.
Trouble on the way is a reason in PIT's own record.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from coevo.evaluation.assignments import Target
from coevo.evaluation.judging.task_context import SubmissionContext
from coevo.evaluation.ledger import JUDGING_VERSION
from coevo.evaluation.measuring.coverage import (
    Lines,
    add_watched_ranges,
    list_watch_names_at_revision,
)
from coevo.evaluation.worth import Adequacy, PitKills
from coevo.git.repository import load_content
from coevo.languages.capabilities import Capability
from coevo.languages.cells import CellEdits, CompiledTests
from coevo.languages.mutation import ByteCodeMutants
from coevo.languages.table import LANGUAGES, get_engine_version, offers_capability
from coevo.measures.declaration_pairs import find_method_or_constructor
from coevo.model import codec
from coevo.model.dependencies import Revised
from coevo.model.errors import Transient
from coevo.model.quality import PitTrouble
from coevo.model.records import TestMethod, compute_short_hash
from coevo.storage import durable

# The most targets of a task for which PIT runs, in their order. For each, it runs the submitted
# test and gold's.
MOST_METHODS = 20

Mutant = tuple[str, str, str, int, str, str]

_BEYOND = ByteCodeMutants(trouble=PitTrouble.BUDGET)


@dataclass(frozen=True, slots=True, kw_only=True)
class _TestVersion:
    """A test in one version of the task's test file."""

    file: bytes | None
    method: TestMethod


def add_pit_kills(
    context: SubmissionContext, found: Mapping[str, Adequacy], cache_folder: Path | None
) -> dict[str, Adequacy]:
    """Run PIT on submitted tests and on gold's, and return the adequacies by name with its answers.

    Targets beyond the first `MOST_METHODS` of the task get `budget` as their trouble.
    kept  folder that keeps the answers for the same test file and code; None: run anew
    """
    adequacies = {}
    task = context.assignment.task
    gold_file = load_content(context.repository, task.new_rev, task.test_file)
    for position, target in enumerate(context.assignment.targets):
        if target.name in found:
            is_within_budget = position < MOST_METHODS
            submitted = _TestVersion(file=context.patched, method=context.methods[target.name])
            lines = _list_changed_method_lines(context, target)
            own = _TestVersion(file=gold_file, method=target.method)
            pred = (
                _run_pit(context, submitted, lines, cache_folder) if is_within_budget else _BEYOND
            )
            gold = _run_pit(context, own, lines, cache_folder) if is_within_budget else _BEYOND
            adequacies[target.name] = replace(
                found[target.name], pit=_count_kills_of_common_mutants(pred, gold)
            )
    return adequacies


def _count_kills_of_common_mutants(pred: ByteCodeMutants, gold: ByteCodeMutants) -> PitKills:
    """Count the kills of both tests among the mutants that both have.

    If PIT had trouble with one of the two tests, count all mutants of the other one.
    """
    sides = [_map_known_kills(mutants) for mutants in (pred, gold) if mutants.trouble is None]
    both = set.intersection(*map(set, sides)) if sides else set()
    killed = [sum(side[mutant] for mutant in both) for side in sides]
    return PitKills(
        count=len(both) if sides else None,
        pred=killed[0] if pred.trouble is None else None,
        gold=killed[-1] if gold.trouble is None else None,
        trouble_pred=pred.trouble,
        trouble_gold=gold.trouble,
        cpu_seconds=pred.cpu_seconds + gold.cpu_seconds,
    )


def _map_known_kills(one: ByteCodeMutants) -> dict[Mutant, bool]:
    return {
        (m.type, m.method, m.descriptor, m.line, m.mutator, m.index): m.killed
        for m in one.mutants
        if m.killed is not None
    }


# -- the lines to mutate -------------------------------------------------------------------------


def _list_changed_method_lines(context: SubmissionContext, target: Target) -> Lines:
    """Return the lines of the dependencies that are methods or constructors at the new revision."""
    pair = context.pair
    ranges = [
        dependency
        for dependency in target.row.dependencies
        if dependency.revised is not Revised.REMOVED
        and find_method_or_constructor(context.repository, pair, dependency) is not None
    ]
    named = partial(list_watch_names_at_revision, context.repository, pair.language, pair.new.rev)
    return add_watched_ranges({}, ranges, named)


# -- answers -------------------------------------------------------------------------------------


def _run_pit(
    context: SubmissionContext, side: _TestVersion, lines: Lines, cache_folder: Path | None
) -> ByteCodeMutants:
    """Return the stored answer of PIT, or run it now; answers with trouble are not stored."""
    if not offers_capability(context.pair.language, Capability.MUTATE):
        return ByteCodeMutants(trouble=PitTrouble.NOT_OFFERED)
    if not lines:
        return ByteCodeMutants(trouble=PitTrouble.NO_METHOD)
    try:
        edits = CellEdits(tests=((context.assignment.task.test_file, side.file),))
        rev = context.pair.new.rev
        compiled = context.built.compile(rev, rev, side.method.module, edits=edits)
        cache_path = _locate_cached_mutants(context, compiled, side, lines, cache_folder)
        known = cache_path and durable.load_checksummed_removing_damaged(cache_path)
        if known:
            return codec.decode_record(ByteCodeMutants, known)
        mutants = context.built.mutate(compiled, side.method, lines, context.conditions)
    except Transient:
        return ByteCodeMutants(trouble=PitTrouble.TROUBLE)
    if cache_path and mutants.trouble is None:
        durable.write_checksummed(
            cache_path, codec.encode_record(replace(mutants, cpu_seconds=0.0))
        )
    return mutants


def _locate_cached_mutants(
    context: SubmissionContext,
    compiled: CompiledTests,
    side: _TestVersion,
    lines: Lines,
    cache_folder: Path | None,
) -> Path | None:
    """Return a path named by everything that the answer depends on; None if that is unknown."""
    known = context.built.digest_run_inputs(compiled) if cache_folder is not None else None
    if cache_folder is None or known is None:
        return None
    lines_text = repr(sorted((name, sorted(own)) for name, own in lines.items()))
    language = context.pair.language
    tool = LANGUAGES[language].get_mutation_tool()
    versions = (tool.find_version(), str(get_engine_version(language)), str(JUDGING_VERSION))
    parts = (
        *versions,
        repr(side.method),
        lines_text,
        str(context.conditions.override),
        known,
        repr(context.conditions.sources),
    )
    return cache_folder / f'{compute_short_hash(*parts)}.json'
