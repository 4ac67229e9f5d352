"""The funnel of a repository's partitions, with examples of its drops and the runtimes that it
lacks.

It says what entered and left each stage, with reasons.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from coevo.command.doctor_verb import LANGUAGES_BY_WORD
from coevo.languages.table import LANGUAGES
from coevo.languages.verdicts import RAN
from coevo.model.labels import TRACKS
from coevo.model.reasons import LIBRARY_REASONS, Reason
from coevo.model.records import Drop
from coevo.model.segment import Segment
from coevo.model.words import Stage
from packagers.funnel import FunnelStep

# Compute the funnel of a repository's partitions.


def build_funnel(walk_drops: Sequence[Drop], segments: Sequence[Segment]) -> Iterator[FunnelStep]:
    """Yield the steps of the funnel, from commits to methods with a track.

    If test files were looked at, the last step counts those that a family takes. Tasks are counted
    at release.
    """
    drops = [drop for segment in segments for drop in segment.drops]
    rows = [row for segment in segments for row in segment.methods]
    yield _build_step(
        Stage.WALK, len({(s.pair.language, s.pair.new_rev) for s in segments}), walk_drops
    )
    pairs = [d for d in drops if d.stage is Stage.PAIR]
    yield _build_step(Stage.PAIR, len(segments) - len({d.key for d in pairs}), pairs)
    filtered = [d for d in drops if d.stage is Stage.FILTER]
    yield _build_step(
        Stage.FILTER, sum(s.pair.candidates for s in segments) - len(filtered), filtered
    )
    yield _build_step(Stage.LABEL, len(rows), [d for d in drops if d.stage is Stage.LABEL])
    labelled = [row for row in rows if row.label in TRACKS]
    lost = [d for d in drops if d.stage is Stage.TRACK]
    yield _build_step(Stage.TRACK, len(labelled) - len(lost), lost)
    taken = [
        row for segment in segments for row in segment.single_revision if row.adequacy is not None
    ]
    others = [d for d in drops if d.stage is Stage.SINGLE_REVISION]
    if taken or others:
        yield _build_step(Stage.SINGLE_REVISION, len(taken), others)


def _build_step(stage: Stage, kept: int, drops: Sequence[Drop]) -> FunnelStep:
    counts = Counter(drop.reason for drop in drops)
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return FunnelStep(
        stage=stage, entered=kept + len(drops), kept_count=kept, dropped=tuple(ordered)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class UmpireCounts:
    """Counts of the umpire, which is the project's own test command.

    asked   revisions (ends of pairs) for which the command was to be run
    ran     revisions for which it ran
    methods test methods that were run
    unlike  methods about which the command disagrees
    """

    asked: int
    ran: int
    methods: int
    unlike: int

    @property
    def sentence(self) -> str:
        """The counts as a sentence; empty if the command was to be run for no revision."""
        if not self.asked:
            return ''
        share = 100 * self.unlike / self.methods if self.methods else 0.0
        return (
            f"the project's own command ran for {self.ran} of {self.asked} revisions; it disagrees"
            f' about {self.unlike} of {self.methods} methods ({share:.1f} %)'
        )


def count_project_command_results(segments: Sequence[Segment]) -> UmpireCounts:
    """Count for how many revisions the project's own command ran, and where it disagrees."""
    statuses = [
        status
        for segment in segments
        for status in (segment.pair.umpire_old, segment.pair.umpire_new)
        if status is not None
    ]
    labelled = [d for s in segments for d in s.drops if d.stage is Stage.LABEL]
    return UmpireCounts(
        asked=len(statuses),
        ran=statuses.count(RAN),
        methods=sum(len(segment.methods) for segment in segments) + len(labelled),
        unlike=sum(drop.reason == Reason.UNLIKE_THE_PROJECT for drop in labelled),
    )


