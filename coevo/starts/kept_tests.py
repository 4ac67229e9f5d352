"""Check that tests which a start file keeps still pass there, if they pass in the new file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from coevo.languages.cells import CompiledTests
from coevo.languages.declarations import Member
from coevo.languages.table import detect_file_language, get_surgery
from coevo.model.records import TestMethod, compute_short_hash
from coevo.starts.isolated_cells import IsolatedCellRunner, describe_verdict, is_pass

# At most this many of the tests that a start file keeps are checked.
MOST_KEPT = 10

Compile = Callable[[], CompiledTests]


def draw_kept_tests(
    start: bytes, module: str, test_file: str, pair_id: str
) -> dict[str, TestMethod]:
    """Return up to `MOST_KEPT` tests of a start file by name, in the file's order.

    The choice is random, but always the same for a pair and test file.
    """
    tests = get_surgery(detect_file_language(test_file)).list_other_tests(start, [], test_file)
    members = ((test_file, member) for member in tests)
    return draw_tests(members, module, MOST_KEPT, pair_id, test_file)


def draw_tests(
    members: Iterable[tuple[str, Member]], module: str, most: int, *seed: str
) -> dict[str, TestMethod]:
    """Return up to `most` tests by name, in the order of `members`; the choice is random.

    members  test members, each with the path of its file
    seed     the same words always give the same choice
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
    """Return the first kept test that passes in gold's file but not in the start file.

    The text names the test and its outcome at the start. None if there is no such test.

    at_start  compiles the start file
    as_gold   compiles gold's file; called only if a kept test does not pass at the start
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
