"""PIT's mutants of the methods that changed, beside the released ones, where somebody asks for them.

What PIT says is advisory. Its minions load the submitted test and report their own kills: a test
could claim any. No outcome, no SuccessStrict and no other flag follows from it, and trouble on the
way is a reason in its own record.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import replace
from functools import partial
from pathlib import Path

from coevo.evaluation.assignments import Target
from coevo.evaluation.judging.submission_context import SubmissionContext
from coevo.evaluation.ledger import JUDGING_VERSION
from coevo.evaluation.measuring.watched_lines import Lines
from coevo.evaluation.measuring.watched_lines import names_at
from coevo.evaluation.measuring.watched_lines import with_ranges
from coevo.evaluation.worth import Adequacy
from coevo.evaluation.worth import PitKills
from coevo.git.contents import content
from coevo.languages.capabilities import Capability
from coevo.languages.cells import Compiled
from coevo.languages.cells import Edits
from coevo.languages.mutation_tools import ByteCodeMutants
from coevo.languages.table import LANGUAGES
from coevo.languages.table import engine_version
from coevo.languages.table import offers
from coevo.measures.declaration_pairs import declared
from coevo.model import codec
from coevo.model.dependencies import Revised
from coevo.model.errors import Transient
from coevo.model.quality import PitTrouble
from coevo.model.records import TestMethod
from coevo.model.records import short_hash
from coevo.storage import checksummed

# Of a task, in the order of its targets; each is asked of the submitted test and of gold's.
MOST_METHODS = 20

Mutant = tuple[str, str, str, int, str, str]

_BEYOND = ByteCodeMutants(trouble=PitTrouble.BUDGET)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Side:
    """A test as it stands in one version of the task's test file."""

    file: bytes | None
    method: TestMethod


def with_pit(
    context: SubmissionContext, found: Mapping[str, Adequacy], kept: Path | None
) -> dict[str, Adequacy]:
    """What tests are worth, by name, with PIT's word on each.

    kept  folder for what the same test file makes of the same code; None: it is found out anew
    """
    told = {}
    task = context.assignment.task
    gold_file = content(context.repository, task.new_rev, task.test_file)
    for place, target in enumerate(context.assignment.targets):
        if target.name in found:
            asked = place < MOST_METHODS
            submitted = _Side(file=context.patched, method=context.methods[target.name])
            lines = _changed(context, target)
            own = _Side(file=gold_file, method=target.method)
            pred = _killed(context, submitted, lines, kept) if asked else _BEYOND
            gold = _killed(context, own, lines, kept) if asked else _BEYOND
            told[target.name] = replace(found[target.name], pit=_kills(pred, gold))
    return told


def _kills(pred: ByteCodeMutants, gold: ByteCodeMutants) -> PitKills:
    """Both on the mutants that both have."""
    sides = [_known(one) for one in (pred, gold) if one.trouble is None]
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


def _known(one: ByteCodeMutants) -> dict[Mutant, bool]:
    return {
        (m.type, m.method, m.descriptor, m.line, m.mutator, m.index): m.killed
        for m in one.mutants
        if m.killed is not None
    }


# -- what is asked -------------------------------------------------------------------------------


def _changed(context: SubmissionContext, target: Target) -> Lines:
    """The lines of the dependencies that are methods or constructors and stand at new."""
    pair = context.pair
    ranges = [
        one
        for one in target.row.dependencies
        if one.revised is not Revised.REMOVED
        and declared(context.repository, pair, one) is not None
    ]
    named = partial(names_at, context.repository, pair.language, pair.new.rev)
    return with_ranges({}, ranges, named)


# -- answers -------------------------------------------------------------------------------------


def _killed(
    context: SubmissionContext, side: _Side, lines: Lines, kept: Path | None
) -> ByteCodeMutants:
    """What is kept, or what PIT says now; trouble is never kept."""
    if not offers(context.pair.language, Capability.MUTATE):
        return ByteCodeMutants(trouble=PitTrouble.NOT_OFFERED)
    if not lines:
        return ByteCodeMutants(trouble=PitTrouble.NO_METHOD)
    try:
        edits = Edits(tests=((context.assignment.task.test_file, side.file),))
        rev = context.pair.new.rev
        compiled = context.built.compile(rev, rev, side.method.module, edits=edits)
        place = _place(context, compiled, side, lines, kept)
        known = place and checksummed.read(place)
        if known:
            return codec.decode(ByteCodeMutants, known)
        found = context.built.mutate(compiled, side.method, lines, context.conditions)
    except Transient:
        return ByteCodeMutants(trouble=PitTrouble.TROUBLE)
    if place and found.trouble is None:
        checksummed.write(place, codec.encode(replace(found, cpu_seconds=0.0)))
    return found


def _place(
    context: SubmissionContext, compiled: Compiled, side: _Side, lines: Lines, kept: Path | None
) -> Path | None:
    """Named by all that the answer rests on; None where that cannot be told."""
    known = context.built.content(compiled) if kept is not None else None
    if kept is None or known is None:
        return None
    asked = repr(sorted((name, sorted(own)) for name, own in lines.items()))
    language = context.pair.language
    tool = LANGUAGES[language].mutation_tool()
    versions = (tool.version(), str(engine_version(language)), str(JUDGING_VERSION))
    parts = (
        *versions,
        repr(side.method),
        asked,
        str(context.conditions.override),
        known,
        repr(context.conditions.sources),
    )
    return kept / f'{short_hash(*parts)}.json'
