"""What comes of method rows when tasks are made of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from coevo.model.drops import Drop
from coevo.model.quality import Coverage
from coevo.model.task_rows import TaskRow
from coevo.model.words import Walk


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltTasks:
    """Tasks, and columns of their methods.

    ids       the task of each method row that has one, by method id and walk
    single_revision  the task of each row of `single_revision` that has one, by its id and walk
    drops     one for each task that none came of
    coverage  what methods cover of the dependencies of their task, by the same; where it stands
    """

    tasks: Sequence[TaskRow]
    ids: Mapping[tuple[str, Walk], str]
    single_revision: Mapping[tuple[str, Walk], str] = field(default_factory=dict)
    drops: Sequence[Drop] = ()
    coverage: Mapping[tuple[str, Walk], Coverage] = field(default_factory=dict)
