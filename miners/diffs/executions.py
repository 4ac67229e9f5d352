"""Which changed declarations a trace shows as executed, at one end of a pair."""

from __future__ import annotations

from collections import defaultdict

from coevo.languages.table import get_reading_of_file
from coevo.languages.traces import ExecutedMethod, Trace
from miners.diffs.sources import SourceChange


class Executions:
    """A trace by source file."""

    def __init__(self, trace: Trace, *, is_new: bool) -> None:
        self._is_new = is_new
        self._by_file: dict[str, list[ExecutedMethod]] = defaultdict(list)
        for method in trace.executed:
            if method.file is not None:
                self._by_file[method.file].append(method)

    def was_executed(self, change: SourceChange) -> bool | None:
        """Whether a change was executed; None where it does not stand at this end.

        The rest of a type counts as executed with any of its methods.
        """
        located = change.new if self._is_new else change.old
        member = change.new_member if self._is_new else change.old_member
        if located is None or (member is None and change.member is not None):
            return None
        methods = self._by_file.get(located.path, [])
        is_part_of = get_reading_of_file(located.path).is_part_of
        return any(is_part_of(method, member, located.type) for method in methods)