def count_labels(segments: Sequence[Segment]) -> tuple[tuple[str, int], ...]:
    """Return the number of methods with each label, most frequent first."""
    counts = Counter(str(row.label) for segment in segments for row in segment.methods if row.label)
    return tuple(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


# Examples of the most common reasons why pairs and tests were dropped, and what to do about them.
#
# A reason says in which cell a test failed. What is amiss in a project, such as a module that no
# index has, is in the detail of the drop.

_MOST = 3
_LONGEST = 200
_STAGES = (Stage.PAIR, Stage.LABEL)

# What the details of drops begin with, and end in a name.
_MODULE = re.compile(r'(?:import:)?ModuleNotFoundError@(?P<name>[\w.]+)')
_REQUIREMENT = re.compile(r'(?:requirements|no_source|no_wheel):(?P<name>[\w.-]+)')
_GO_MODULES = re.compile(r'(?:modules|module not available):(?P<name>.+)')
_VARIABLE = re.compile(r'KeyError@.*, (?P<name>[A-Z][A-Z0-9_]*)')

_INDEX = 'name a package index that has it (docs/mining.md, Private libraries), then mine --again'
_OWN_OR_INDEX = f'nothing is to be done if it is a module of the project itself; else {_INDEX}'
_VARIABLES = (
    'tests run without the variables of this machine, so that they need a default, such as one that '
    'conftest.py sets'
)
_KINDS = (
    (_MODULE, 'the module {} was not found', _OWN_OR_INDEX),
    (_REQUIREMENT, 'the requirement {} cannot be installed', _INDEX),
    (_GO_MODULES, 'modules cannot be had: {}', _INDEX),
    (
        _VARIABLE,
        'nothing is stored under {}, which may be a variable of the environment',
        _VARIABLES,
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DropExample:
    """A drop that stands for those with its reason, and how common its detail is among them.

    rev     the new revision of its pair
    count   of the drops with this reason and detail
    total   of the drops with this reason
    """

    drop: Drop
    rev: str
    count: int
    total: int

    @property
    def sentence(self) -> str:
        """The detail in words, with a test that it concerns."""
        what, advice = _describe_detail_and_advise(self.drop.detail)
        if self.drop.reason in LIBRARY_REASONS:
            what, advice = 'no repository that is asked has a library', _INDEX
        share = f'{self.count} of {self.total}' if self.count < self.total else f'{self.total}'
        where = f'the pair that ends at {self.rev[:12]}'
        if self.drop.test_method:
            where = f'{self.drop.test_method} in {self.drop.test_file} at {self.rev[:12]}'
        end = f'; {advice}' if advice else ''
        return f'{self.drop.reason} ({share}): {what}, such as for {where}{end}'


def choose_examples_of_common_reasons(segments: Sequence[Segment]) -> tuple[DropExample, ...]:
    """Return an example for each of the three most common reasons that have a detail.

    It has the most common detail of its reason.
    """
    drops_by_reason: defaultdict[str, list[tuple[Drop, str]]] = defaultdict(list)
    for segment in segments:
        for drop in segment.drops:
            if drop.stage in _STAGES:
                drops_by_reason[drop.reason].append((drop, segment.pair.new_rev))
    ordered = sorted(drops_by_reason.items(), key=lambda item: (-len(item[1]), item[0]))
    examples = (_choose_example(drops) for _, drops in ordered)
    return tuple(example for example in examples if example.drop.detail)[:_MOST]


def _choose_example(drops: Sequence[tuple[Drop, str]]) -> DropExample:
    counts = Counter(drop.detail for drop, _ in drops)
    detail, count = min(counts.items(), key=lambda item: (not item[0], -item[1], item[0]))
    drop, rev = next(each for each in drops if each[0].detail == detail)
    return DropExample(drop=drop, rev=rev, count=count, total=len(drops))


def _describe_detail_and_advise(detail: str) -> tuple[str, str]:
    """Return a detail in words, and advice; the advice is empty if there is none."""
    for pattern, words, advice in _KINDS:
        if match := pattern.fullmatch(detail):
            return words.format(match['name'].strip()[:_LONGEST]), advice
    return detail[:_LONGEST], ''


def describe_examples(segments: Sequence[Segment]) -> Iterator[str]:
    """Yield a heading and the sentences of the examples; nothing if no drop has a detail."""
    examples = choose_examples_of_common_reasons(segments)
    if examples:
        yield 'Examples of the most common reasons:'
    for example in examples:
        yield f'         {example.sentence}'


# Runtimes for want of which pairs were dropped, and how a person comes by them.


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class MissingRuntime:
    """A release of a language's runtime that a pair was dropped for want of.

    `str()` gives the name that `coevo doctor --install` takes, if it can install it: `jdk-21`.
    """

    language: str
    release: str

    def __str__(self) -> str:
        return f'{LANGUAGES[self.language].RUNTIME.lower()}-{self.release}'

    @property
    def title(self) -> str:
        """The name in a sentence, such as `JDK 21`."""
        return f'{LANGUAGES[self.language].RUNTIME} {self.release}'

    @property
    def is_installable(self) -> bool:
        """True if `coevo doctor --install` can install it."""
        word = LANGUAGES[self.language].RUNTIME.lower()
        return LANGUAGES_BY_WORD.get(word) == self.language and self.release in _list_installable(
            self.language
        )


def count_missing_runtimes(
    segments: Iterable[Segment],
) -> tuple[tuple[MissingRuntime, int], ...]:
    """Return the runtimes that pairs were dropped for want of, each with their number, sorted."""
    counts = Counter(
        MissingRuntime(language=segment.pair.language, release=segment.pair.runtime_missing)
        for segment in segments
        if segment.pair.runtime_missing is not None
        and any(drop.reason == Reason.RUNTIME_MISSING for drop in segment.drops)
    )
    return tuple(sorted(counts.items()))


def advise_installation(runtimes: Iterable[MissingRuntime]) -> str:
    """Return a clause on how to install some runtimes: by a command, or without coevo."""
    ordered = sorted(runtimes)
    names = [str(runtime) for runtime in ordered if runtime.is_installable]
    others = [runtime.title for runtime in ordered if not runtime.is_installable]
    clauses = [f'run `coevo doctor --install {" ".join(names)}`'] if names else []
    if others:
        clauses.append(f'install {" and ".join(others)}, which coevo doctor cannot')
    return ', and '.join(clauses)


@cache
def _list_installable(language: str) -> frozenset[str]:
    return frozenset(LANGUAGES[language].make_runtimes().installable)
