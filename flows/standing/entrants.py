"""What enters at a revision before anything is run: its test files, and the units of its code."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace

from coevo.languages.reading import Tree
from coevo.languages.table import reading
from coevo.model.families import UNIT_FAMILIES
from coevo.model.families import Family
from coevo.model.families import Focus
from coevo.model.families import FocusKind
from coevo.model.profiles import FileRules
from coevo.model.reasons import Reason
from coevo.model.records import Pair
from coevo.model.standing_rows import StandingRow
from flows.standing import file_selection
from flows.standing.found import Found
from flows.standing.found import begun
from flows.study.context import Tools
from miners.standing import StandingFile
from miners.standing import standing_files
from miners.units import CodeUnit
from miners.units import code_units

Wanted = Mapping[Family, StandingRow]
"""The families that may take a file, with the row that each begins with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entrants:
    """What is left to be run, and what is not.

    files  with those of families that may take each; all of them are run where units are `live`
    live   units of which a test has to tell whether there is one
    out    rows of files, and units, of which no task comes
    """

    tree: Tree
    files: Sequence[tuple[StandingFile, Wanted]]
    live: Sequence[CodeUnit]
    out: Sequence[Found | CodeUnit]


def entrants(tools: Tools, pair: Pair, families: Sequence[Family]) -> Entrants:
    tree = reading(pair.language).tree(tools.repository, pair.new.rev)
    units = list(code_units(tree, pair.language, families, tools.profile))
    live = [unit for unit in units if unit.reason is None]
    out: list[Found | CodeUnit] = [unit for unit in units if unit.reason is not None]
    files: list[tuple[StandingFile, Wanted]] = []
    for file in standing_files(tools.repository, pair.new.rev, pair.language):
        wanted: dict[Family, StandingRow] = {}
        for family in families:
            if family in UNIT_FAMILIES:
                continue
            row = begun(pair, file, family, _focus(tree, file, family))
            reason = file.reason or _before(tools.profile.files, tree, file, family)
            if reason is None:
                wanted[family] = row
            else:
                out.append((row, reason, ''))
        if wanted or (live and file.is_worth_running):
            files.append((file, wanted))
    return Entrants(tree=tree, files=files, live=live, out=out)


def _focus(tree: Tree, file: StandingFile, family: Family) -> tuple[Focus, ...]:
    if family is not Family.FILE:
        return file.named
    return tuple(_whole(tree, one) for one in file.modules or file.named)


def _whole(tree: Tree, one: Focus) -> Focus:
    """The file of a class."""
    last = max(1, file_selection.line_count(tree.content(one.file)))
    return replace(one, kind=FocusKind.FILE, start_line=1, end_line=last)


def _before(rules: FileRules, tree: Tree, file: StandingFile, family: Family) -> Reason | None:
    """Of several files that it may be about, the reason of all."""
    if family is not Family.FILE:
        return None if file.named else Reason.NO_TEST_CLASS
    reason = file_selection.test_reason(rules, tree.content(file.test_file), len(file.methods))
    if reason is not None:
        return reason
    reasons = [
        file_selection.focal_reason(rules, one.file, tree.content(one.file))
        for one in file.modules or file.named
    ]
    return reasons[0] if None not in reasons else None
