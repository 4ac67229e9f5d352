"""Fields, headers, whole types and resources undone alone, and the gold tests run for real."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from coevo.languages.java.cells.edited_code import FILTERED
from coevo.languages.java.reading.syntax import parse
from coevo.measures.edited_cells import GoldTest
from coevo.measures.parts import UndoablePart, list_undoable_parts
from coevo.measures.reversals import measure_reversals
from coevo.model.dependencies import Dependency, Revised
from coevo.model.quality import ReversalRow, ReversalStatus
from coevo.model.records import TestMethod
from tests.coevo.measures.shop import opened
from tests.projects import junit, pom, source

pytestmark = [pytest.mark.jvm, pytest.mark.slow]  # `test_reversals` reverts methods

MAIN, RESOURCES = 'src/main/java/shop', 'src/main/resources'
FILTERS = """<build><resources><resource>
    <directory>src/main/resources</directory><filtering>true</filtering>
  </resource></resources></build>"""

READ = """
    public static String text(String name) {
        java.io.InputStream in = Shop.class.getResourceAsStream(name);
        return in == null ? "" : new java.util.Scanner(in).nextLine();
    }
    public static int first() { return table[0]; }
    public void run() { }
"""
OLD = f"""
    public static final int MOST = 3;
    public static int spare = 1;
    static int[] table;
    static {{ table = new int[] {{1}}; }}
{READ}"""
NEW = f"""
    public static final int MOST = 5;
    public static int fresh = 2;
    static int[] table;
    static {{ table = new int[] {{2}}; }}
{READ}"""
TESTS = {
    'limits': 'assertEquals(5, Shop.MOST);',
    'starts': 'assertEquals(2, Shop.first());',
    'runs': 'assertTrue((Object) new Shop() instanceof Runnable);',
    'freshens': 'assertEquals(2, Shop.fresh);',
    'spares': 'try { Shop.class.getField("spare"); fail(); } catch (NoSuchFieldException e) { }',
    'rings': 'assertEquals("ring", Bell.ring());',
    'silent': 'try { Class.forName("shop.Horn"); fail(); } catch (ClassNotFoundException e) { }',
    'greets': 'assertEquals("ahoy", Shop.text("/greeting.txt"));',
    'more': 'assertEquals("more", Shop.text("/more.txt"));',
    'gone': 'assertEquals("", Shop.text("/gone.txt"));',
    'fills': 'assertEquals("package new!", Shop.text("/Template.java"));',
    'weak': 'new Shop();',
}
STEPS = (
    {
        'pom.xml': pom(FILTERS),
        **source('Shop', OLD),
        **source('Horn', '    public static int blow() { return 1; }\n'),
        f'{RESOURCES}/greeting.txt': 'hello\n',
        f'{RESOURCES}/gone.txt': 'gone\n',
        f'{RESOURCES}/Template.java': 'package old!\n',
        f'{RESOURCES}/version.txt': 'v ${project.version}\n',
    },
    {
        f'{MAIN}/Shop.java': source('Shop', NEW)[f'{MAIN}/Shop.java'].replace(
            'class Shop', 'class Shop implements Runnable'
        ),
        f'{MAIN}/Horn.java': None,
        **source('Bell', '    public static String ring() { return "ring"; }\n'),
        f'{RESOURCES}/greeting.txt': 'ahoy\n',
        f'{RESOURCES}/more.txt': 'more\n',
        f'{RESOURCES}/gone.txt': None,
        f'{RESOURCES}/Template.java': 'package new!\n',
        f'{RESOURCES}/version.txt': 'version ${project.version}\n',
        **junit('ShopTest', *(f'{name}: {body}' for name, body in TESTS.items())),
    },
)


def of_type(name: str, revised: Revised, step: int) -> Dependency:
    path = f'{MAIN}/{name}.java'
    text = STEPS[step][path]
    assert text is not None
    (found,) = parse(text.encode()).types
    return Dependency(
        name=found.name,
        declaration=found.declaration,
        file=path,
        start_line=found.start_line,
        end_line=found.end_line,
        revised=revised,
        rank=1,
    )


def resource(name: str, revised: Revised) -> Dependency:
    path = f'{RESOURCES}/{name}'
    return Dependency(
        name=path,
        declaration='resource',
        file=path,
        start_line=0,
        end_line=0,
        revised=revised,
        rank=2,
    )


DEPENDENCIES = (
    of_type('Shop', Revised.MODIFIED, 1),
    of_type('Bell', Revised.INSERTED, 1),
    of_type('Horn', Revised.REMOVED, 0),
    resource('greeting.txt', Revised.MODIFIED),
    resource('more.txt', Revised.INSERTED),
    resource('gone.txt', Revised.REMOVED),
    resource('Template.java', Revised.MODIFIED),
    resource('version.txt', Revised.MODIFIED),
)

# What is undone, and the test that notices.
PARTS = {
    ('Shop.java', 'public class Shop implements Runnable'): 'runs',
    ('Shop.java', 'public static final int MOST'): 'limits',
    ('Shop.java', 'public static int fresh'): 'freshens',
    ('Shop.java', 'static {…}'): 'starts',
    ('Shop.java', 'public static int spare'): 'spares',
    ('Bell.java', 'public class Bell'): 'rings',
    ('Horn.java', 'public class Horn'): 'silent',
    ('greeting.txt', 'resource'): 'greets',
    ('more.txt', 'resource'): 'more',
    ('gone.txt', 'resource'): 'gone',
    ('Template.java', 'resource'): 'fills',
}


@pytest.fixture(scope='module')
def found(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[ReversalRow, ...]]:
    """Of each test with the part that is its own; of `weak` with all of them."""
    with opened(tmp_path_factory.mktemp('shop'), STEPS) as runner:
        parts = [
            part
            for one in DEPENDENCIES
            for part in list_undoable_parts(runner.repository, runner.pair, one)
        ]
        tests = [
            GoldTest(
                method_id=name,
                method=TestMethod(
                    module='.',
                    test_file='src/test/java/shop/ShopTest.java',
                    test_class='shop.ShopTest',
                    test_method=name,
                ),
                dependencies=DEPENDENCIES,
                undone=frozenset(part.key for part in parts if PARTS.get(place(part)) == name),
            )
            for name in TESTS
        ]
        yield measure_reversals(runner, [*tests[:-1], replace(tests[-1], undone=None)])


def place(one: ReversalRow | UndoablePart) -> tuple[str, str]:
    return one.file.rpartition('/')[2], one.declaration


def test_each_test_is_run_against_the_parts_selected_for_it(
    found: tuple[ReversalRow, ...],
) -> None:
    asked = {(row.method_id, *place(row)) for row in found}
    assert len(found) == len(asked)
    own = {(name, *part) for part, name in PARTS.items()}
    assert asked == own | {('weak', *part) for part in (*PARTS, ('version.txt', 'resource'))}


@pytest.mark.parametrize('part', PARTS, ids=' '.join)
def test_the_reversal_of_a_part_is_detected_by_its_own_test(
    found: tuple[ReversalRow, ...], part: tuple[str, str]
) -> None:
    told = {row.method_id: row.status for row in found if place(row) == part}
    assert told == {
        PARTS[part]: ReversalStatus.DETECTED,
        'weak': ReversalStatus.UNDETECTED,
    }


def test_a_resource_that_a_build_filter_changes_cannot_be_undone(
    found: tuple[ReversalRow, ...],
) -> None:
    rows = [row for row in found if place(row) == ('version.txt', 'resource')]
    assert {(row.status, row.signature) for row in rows} == {
        (ReversalStatus.DOES_NOT_COMPILE, FILTERED)
    }
