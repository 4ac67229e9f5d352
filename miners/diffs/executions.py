"""Which changed declarations a trace shows as executed, at one end of a pair."""

from __future__ import annotations

from collections import defaultdict

from coevo.languages.table import reading_at
from coevo.languages.traces import ExecutedMethod
from coevo.languages.traces import Trace
from miners.diffs.sources import SourceChange


class Executions:
    """A trace by source file."""

    def __init__(self, trace: Trace, *, is_new: bool) -> None:
        self._is_new = is_new
        self._by_file: dict[str, list[ExecutedMethod]] = defaultdict(list)
        for one in trace.executed:
            if one.file is not None:
                self._by_file[one.file].append(one)

    def has(self, change: SourceChange) -> bool | None:
        """Whether a change was executed; None where it does not stand at this end.

        The rest of a type counts as executed with any of its methods.
        """
        located = change.new if self._is_new else change.old
        member = change.new_member if self._is_new else change.old_member
        if located is None or (member is None and change.member is not None):
            return None
        found = self._by_file.get(located.path, [])
        is_part_of = reading_at(located.path).is_part_of
        return any(is_part_of(one, member, located.type) for one in found)
