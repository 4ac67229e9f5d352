"""Cells whose edited test files alone are compiled have the classes that whole compilation gives."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pytest

from coevo.languages.cells import CellEdits, CellKey
from coevo.languages.java.cells.compiled_cells import CompiledCell
from coevo.languages.java.cells.partial_compilation import (
    JavaTestSources,
    load_test_sources,
    plan_partial_compilation,
)
from coevo.languages.java.jdk_worker import JdkWorker
from tests.coevo.languages.java.maven.test_shapes import JUNIT4, module, root
from tests.coevo.languages.place import Place, opened
from tests.repos import git

pytestmark = pytest.mark.jvm

HEAD = 'package shop; import static org.junit.Assert.*; import org.junit.Test;\n'
TESTS = 'core/src/test/java/shop/'
TILL = (
    HEAD
    + """public class TillTest {
    static final Runnable NOTHING = new Runnable() { public void run() { } };
    static class Shelf { }
    @Test public void sums() { assertEquals(7, Helper.seven()); new Shelf(); }
    @Test public void fails() { missing(); }
}
"""
)
OTHER = HEAD + 'public class OtherTest { @Test public void helped() { Helper.seven(); } }\n'
HELPER = 'package shop; class Helper { static int seven() { return 7; } }\n'
BENCH = 'package shop; class Bench { void run() { absent(); } org.absent.Thing thing; }\n'
TREE = {
    'pom.xml': root('core'),
    'core/pom.xml': module('core', JUNIT4),
    f'{TESTS}TillTest.java': TILL,
    f'{TESTS}OtherTest.java': OTHER,
    f'{TESTS}Helper.java': HELPER,
    f'{TESTS}Bench.java': BENCH,
    'core/src/test/resources/letter.txt': 'a',
}
MENDED = TILL.replace('missing();', 'assertTrue(new Object() { }.hashCode() != 0);')
SUMS = TILL.replace('assertEquals(7,', 'assertEquals(8,')


@dataclass(frozen=True, kw_only=True)
class Case:
    """Edited files, and whether they can be compiled alone."""

    name: str
    edits: Mapping[str, str | None]
    alone: bool
    slow: bool = False


CASES = (
    Case(name='a body changes', edits={'TillTest': SUMS}, alone=True),
    Case(name='a broken test is mended', edits={'TillTest': MENDED}, alone=True),
    Case(
        name='a test that does not compile is added',
        edits={'TillTest': TILL.replace('static class', '@Test public void x() { y(); } class')},
        alone=True,
    ),
    Case(
        name='a nested type is added',
        edits={'TillTest': TILL.replace('static class', 'static class Box { } static class')},
        alone=True,
        slow=True,
    ),
    Case(
        name='a nested type is lost',
        edits={'TillTest': TILL.replace('static class Shelf { }', '').replace('new Shelf();', '')},
        alone=True,
    ),
    Case(
        name='a nested type that is still used is lost',
        edits={'TillTest': TILL.replace('static class Shelf { }', '')},
        alone=True,
    ),
    Case(
        name='a type is added', edits={'TillTest': TILL + 'class Shop { }'}, alone=True, slow=True
    ),
    Case(
        name='a type with a name that another file mentions is added',
        edits={'TillTest': TILL + 'class Thing { }'},
        alone=False,
    ),
    Case(
        name='another file uses the edited one',
        edits={'Helper': HELPER.replace('7', '8')},
        alone=False,
    ),
    Case(
        name='a file is new',
        edits={'TillTest': SUMS, 'Fresh': 'package shop; class Fresh { }'},
        alone=True,
    ),
    Case(
        name='a new file has no package',
        edits={'Fresh': 'class Fresh { @Deprecated void x() { } }'},
        alone=True,
        slow=True,
    ),
    Case(
        name='a file is removed', edits={'TillTest': SUMS, 'OtherTest': None}, alone=True, slow=True
    ),
    Case(
        name='a file that is used is removed', edits={'TillTest': SUMS, 'Helper': None}, alone=False
    ),
    Case(name='the only edited file is removed', edits={'OtherTest': None}, alone=False, slow=True),
)


@pytest.fixture(scope='module')
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with opened(tmp_path_factory.mktemp('partial'), [TREE]) as found:
        yield found


def compute_digests(cell: CompiledCell) -> dict[str, str]:
    return {
        str(file.relative_to(cell.folder)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in cell.folder.rglob('*')
        if file.is_file()
    }


def make_key(place: Place, edits: Mapping[str, str | None]) -> CellKey:
    files = tuple(
        (f'{TESTS}{name}.java', None if text is None else text.encode())
        for name, text in sorted(edits.items())
    )
    edited = CellEdits(tests=files) if files else None
    return CellKey(tests_rev=place.rev, code_rev=place.rev, module='core', edits=edited)


def load_sources(place: Place, rev: str) -> JavaTestSources:
    sources = load_test_sources(place.builds.get_output(rev), 'core')
    assert sources is not None
    return sources


@pytest.mark.parametrize(
    'case',
    [
        pytest.param(case, id=case.name, marks=[pytest.mark.slow] if case.slow else [])
        for case in CASES
    ],
)
def test_compiling_edited_files_alone_gives_the_same_classes_and_report(
    place: Place, case: Case
) -> None:
    key = make_key(place, case.edits)
    cells = place.built.worker.cells
    base = cells.get_or_compile_cell(make_key(place, {}))
    assert key.edits is not None
    before = load_sources(place, place.rev)
    changed = before.list_differences(before.apply_edits(key.edits.tests))
    plan = plan_partial_compilation(base, before, changed)
    assert (plan is not None) == case.alone
    part = cells.get_or_compile_cell(key)
    worker = JdkWorker(place.builds)  # it has no cell without edits
    try:
        whole = worker.cells.get_or_compile_cell(key)
        assert compute_digests(part) == compute_digests(whole)
        assert part.report == whole.report
    finally:
        worker.close()


@pytest.fixture(scope='module')
def ends(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Place, str]]:
    """A place with both ends of a pair that changes, adds and removes tests, and the older end."""
    more = {
        f'{TESTS}TillTest.java': MENDED,
        f'{TESTS}FreshTest.java': HEAD + 'public class FreshTest { @Test public void one() { } }',
        f'{TESTS}OtherTest.java': None,
    }
    folder = tmp_path_factory.mktemp('ends')
    with opened(folder, [TREE, more]) as found:
        parent = git(folder / 'repository', 'rev-parse', 'HEAD~1').strip()
        found.built.worker.build(parent)
        yield found, parent


def test_cells_with_the_same_code_share_the_classes_of_unchanged_tests(
    ends: tuple[Place, str],
) -> None:
    place, parent = ends
    worker = place.built.worker
    cells = worker.keep_cells_of_revisions((parent, place.rev))
    before, after = (load_sources(place, rev) for rev in (parent, place.rev))
    changed = before.list_differences(after)
    assert {path.removeprefix(TESTS): text is not None for path, text in changed} == {
        'FreshTest.java': True,
        'OtherTest.java': False,
        'TillTest.java': True,
    }
    old, new = (
        CellKey(tests_rev=rev, code_rev=place.rev, module='core') for rev in (parent, place.rev)
    )
    base = cells.get_or_compile_cell(old)
    assert plan_partial_compilation(base, before, changed) is not None
    part = cells.get_or_compile_cell(new)
    fresh = JdkWorker(place.builds)
    try:
        whole = fresh.cells.get_or_compile_cell(new)
        assert compute_digests(part) == compute_digests(whole)
        assert part.report == whole.report
    finally:
        fresh.close()


def test_cell_with_the_tests_of_another_cell_is_not_compiled(ends: tuple[Place, str]) -> None:
    place, parent = ends
    cells = place.built.worker.keep_cells_of_revisions((parent, place.rev))
    new = CellKey(tests_rev=place.rev, code_rev=place.rev, module='core')
    base = cells.get_or_compile_cell(new)
    files = load_sources(place, parent).list_differences(load_sources(place, place.rev))
    key = CellKey(tests_rev=parent, code_rev=place.rev, module='core', edits=CellEdits(tests=files))
    same = cells.get_or_compile_cell(key)
    assert same.compiled.cpu_seconds == 0
    assert same.report == base.report
    assert compute_digests(same) == compute_digests(base)


def test_first_test_of_a_module_without_tests_is_compiled(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    tree = {'pom.xml': root('core'), 'core/pom.xml': module('core', JUNIT4)}
    main = {'core/src/main/java/shop/Price.java': 'package shop; public class Price { }'}
    with opened(tmp_path_factory.mktemp('first'), [{**tree, **main}]) as place:
        cells = place.built.worker.cells
        assert cells.get_or_compile_cell(make_key(place, {})).report.classes == {}
        first = cells.get_or_compile_cell(make_key(place, {'OtherTest': OTHER, 'Helper': HELPER}))
        assert set(first.report.classes) == {'shop.OtherTest', 'shop.Helper'}


def test_symbolic_link_among_tests_forbids_partial_compilation(place: Place) -> None:
    output = place.builds.get_output(place.rev)
    link = output.tests / TESTS / 'Link.java'
    link.symlink_to('/etc/hostname')
    try:
        assert load_test_sources(output, 'core') is None
    finally:
        link.unlink()
    assert load_test_sources(output, 'core') is not None
