"""The adequacy of graded targets, as far as they pass on the new code and do not copy it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from coevo.evaluation.assignments import Target
from coevo.evaluation.judging.outcomes import GradingResult, TargetResult, decide_outcome
from coevo.evaluation.judging.placebos import PlaceboRunner, PlaceboSubject
from coevo.evaluation.judging.protocol import passes
from coevo.evaluation.judging.task_context import SubmissionContext, TaskContext
from coevo.evaluation.ledger import Ledger
from coevo.evaluation.measuring.adequacy import TargetMeasures, measure_targets
from coevo.evaluation.measuring.gold import GoldMethod, load_measured_gold
from coevo.evaluation.measuring.neighbour_strength import find_weakened_neighbours
from coevo.evaluation.measuring.pit import add_pit_kills
from coevo.evaluation.measuring.strict import preserves_oracle
from coevo.languages.capabilities import Capability
from coevo.languages.prints import LexicalRules
from coevo.languages.table import get_reading, offers_capability
from coevo.measures.declaration_pairs import find_method_or_constructor
from coevo.model.dependencies import Revised
from coevo.snapshots.snapshot import OpenedSnapshots

# Find a test file that copies the code under test: nearly its body, by normalised tokens.
#
# Such a test compares the code with itself. Names of variables, the values of literals, comments
# and layout do not matter; operators, keywords, the names of calls and the order of tokens do.

# Tokens of a gram, the least grams of a body that tell it from other code, and the share of them
# that a copy has.
GRAM = 5
LEAST_GRAMS = 8
LEAST_SHARE = 0.8

_TOKEN = re.compile(rb'\d[\w.]*|[^\W\d]\w*|==|!=|<=|>=|&&|\|\||<<|>>|\+\+|--|[^\w\s]')
_WORD = re.compile(rb'[^\W\d]')
_KEYWORDS = frozenset(
    b'if else elif for while do switch case match return yield break continue throw raise try '
    b'except catch finally with lambda func def not and or in is new go defer select range'.split()
)
# Any code is full of these: names, literals, assignments, and lists of them.
_COMMON = frozenset((b'w', b'n', b's', *(bytes([sign]) for sign in b'.,;=:()[]{}'), b'return'))
# Stands in the place of a string.
_STRING = b' \x00 '
_ENDS = re.compile(rb'^\w*(?:"""|\'\'\'|["\'`])|(?:"""|\'\'\'|["\'`])$')

Gram = tuple[bytes, ...]


def list_body_grams(body: bytes, rules: LexicalRules) -> frozenset[Gram]:
    """Return the grams of the body of a method that tell it from other code."""
    code, _ = _split_strings(body, rules)
    return _make_grams(code)


def list_file_grams(file: bytes, rules: LexicalRules) -> frozenset[Gram]:
    """Return the grams of a file, also those within its strings.

    A string may be code that a test compiles or executes.
    """
    code, strings = _split_strings(file, rules)
    within = (_split_strings(string, rules)[0] for string in strings)
    return _make_grams(code).union(*map(_make_grams, within))


def has_copy(body: frozenset[Gram], file: frozenset[Gram]) -> bool:
    """Return whether a file has nearly all grams of a body; False for a body with few of them."""
    return len(body) >= LEAST_GRAMS and len(body & file) >= LEAST_SHARE * len(body)


def _split_strings(text: bytes, rules: LexicalRules) -> tuple[bytes, list[bytes]]:
    """Return code without comments and with a mark for each string, and the contents of these."""
    code: list[bytes] = []
    strings: list[bytes] = []
    end = 0
    for literal in rules.list_comments_and_strings(text):
        code.append(text[end : literal.start()])
        end = literal.end()
        if literal.lastgroup in ('string', 'template'):
            strings.append(_ENDS.sub(b'', literal[0]))
            code.append(_STRING)
    return b''.join((*code, text[end:])), strings


def _normalise_tokens(code: bytes) -> Iterator[bytes]:
    """Yield the tokens of code; names, numbers and strings lose their spelling."""
    tokens = [token[0] for token in _TOKEN.finditer(code)]
    for token, following in pairwise([*tokens, b'']):
        if token == _STRING.strip():
            yield b's'
        elif token[:1].isdigit():
            yield b'n'
        elif not _WORD.match(token) or token in _KEYWORDS or following == b'(':
            yield token
        else:
            yield b'w'


def _make_grams(code: bytes) -> frozenset[Gram]:
    tokens = tuple(_normalise_tokens(code))
    grams = (tokens[at : at + GRAM] for at in range(len(tokens) - GRAM + 1))
    return frozenset(gram for gram in grams if not _COMMON.issuperset(gram))


# The adequacy of graded targets, as far as they pass on the new code.


def find_targets_copying_changed_code(
    context: TaskContext, patched: bytes, targets: dict[str, Target]
) -> frozenset[str]:
    """Return the names of targets of which a submitted file copies a changed method.

    The whole file is searched, since a copy may stand in a helper. A copy that the start file or
    gold's file has as well is allowed in the task.
    """
    rules = get_reading(context.pair.language).LEXIS
    now = list_file_grams(patched, rules)
    known = [
        list_file_grams(text, rules) for text in (context.start, context.gold) if text is not None
    ]
    return frozenset(
        name
        for name, target in targets.items()
        if any(
            has_copy(body, now) and not any(has_copy(body, grams) for grams in known)
            for body in _list_changed_method_grams(context, target)
        )
    )


