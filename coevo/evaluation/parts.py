"""Parts of an evaluation: tasks split by repository, so that machines share nothing."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from coevo.evaluation.assignments import Assignment
from coevo.model.errors import Fatal


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationPart:
    """One part of an evaluation; `number` counts from 1 to `count`."""

    number: int
    count: int


def parse_part(text: str) -> EvaluationPart:
    """Return the part that a text such as `2/4` names.

    Raises: Fatal if the text names no part.
    """
    match = re.fullmatch(r'([1-9]\d{0,5})/([1-9]\d{0,5})', text, re.ASCII)
    if match is None or int(match[1]) > int(match[2]):
        raise Fatal(f'--part {text!r} is not a part; write 2/4 for the second of four parts')
    return EvaluationPart(number=int(match[1]), count=int(match[2]))


def select_tasks(part: EvaluationPart, wanted: Sequence[Assignment]) -> tuple[Assignment, ...]:
    """Return the tasks of a part, in their order.

    Parts are disjoint and together have all wanted tasks.

    A repository is in one part as a whole. The largest ones are placed first, each into the part
    that has the fewest tasks so far.

    Raises: Fatal if there are more parts than repositories.
    """
    sizes = Counter(assignment.task.repo for assignment in wanted)
    if part.count > len(sizes):
        raise Fatal(
            f'the tasks are of {len(sizes)} repositories, which is too few for {part.count} '
            'parts; use fewer parts'
        )
    loads = [0] * part.count
    repos: set[str] = set()
    for repo, size in sorted(sizes.items(), key=lambda item: (-item[1], item[0])):
        at = min(range(part.count), key=loads.__getitem__)
        loads[at] += size
        if at == part.number - 1:
            repos.add(repo)
    return tuple(assignment for assignment in wanted if assignment.task.repo in repos)
