"""What enters at a revision before anything is run: its test files, and the units of its code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from coevo.languages.reading import RevisionTree
from coevo.languages.table import get_reading
from coevo.model.families import UNIT_FAMILIES, Family, Focus, FocusKind
from coevo.model.profiles import FileRules
from coevo.model.reasons import Reason
from coevo.model.records import Pair
from coevo.model.single_revision_rows import SingleRevisionRow
from flows.single_revision import file_selection
from flows.single_revision.found import Found, begin_row
from flows.study.context import Tools
from miners.single_revision import SingleRevisionFile, list_single_revision_files
from miners.units import CodeUnit, list_code_units

Wanted = Mapping[Family, SingleRevisionRow]
"""The families that may take a file, with the row that each begins with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InputSelection:
    """What is left to be run, and what is not.

    files  with those of families that may take each; all of them are run where units are `live`
    live   units of which a test has to tell whether there is one
    out    rows of files, and units, of which no task comes
    """

    tree: RevisionTree
    files: Sequence[tuple[SingleRevisionFile, Wanted]]
    live: Sequence[CodeUnit]
    out: Sequence[Found | CodeUnit]


def select_inputs(tools: Tools, pair: Pair, families: Sequence[Family]) -> InputSelection:
    tree = get_reading(pair.language).open_tree(tools.repository, pair.new.rev)
    units = list(list_code_units(tree, pair.language, families, tools.profile))
    live = [unit for unit in units if unit.reason is None]
    out: list[Found | CodeUnit] = [unit for unit in units if unit.reason is not None]
    files: list[tuple[SingleRevisionFile, Wanted]] = []
    for file in list_single_revision_files(tools.repository, pair.new.rev, pair.language):
        wanted: dict[Family, SingleRevisionRow] = {}
        for family in families:
            if family in UNIT_FAMILIES:
                continue
            row = begin_row(pair, file, family, _determine_focus(tree, file, family))
            reason = file.reason or _find_early_rejection(tools.profile.files, tree, file, family)
            if reason is None:
                wanted[family] = row
            else:
                out.append((row, reason, ''))
        if wanted or (live and file.is_worth_running):
            files.append((file, wanted))
    return InputSelection(tree=tree, files=files, live=live, out=out)


def _determine_focus(
    tree: RevisionTree, file: SingleRevisionFile, family: Family
) -> tuple[Focus, ...]:
    if family is not Family.FILE:
        return file.named
    return tuple(_widen_to_file(tree, focus) for focus in file.modules or file.named)


def _widen_to_file(tree: RevisionTree, one: Focus) -> Focus:
    """The file of a class."""
    last = max(1, file_selection.count_lines(tree.read_content(one.file)))
    return replace(one, kind=FocusKind.FILE, start_line=1, end_line=last)


def _find_early_rejection(
    rules: FileRules, tree: RevisionTree, file: SingleRevisionFile, family: Family
) -> Reason | None:
    """Of several files that it may be about, the reason of all."""
    if family is not Family.FILE:
        return None if file.named else Reason.NO_TEST_CLASS
    reason = file_selection.find_test_file_rejection(
        rules, tree.read_content(file.test_file), len(file.methods)
    )
    if reason is not None:
        return reason
    reasons = [
        file_selection.find_focal_file_rejection(rules, focus.file, tree.read_content(focus.file))
        for focus in file.modules or file.named
    ]
    return reasons[0] if None not in reasons else None
