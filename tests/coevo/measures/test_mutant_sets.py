"""Which mutants compile: those with which all of their module does."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from coevo.measures.edited_cells import EditedCellRunner
from coevo.measures.mutant_sets import MutantSet, make_file_mutants
from tests.coevo.measures.shop import opened
from tests.projects import junit, pom, source

pytestmark = pytest.mark.jvm

PATH = 'src/main/java/shop/Till.java'
TILL = """\
    public int called(int all, String text) {
        return 1;
    }
    public int alone(int all, String text) {
        return 1;
    }
"""
STEPS = (
    {
        'pom.xml': pom(),
        **source('Till', TILL),
        **source('Client', '    int due = new Till().called(1, "2");\n'),
        **junit('TillTest', 'rings: new Till();'),
    },
    {'README': 'new'},
)


@pytest.fixture(scope='module')
def runner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EditedCellRunner]:
    with opened(tmp_path_factory.mktemp('till'), STEPS) as runner:
        yield runner


def of_line(runner: EditedCellRunner, text: str) -> MutantSet:
    lines = STEPS[0][PATH].splitlines()
    line = next(number for number, one in enumerate(lines, 1) if text in one)
    file = make_file_mutants(runner, PATH, [line])
    assert file is not None
    found = file.draw(runner, [line])
    assert found is not None
    return found


def test_a_mutant_that_breaks_another_file_does_not_compile(runner: EditedCellRunner) -> None:
    found = of_line(runner, 'int called(')

    assert found.mutants == ()
    assert found.compile_failed == found.emitted > 0


def test_a_mutant_of_a_method_that_no_other_file_uses_compiles(runner: EditedCellRunner) -> None:
    found = of_line(runner, 'int alone(')

    (kept,) = found.mutants
    assert 'alone ( String text,int all)' in ' '.join(kept.mutant.mutated.split())
    assert found.compile_failed == found.emitted - 1
