"""The tests that a start file keeps beside its targets: they do there what they do in the new file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from coevo.languages.cells import CompiledTests
from coevo.languages.declarations import Member
from coevo.languages.table import detect_file_language, get_surgery
from coevo.model.records import TestMethod, compute_short_hash
from coevo.starts.isolated_cells import IsolatedCellRunner, describe_verdict, is_pass

# How many of the tests that a start file keeps have to compile and pass.
MOST_KEPT = 10

Compile = Callable[[], CompiledTests]


def draw_kept_tests(
    start: bytes, module: str, test_file: str, pair_id: str
) -> dict[str, TestMethod]:
    """Some of the tests of a start file, always the same ones, in the file's order."""
    tests = get_surgery(detect_file_language(test_file)).list_other_tests(start, [], test_file)
    members = ((test_file, member) for member in tests)
    return draw_tests(members, module, MOST_KEPT, pair_id, test_file)


def draw_tests(
    members: Iterable[tuple[str, Member]], module: str, most: int, *seed: str
) -> dict[str, TestMethod]:
    """At most so many tests by name, in the order of their members, which come with their paths.

    seed  the same words draw the same ones
    """
    by_name = {
        f'{member.owner}#{member.name}({",".join(member.parameters)})': TestMethod(
            module=module,
            test_file=path,
            test_class=member.owner,
            test_method=member.name,
            parameters=member.parameters,
        )
        for path, member in members
    }
    chosen = set(sorted(by_name, key=lambda name: compute_short_hash(*seed, name))[:most])
    return {name: method for name, method in by_name.items() if name in chosen}


def find_lost_test(
    runner: IsolatedCellRunner, kept: Mapping[str, TestMethod], at_start: Compile, as_gold: Compile
) -> str | None:
    """The first of these that passes in gold's file and not in the start file, and what it does.

    as_gold  is asked for only where one does not pass
    """
    if not kept:
        return None
    now = runner.collect_verdicts(at_start(), kept, is_pass)
    suspects = {name: method for name, method in kept.items() if not is_pass(now[name].outcome)}
    if not suspects:
        return None
    before = runner.collect_verdicts(as_gold(), suspects, is_pass)
    lost = [name for name in suspects if is_pass(before[name].outcome)]
    return f'sibling {lost[0]}: {describe_verdict(now[lost[0]])}' if lost else None
