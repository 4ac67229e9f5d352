"""Mutants by the real tool: what it is shown changes nothing of what it emits."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from coevo.languages.java.reading.tokens import JAVA as GRAMMAR
from coevo.languages.mutation import MutationTimeout
from coevo.languages.python.assertions import MUTATION as PYTHON
from coevo.languages.universal_mutator import UniversalMutator

JAVA = UniversalMutator(suffix='.java', grammar=GRAMMAR)


SHOP = b"""\
package shop;

/* prices - in cents + tax
   and more */
public class Shop {
    // a - comment
    int sum(int a, int b) {
        int c = a + b;
        log("3 < 4");
        return c;
    }

    int rest(int a) {
        return a - 3;
    }
}
"""


def written_by_the_tool(folder: Path, source: bytes, lines: range) -> list[bytes]:
    """What the command alone makes of the whole file, told to mutate some lines."""
    folder.joinpath('Shop.java').write_bytes(source)
    folder.joinpath('lines').write_text('\n'.join(map(str, lines)))
    folder.joinpath('out').mkdir()
    tool = Path(sys.executable).parent / 'mutate'
    command = [tool, 'Shop.java', '--noCheck', '--mutantDir', 'out', '--lines', 'lines']
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return [path.read_bytes() for path in folder.joinpath('out').iterdir()]


@pytest.mark.parametrize('lines', [range(7, 12), range(1, 17), range(14, 15)])
def test_mutants_of_chosen_lines_equal_those_the_tool_makes_of_the_whole_file(
    tmp_path: Path, lines: range
) -> None:
    found = [mutant.apply_to(SHOP) for mutant in JAVA.make_mutants(SHOP, lines)]

    assert found
    assert sorted(found) == sorted(written_by_the_tool(tmp_path, SHOP, lines))


def test_only_requested_lines_are_mutated() -> None:
    mutants = JAVA.make_mutants(SHOP, [8, 14])

    assert {mutant.line for mutant in mutants} == {8, 14}
    originals = {mutant.line: mutant.original for mutant in mutants}
    assert originals == {8: '        int c = a + b;', 14: '        return a - 3;'}
    assert '        return a + 3;' in [mutant.mutated for mutant in mutants]


def test_two_runs_make_equal_mutants() -> None:
    assert JAVA.make_mutants(SHOP, range(1, 17)) == JAVA.make_mutants(SHOP, range(1, 17))


def test_no_lines_give_no_mutants() -> None:
    assert JAVA.make_mutants(SHOP, []) == ()
    assert JAVA.make_mutants(SHOP, [400]) == ()


def test_an_inserted_statement_becomes_a_second_line() -> None:
    mutant = next(m for m in JAVA.make_mutants(SHOP, [8]) if m.mutated.endswith('break;'))

    assert mutant.mutated == '        int c = a + b;\n        break;'
    assert mutant.apply_to(SHOP).count(b'\n') == SHOP.count(b'\n') + 1


@pytest.mark.parametrize('encoding', ['latin-1', 'utf-8'])
def test_a_mutant_keeps_every_other_byte_of_the_file(encoding: str) -> None:
    text = 'class A {\r\n  int f() { return 1 + 2; } // Caf\xe9\r\n}'
    source = text.encode(encoding)

    mutants = JAVA.make_mutants(source, [2])

    minus = next(m for m in mutants if 'return 1 - 2;' in m.mutated)
    assert minus.apply_to(source) == text.replace('+', '-').encode(encoding)


def test_a_file_above_the_cpu_limit_raises_a_mutation_timeout() -> None:
    """Twenty thousand lines, each with mutants, of which every one is written as a whole file."""
    source = b'class A {\n' + b'int a = 1 + 2;\n' * 20_000 + b'}\n'

    with pytest.raises(MutationTimeout):
        replace(JAVA, cpu_limit=1).make_mutants(source, range(2, 20_002))


def test_each_language_has_its_own_mutation_rules() -> None:
    source = b'if x and not y:\n    return None\n'

    python, java = (
        {mutant.mutated for mutant in tool.make_mutants(source, [1, 2])} for tool in (PYTHON, JAVA)
    )

    assert {'if not (x and not y):', '    pass'} <= python - java
    assert '    /*return None*/' in java - python


def test_comment_marks_of_another_language_hide_no_code() -> None:
    source = b"""\
class Signs {
    String all = "src/**/*.java";
    int[] signs = {-1, 0, 1};
    /* prices
       1 + 2 */
    int sum = 1 + 2;
}
"""
    assert {mutant.line for mutant in JAVA.make_mutants(source, range(2, 7))} == {6}
