"""Examples of the most common reasons why pairs and tests were dropped, and what to do about them.

A reason says in which cell a test failed. What is amiss in a project, such as a module that no
index has, is in the detail of the drop.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from coevo.model.drops import Drop
from coevo.model.reasons import LIBRARY_REASONS
from coevo.model.segment import Segment
from coevo.model.words import Stage

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
