"""Cells in which some files are other than their revision's, and variants of one main source."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from coevo.languages.cells import CellEdits, CompiledTests
from coevo.languages.java.built_pair import JavaBuiltPair
from coevo.languages.java.cells.cells import MOST_EDITED_CELLS
from coevo.languages.java.revisions.shared_builds import SharedBuilds
from coevo.model.records import TestMethod
from tests.coevo.languages.java.maven.test_processors import LEVEL_8, library
from tests.coevo.languages.java.maven.test_shapes import JUNIT4, TEST_JAR, module, root, sibling
from tests.coevo.languages.place import opened

pytestmark = pytest.mark.jvm

PRICE = """package shop;
public class Price {
    public static final int LIMIT = 9;
    public static int of() { return add(0); }
    private static int add(int more) { return 1 + more; }
    public static class Tag { }
}
class Extra { static int extra() { return 4; } }
"""
ITEM = 'package shop; @lombok.Data public class Item { private int price = 1; }'
HEAD = 'package shop; import static org.junit.Assert.*; import org.junit.Test;\n'
TILL_TEST = (
    HEAD
    + """public class TillTest {
    @Test public void of() { assertEquals(1, Price.of()); }
    @Test public void sums() { assertEquals(2, Sum.twice()); }
    @Test public void limits() { assertEquals(9, Sum.limit()); }
    @Test public void items() { assertEquals(1, new Item().getPrice()); }
    @Test public void extra() { assertEquals(4, Sum.extra()); }
    @Test public void tags() throws Exception { Class.forName("shop.Price$Tag"); }
    @Test public void helped() { assertEquals(7, Helper.seven()); }
    @Test public void reads() throws Exception {
        assertEquals('a', TillTest.class.getResourceAsStream("/letter.txt").read());
        assertTrue(new java.io.File("src/test/resources/letter.txt").isFile());
    }
}
"""
)
CORE, APP, MAIN = 'core/src/test/java/shop/', 'app/src/test/java/shop/', 'core/src/main/java/shop/'
TREE = {
    'pom.xml': root('core', 'app'),
    'core/pom.xml': module(
        'core', JUNIT4 + library('org.projectlombok', 'lombok', '1.18.34'), LEVEL_8
    ),
    f'{MAIN}Price.java': PRICE,
    f'{MAIN}Item.java': ITEM,
    f'{MAIN}Sum.java': """package shop; public class Sum {
        public static int twice() { return Price.of() * 2; }
        public static int limit() { return Price.LIMIT; }
        public static int extra() { return Extra.extra(); } }""",
    f'{CORE}TillTest.java': TILL_TEST,
    f'{CORE}Helper.java': 'package shop; public class Helper { public static int seven() { return 7; } }',
    'core/src/test/resources/letter.txt': 'a',
    'app/pom.xml': module('app', sibling('core') + sibling('core', TEST_JAR) + JUNIT4, LEVEL_8),
    f'{APP}AppTest.java': HEAD
    + """public class AppTest {
    @Test public void of() { assertEquals(1, Price.of()); }
    @Test public void helped() { assertEquals(7, Helper.seven()); }
}
""",
}


@dataclass(frozen=True)
class Place:
    rev: str
    built: JavaBuiltPair
    builds: SharedBuilds

    def compiled(
        self, module_: str = 'core', *, tests: object = None, code: object = None
    ) -> CompiledTests:
        edits = CellEdits(tests=_files(tests), code=_files(code))
        return self.built.compile(self.rev, self.rev, module_, edits=edits)

    def outcomes(
        self, compiled: CompiledTests, *names: str, type_: str = 'TillTest'
    ) -> dict[str, str]:
        """What the compiler says of methods, else what they do in one process."""
        folder = CORE if compiled.module == 'core' else APP
        methods = [
            TestMethod(
                module=compiled.module,
                test_file=f'{folder}{type_}.java',
                test_class=f'shop.{type_}',
                test_method=name,
            )
            for name in names
        ]
        said = [self.built.find_compile_verdict(compiled, method) for method in methods]
        ran = self.built.run(compiled, methods).verdicts
        both = zip(names, said, ran, strict=True)
        return {name: str((one or other).outcome) for name, one, other in both if one or other}


def _files(files: object) -> tuple[tuple[str, bytes | None], ...]:
    found = dict(files) if isinstance(files, dict) else {}
    return tuple(
        (path, text.encode() if text is not None else None) for path, text in sorted(found.items())
    )


@pytest.fixture(scope='module')
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with opened(tmp_path_factory.mktemp('edits'), [TREE]) as found:
        yield Place(rev=found.rev, built=found.built, builds=found.builds)


@pytest.mark.slow
def test_edited_code_is_run_by_tests_of_its_own_and_of_other_modules(place: Place) -> None:
    body = {f'{MAIN}Price.java': PRICE.replace('1 + more', '3 + more')}
    edited = place.compiled(code=body)
    assert edited.code_failure is None
    assert place.outcomes(edited, 'of', 'sums', 'tags', 'helped', 'extra') == {
        'of': 'fail',
        'sums': 'fail',
        'tags': 'pass',
        'helped': 'pass',
        'extra': 'pass',
    }
    app = place.compiled('app', code=body)
    assert place.outcomes(app, 'of', 'helped', type_='AppTest') == {'of': 'fail', 'helped': 'pass'}
    plain = place.built.compile(place.rev, place.rev, 'core')
    assert place.outcomes(plain, 'of', 'sums') == {'of': 'pass', 'sums': 'pass'}
    assert len({place.built.digest_run_inputs(one) for one in (plain, edited)}) == 2


def test_edited_constant_reaches_classes_that_inline_it(place: Place) -> None:
    body = PRICE.replace('LIMIT = 9', 'LIMIT = 8')
    edited = place.compiled(code={f'{MAIN}Price.java': body})
    assert place.outcomes(edited, 'limits', 'of') == {'limits': 'fail', 'of': 'pass'}


def test_edited_code_is_compiled_with_the_annotation_processors_of_its_module(place: Place) -> None:
    edited = place.compiled(code={f'{MAIN}Item.java': ITEM.replace('price = 1', 'price = 2')})
    assert place.outcomes(edited, 'items', 'of') == {'items': 'fail', 'of': 'pass'}


@pytest.mark.parametrize(
    ('text', 'failure'),
    [
        (PRICE.replace('1 + more', '1 + less'), 'cant.resolve.location variable less'),
        (PRICE.replace('1 + more;', '1 +'), 'illegal.start.of.expr illegal start of expression'),
        # Its own file compiles; another one of the module does not any more.
        (PRICE.replace('int of()', 'int off()'), 'cant.resolve.location.args method of()'),
        (PRICE.replace('class Extra', 'class Other'), 'cant.resolve.location variable Extra'),
        (None, 'cant.resolve.location variable Price'),
    ],
)
def test_edited_code_that_does_not_compile_makes_tests_unbuildable(
    place: Place, text: str | None, failure: str
) -> None:
    edited = place.compiled(code={f'{MAIN}Price.java': text})
    assert edited.code_failure == failure
    assert place.outcomes(edited, 'of', 'helped') == {'of': 'unbuildable', 'helped': 'unbuildable'}


def test_class_removed_by_an_edit_is_missing_at_run_time_and_compile_time(place: Place) -> None:
    body = PRICE.replace('    public static class Tag { }\n', '')
    use = TILL_TEST.replace('Class.forName("shop.Price$Tag")', 'new Price.Tag()')
    edited = place.compiled(code={f'{MAIN}Price.java': body})
    assert place.outcomes(edited, 'tags', 'of') == {'tags': 'error', 'of': 'pass'}
    edited = place.compiled(code={f'{MAIN}Price.java': body}, tests={f'{CORE}TillTest.java': use})
    assert place.outcomes(edited, 'tags', 'of') == {'tags': 'compile_error', 'of': 'pass'}


def test_edited_files_and_new_files_are_compiled_together(place: Place) -> None:
    code = {
        f'{MAIN}Fresh.java': 'package shop; class Fresh { static int one() { return 5; } }',
        f'{MAIN}Price.java': PRICE.replace('1 + more', 'Fresh.one()'),
    }
    assert place.outcomes(place.compiled(code=code), 'of', 'tags') == {'of': 'fail', 'tags': 'pass'}


def test_edits_replace_add_and_remove_tests_of_the_tree(place: Place) -> None:
    more = TILL_TEST.replace('assertEquals(1, Price.of())', 'assertEquals(New.two(), Price.of())')
    tests = {
        f'{CORE}New.java': 'package shop; class New { static int two() { return 2; } }',
        f'{CORE}Helper.java': None,
        f'{CORE}TillTest.java': more,
    }
    edited = place.compiled(tests=tests)
    assert not edited.unit_ok
    assert place.outcomes(edited, 'of', 'sums', 'helped') == {
        'of': 'fail',
        'sums': 'pass',
        'helped': 'compile_error',
    }
    app = place.compiled('app', tests=tests)
    assert place.outcomes(app, 'of', 'helped', type_='AppTest') == {
        'of': 'pass',
        'helped': 'compile_error',
    }
    gone = place.compiled(tests={f'{CORE}TillTest.java': None})
    assert place.outcomes(gone, 'of') == {'of': 'missing'}


def test_edited_tests_are_compiled_once_for_code_edits_of_the_same_interface(place: Place) -> None:
    tests = {f'{CORE}TillTest.java': TILL_TEST.replace('assertEquals(1, Price.of())', 'fail()')}
    alone = place.compiled(tests=tests)
    folders = set((place.builds.root / 'cells').iterdir())
    code = {f'{MAIN}Price.java': PRICE.replace('return 1 + more', 'return 3 + more')}
    both = place.compiled(tests=tests, code=code)

    assert place.outcomes(alone, 'of', 'sums') == {'of': 'fail', 'sums': 'pass'}
    assert place.outcomes(both, 'of', 'sums') == {'of': 'fail', 'sums': 'fail'}
    assert set((place.builds.root / 'cells').iterdir()) <= folders  # old ones give way
    shown = {f'{MAIN}Price.java': PRICE.replace('LIMIT = ', 'LIMIT = 1 + ')}
    place.compiled(tests=tests, code=shown)
    assert set((place.builds.root / 'cells').iterdir()) - folders


@pytest.mark.parametrize(('letter', 'outcome'), [('b', 'fail'), (None, 'error'), ('a', 'pass')])
def test_tests_read_edited_test_resources(place: Place, letter: str | None, outcome: str) -> None:
    edited = place.compiled(tests={'core/src/test/resources/letter.txt': letter})
    assert place.outcomes(edited, 'reads', 'of') == {'reads': outcome, 'of': 'pass'}


def test_edit_of_a_file_outside_the_tree_is_refused(place: Place) -> None:
    with pytest.raises(ValueError, match='upwards'):
        place.compiled(tests={'core/../../escape.java': 'class Escape { }'})


def test_evicted_edited_cells_are_compiled_again_on_use(place: Place) -> None:
    def edited(number: int) -> CompiledTests:
        text = HEAD + f'public class N{number}Test {{ @Test public void n() {{ }} }}'
        return place.compiled(tests={f'{CORE}N{number}Test.java': text})

    first = edited(0)
    for number in range(1, 2 * MOST_EDITED_CELLS):
        edited(number)
    assert len(list((place.builds.root / 'edits').iterdir())) == MOST_EDITED_CELLS
    assert len(list((place.builds.root / 'code-edits').iterdir())) <= MOST_EDITED_CELLS
    assert place.outcomes(first, 'n', type_='N0Test') == {'n': 'pass'}
    place.built.worker.cells.remove_edited_and_other_cells(())
    for name in ('cells', 'edits', 'code-edits', 'checks'):
        folder = place.builds.root / name
        assert not folder.exists() or not list(folder.iterdir())


def test_source_variants_are_distinguished_by_byte_code(place: Place) -> None:
    variants = [
        PRICE,
        '// a comment\n\n' + PRICE.replace('return add(0);', 'return\n add( 0 );'),
        PRICE.replace('1 + more', '1 - more'),
        PRICE.replace('1 + more', 'more + less'),
        PRICE.replace('return 4;', 'return 5;'),
        PRICE.replace('    public static class Tag { }\n', ''),
        PRICE.replace('return add(0);', 'return add(new Price.Gone());'),
    ]
    texts = [text.encode() for text in variants]
    found = place.built.check_main_sources(place.rev, 'core', f'{MAIN}Price.java', texts)
    assert [one.signature for one in found] == [
        *(None, None, None),
        'cant.resolve.location variable less',
        *(None, None),
        'cant.resolve.location class Gone',
    ]
    digests = [one.digest for one in found if one.digest is not None]
    assert digests[0] == digests[1]
    assert len(set(digests)) == len(digests) - 1 == 4
    again = place.built.check_main_sources(place.rev, 'core', f'{MAIN}Price.java', texts[::-1])
    assert [(one.signature, one.digest) for one in again[::-1]] == [
        (one.signature, one.digest) for one in found
    ]


def test_source_variants_are_compiled_with_annotation_processors(place: Place) -> None:
    texts = [ITEM.encode(), ITEM.replace('int price', 'long price').encode()]
    one, two = place.built.check_main_sources(place.rev, 'core', f'{MAIN}Item.java', texts)
    assert one.digest is not None
    assert two.digest is not None
    assert one.digest != two.digest