def _list_changed_method_grams(context: TaskContext, target: Target) -> Iterator[frozenset[Gram]]:
    """Yield the grams of the bodies of the changed methods on which a target depends."""
    reading = get_reading(context.pair.language)
    for dependency in target.row.dependencies:
        if dependency.revised is Revised.REMOVED or not dependency.file.endswith(reading.SUFFIXES):
            continue
        declaration = find_method_or_constructor(context.repository, context.pair, dependency)
        member = declaration.member if declaration is not None else None
        if member is not None and member.body_at is not None:
            body = member.source[member.body_at :].encode(errors='surrogateescape')
            yield list_body_grams(body, reading.LEXIS)


@dataclass(frozen=True, slots=True, kw_only=True)
class AdequacySettings:
    """The settings for measuring adequacy.

    snapshot       the snapshot with gold's mutants and reversals
    oracle_folder  folder that keeps which mutants old tests kill, for other submissions; None: they
                   are found anew
    pit            whether PIT runs, too; see `coevo.evaluation.measuring.pit`
    kept_pit       the folder that keeps PIT's answers
    """

    snapshot: OpenedSnapshots
    oracle_folder: Path | None = None
    pit: bool = False
    kept_pit: Path | None = None


def add_adequacy(
    measures: AdequacySettings,
    task_context: TaskContext,
    judgement: GradingResult,
    patched: bytes,
    placebos: PlaceboRunner,
) -> GradingResult:
    """Return the grading result with the adequacy of its passing targets.

    A target that turns out to notice mere edits of the code, or to be unstable, no longer passes
    and gets no adequacy.

    Raises: Transient if test processes do not start.
    """
    track = task_context.assignment.task.track
    passing = [
        name
        for name, seen in judgement.seen.items()
        if decide_outcome(track, seen)[0].passes_on_new
    ]
    if not passing:
        return judgement
    context = _make_submission_context(task_context, judgement, patched, passing)
    gold = load_measured_gold(measures.snapshot, task_context.assignment)
    measured = measure_targets(
        context, {name: gold[name] for name in passing}, measures.oracle_folder
    )
    seen = {
        name: _recheck_measured_target(
            task_context, judgement, patched, placebos, name, target_measures
        )
        for name, target_measures in measured.items()
    }
    adequacy = {
        name: target_measures.adequacy
        for name, target_measures in measured.items()
        if decide_outcome(track, seen[name])[0].passes_on_new
    }
    if measures.pit:
        adequacy = add_pit_kills(context, adequacy, measures.kept_pit)
    judgement = replace(judgement, seen={**judgement.seen, **seen}, adequacy=adequacy)
    if not adequacy:
        return judgement
    task_context = replace(task_context, conditions=replace(context.conditions, observed=False))
    judgement.copying = find_targets_copying_changed_code(
        task_context, patched, {name: gold[name].target for name in adequacy}
    )
    return _add_weakened_neighbours(
        task_context, judgement, patched, gold.values(), placebos.ledger
    )


def _make_submission_context(
    context: TaskContext, judgement: GradingResult, patched: bytes, passing: Collection[str]
) -> SubmissionContext:
    return SubmissionContext(
        assignment=context.assignment,
        built=context.built,
        repository=context.repository,
        patched=patched,
        methods=judgement.methods,
        conditions=replace(
            context.conditions,
            observed=offers_capability(context.pair.language, Capability.OBSERVE),
            expects=get_reading(context.pair.language).list_expected_throws(patched),
            sources=judgement.sources,
        ),
        slowest={name: judgement.seen[name].slowest for name in passing},
    )


def _recheck_measured_target(
    context: TaskContext,
    judgement: GradingResult,
    patched: bytes,
    placebos: PlaceboRunner,
    name: str,
    measured: TargetMeasures,
) -> TargetResult:
    """Return what the measures of a target say of it beside its adequacy."""
    if measured.unstable:
        seen = replace(judgement.seen[name], unstable='once pass, once not with a change undone')
    else:
        seen = _run_target_placebos(context, judgement, patched, placebos, name, measured)
    return replace(seen, weakened=preserves_oracle(measured.adequacy) is False)


def _add_weakened_neighbours(
    context: TaskContext,
    judgement: GradingResult,
    patched: bytes,
    gold: Iterable[GoldMethod],
    ledger: Ledger | None,
) -> GradingResult:
    """Return the grading result with the neighbours that the patch weakens."""
    if judgement.others is None:
        return judgement
    strength = find_weakened_neighbours(context, patched, judgement.others, gold, ledger)
    return replace(
        judgement,
        others=replace(judgement.others, weakened=strength.weakened),
        cpu_seconds=judgement.cpu_seconds + strength.cpu_seconds,
    )


def _run_target_placebos(
    task_context: TaskContext,
    judgement: GradingResult,
    patched: bytes,
    placebos: PlaceboRunner,
    name: str,
    measured: TargetMeasures,
) -> TargetResult:
    """Run a target with placebos in the declarations where it notices a mutant or undone change.

    Plain ones stand in each declaration by itself, since it may look at one alone.
    """
    seen = judgement.seen[name]
    conditions = replace(task_context.conditions, sources=judgement.sources)
    task_context = replace(task_context, conditions=conditions)
    subject = PlaceboSubject(
        context=task_context,
        patched=patched,
        target=task_context.assignment.find_target(name),
        method=judgement.methods[name],
        slowest=seen.slowest,
    )
    if measured.noticed:
        groups = [[declaration] for declaration in measured.noticed]
        seen = placebos.run_target_with_placebos(subject, seen, groups, single=True)
    if measured.failing is None or not passes(seen):
        return seen
    return placebos.rerun_with_failing_edit(subject, measured.failing, seen)
