from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from coevo.model.dependencies import Revised
from coevo.model.profiles import load_profile
from coevo.model.reasons import DiffReason
from coevo.model.records import FileOrigin
from coevo.model.words import MethodChange
from filters import filter_candidates
from miners.diffs.changes import compute_candidate_id
from tests.miners.pairs_of import changes, diff_between, diffed, java_class, only
from tests.repos import commit, commit_tree, git, init, write_object

FOO = 'public class Foo { public int one() { return 1; } public int two() { return 2; } }'
IMPORTS = 'import org.junit.Test;'
FOO2 = FOO.replace('return 1', 'return 11')
ONE = '@Test public void one() { assertEquals(1, new Foo().one()); }'
TWO = '@Test public void two() { assertEquals(2, new Foo().two()); }'


def test_inserted_changed_and_deleted_tests_are_recognised(tmp_path: Path) -> None:
    three = '@Test public void three() { fail("nothing like the others", now()); }'
    old = {'Foo': FOO, 'FooTest': java_class(ONE, TWO)}
    new = {'Foo': FOO2, 'FooTest': java_class(ONE.replace('(1,', '(11,'), three)}
    change = diffed(tmp_path, old, new)
    assert changes(change) == {'one': 'changed', 'two': 'deleted', 'three': 'inserted'}
    assert (change.source_changed, change.tests_changed, change.reason) == (True, True, None)
    assert not change.build_changed
    by_name = {c.method.test_method: c for c in change.candidates}
    assert by_name['one'].old_source == ONE
    assert by_name['one'].new_source == ONE.replace('(1,', '(11,')
    assert (by_name['two'].new, by_name['two'].new_source) == (None, None)
    assert (by_name['three'].old, by_name['three'].old_source) == (None, None)


def test_an_unchanged_test_is_a_candidate_only_if_a_dependency_changed(tmp_path: Path) -> None:
    change = diffed(tmp_path, {'Foo': FOO, 'FooTest': java_class(ONE, TWO)}, {'Foo': FOO2})
    candidate = only(change)
    assert (candidate.change, candidate.method.test_method) == (MethodChange.UNCHANGED, 'one')
    assert candidate.focal_method == 'p.Foo#one()'
    (dependency,) = candidate.dependencies
    assert dependency.declaration == 'public int one()'
    assert dependency.file == 'src/main/java/p/Foo.java'
    assert (dependency.revised, dependency.rank) == (Revised.MODIFIED, 1)
    assert (dependency.start_line, dependency.end_line) == (2, 2)


@pytest.mark.parametrize(
    'files',
    [
        {'Foo': FOO.replace('{ return 1', '{ // one\n  return 1')},
        {'FooTest': '/** Doc. */ ' + java_class(ONE).replace('{', '{\n  ')},
        {'Foo': f'// nothing\n{FOO}', 'FooTest': f'\n\n{java_class(ONE)}'},
    ],
)
def test_comments_and_formatting_give_no_candidate(tmp_path: Path, files: dict[str, str]) -> None:
    change = diffed(tmp_path, {'Foo': FOO, 'FooTest': java_class(ONE)}, files)
    assert change.reason is DiffReason.COMMENTS_OR_FORMATTING_ONLY
    assert change.candidates == ()
    assert (change.source_changed, change.tests_changed) == (False, False)


def test_a_java_file_outside_source_and_tests_is_no_change(tmp_path: Path) -> None:
    change = diffed(
        tmp_path, {'tools/Make.java': 'class Make {}'}, {'tools/Make.java': 'class M{}'}
    )
    assert change.reason is DiffReason.NO_SOURCE_OR_TEST_CHANGE


def test_a_change_of_tests_alone_gives_changed_candidates(tmp_path: Path) -> None:
    old = {'Foo': FOO, 'FooTest': java_class(ONE, TWO)}
    change = diffed(tmp_path, old, {'FooTest': java_class(ONE.replace('(1,', '(3,'), TWO)})
    assert changes(change) == {'one': 'changed'}
    assert (change.source_changed, change.tests_changed) == (False, True)


@pytest.mark.parametrize(
    ('old', 'new'),
    [
        ('@Before public void start() { x = 1; }', '@Before public void start() { x = 2; }'),
        ('public void setUp() { x = 1; }', 'public void setUp() { x = 2; }'),
        ('@Rule public Temp t = new Temp();', '@Rule public Temp t = new Temp(1);'),
        ('int used = 1; int also() { return used; }', 'int used = 2; int also() { return used; }'),
        ('int help() { return 1; }', 'int help() { return 2; }'),
        ('int help() { return deep(); } int deep() { return 1; }',
         'int help() { return deep(); } int deep() { return 2; }'),
        ('static class Data { int x = 1; Data() { x = 3; } }',
         'static class Data { int x = 1; Data() { x = 4; } }'),
        ('{ run(1); }', '{ run(2); }'),
    ],
)  # fmt: skip
def test_a_fixture_or_helper_change_in_the_class_is_a_context_change(
    tmp_path: Path, old: str, new: str
) -> None:
    body = '@Test public void m() { assertTrue(help() + used + new Data().x > 0); }'
    change = diffed(tmp_path, {'ATest': java_class(body, old)}, {'ATest': java_class(body, new)})
    assert changes(change) == {'m': 'context_changed'}


@pytest.mark.parametrize('named', ['("data")', ''])
def test_a_method_source_change_is_a_context_change(tmp_path: Path, named: str) -> None:
    test = f'@ParameterizedTest @MethodSource{named} void data(int x) {{ assertTrue(x > 0); }}'
    data = 'static Stream<Integer> data() { return Stream.of(1); }'
    old, new = (java_class(test, text) for text in (data, data.replace('1', '2')))
    change = diffed(tmp_path, {'FooTest': old}, {'FooTest': new})
    assert changes(change) == {'data': 'context_changed'}


@pytest.mark.parametrize(
    ('old', 'new'),
    [
        ('int unused = 1;', 'int unused = 2;'),
        ('int unused() { return 1; }', 'int unused() { return 2; }'),
        ('@Test public void n() { a(); }', '@Test public void o() { b(1, 2, 3); }'),
        ('', 'int unused;'),
    ],
)
def test_a_member_that_a_test_does_not_use_is_no_context(
    tmp_path: Path, old: str, new: str
) -> None:
    body = '@Test public void m() { assertTrue(true); }'
    change = diffed(tmp_path, {'ATest': java_class(body, old)}, {'ATest': java_class(body, new)})
    assert 'm' not in changes(change)


@pytest.mark.parametrize(
    ('use', 'changed'),
    [
        ('Foo.one(0);', False),
        ('new Foo().one();', False),
        ('Foo foo = make(); foo.one();', False),
        ('Stream.of(1).map(Foo::one);', False),
        ('one();', True),
        ('this.one();', True),
        ('FooTest.one();', True),
        ('Foo.one(0); one();', True),
    ],
)
def test_a_test_named_like_a_tested_method_is_no_context_of_its_callers(
    tmp_path: Path, use: str, changed: bool
) -> None:
    other = f'@Test public void other() {{ {use} }}'
    old = {'FooTest': java_class(ONE, other)}
    change = diffed(tmp_path, old, {'FooTest': java_class(ONE.replace('(1,', '(11,'), other)})
    assert changes(change) == {
        'one': 'changed',
        **({'other': 'context_changed'} if changed else {}),
    }


@pytest.mark.parametrize(('use', 'changed'), [('Foo.help();', False), ('a.help();', True)])
def test_a_helper_is_a_context_unless_the_name_is_of_another_type_alone(
    tmp_path: Path, use: str, changed: bool
) -> None:
    test, helper = f'@Test public void m() {{ {use} }}', 'int help() { return 1; }'
    old = {'FooTest': java_class(test, helper)}
    change = diffed(tmp_path, old, {'FooTest': java_class(test, helper.replace('1', '2'))})
    assert changes(change) == ({'m': 'context_changed'} if changed else {})


def test_a_superclass_change_in_another_file_is_a_context_change(tmp_path: Path) -> None:
    test = java_class('@Test public void m() { check(); }', name='ATest', extra='extends Base')
    base = 'class Base extends Top { void check() { assertOk(1); } }'
    top = 'class Top { @Before public void start() { x = 1; } }'
    files = {'ATest': test, 'Base': base, 'TopBase': top}
    change = diffed(tmp_path, files, {'TopBase': top.replace('1', '2')})
    assert changes(change) == {'m': 'context_changed'}
    assert only(change).method.test_file == 'src/test/java/p/ATest.java'


@pytest.mark.parametrize('use', ['Help.go();', 'new Help().go();', 'go();'])
def test_a_change_of_a_used_helper_class_is_a_context_change(tmp_path: Path, use: str) -> None:
    imports = 'import q.Help; import static q.Help.go;'
    test = f'{imports} {java_class(f"@Test public void m() {{ {use} }}")}'
    path = 'src/test/java/q/Help.java'
    help_ = 'package q; public class Help { public static void go() { a(); } void other() {} }'
    old = {'FooTest': test, path: help_}
    assert changes(diffed(tmp_path / 'a', old, {path: help_.replace('a()', 'b()')})) == {
        'm': 'context_changed'
    }
    other = diffed(tmp_path / 'b', old, {path: help_.replace('other() {', 'other() { b();')})
    assert changes(other) == {}


def test_a_type_of_the_same_name_in_another_package_is_no_context(tmp_path: Path) -> None:
    test = f'import q.Help; {java_class("@Test public void m() { Help.go(); }")}'
    path = 'src/test/java/r/Help.java'
    help_ = 'package r; public class Help { public static void go() { a(); } }'
    change = diffed(tmp_path, {'FooTest': test, path: help_}, {path: help_.replace('a()', 'b()')})
    assert changes(change) == {}


def test_a_change_of_a_used_resource_is_a_context_change(tmp_path: Path) -> None:
    methods = [f'@Test public void {n}() {{ load("/data/{n}.json"); }}' for n in ('m', 'n')]
    path = 'src/test/resources/data/m.json'
    old = {'FooTest': java_class(*methods), path: '1', 'Foo': FOO}
    change = diffed(tmp_path, old, {path: '2', 'Foo': f'// c\n{FOO}'})
    assert changes(change) == {'m': 'context_changed'}


def test_a_renamed_test_class_leaves_its_tests_unchanged(tmp_path: Path) -> None:
    old = {'OldTest': java_class('OldTest() { x = 1; }', ONE, TWO, name='OldTest'), 'Foo': FOO}
    new = {k.replace('Old', 'New'): v.replace('Old', 'New') for k, v in old.items()}
    change = diffed(tmp_path, old, {**new, 'Foo': FOO2}, whole=True)
    candidate = only(change)
    assert (candidate.change, candidate.method.test_method) == (MethodChange.UNCHANGED, 'one')
    assert candidate.old is not None
    assert candidate.old.test_class == 'p.OldTest'
    assert candidate.old.test_file == 'src/test/java/p/OldTest.java'
    assert candidate.method.test_class == 'p.NewTest'


def test_a_renamed_test_method_is_unchanged(tmp_path: Path) -> None:
    old = {'Foo': FOO, 'FooTest': java_class(ONE, TWO)}
    new = {'Foo': FOO2, 'FooTest': java_class(ONE.replace('void one', 'void uno'), TWO)}
    candidate = only(diffed(tmp_path, old, new))
    assert candidate.change is MethodChange.UNCHANGED
    assert candidate.old is not None
    assert (candidate.old.test_method, candidate.method.test_method) == ('one', 'uno')


def test_a_moved_and_edited_test_is_changed(tmp_path: Path) -> None:
    body = '@Test public void m() { a(1); b(2); c(3); d(4); e(5); }'
    old = {'src/test/java/p/ATest.java': f'package p; {java_class(body, name="ATest")}'}
    edited = body.replace('a(1); b(2); c(3);', 'z(9); y(8);')
    new = {'src/test/java/q/ATest.java': f'package q; {java_class(edited, name="ATest")}'}
    candidate = only(diffed(tmp_path, old, new, whole=True))
    assert candidate.change is MethodChange.CHANGED
    assert candidate.old is not None
    assert candidate.old.test_class == 'p.ATest'


def test_a_test_with_new_parameters_is_changed(tmp_path: Path) -> None:
    old = java_class('@Test void m() { check(1, 2, 3); }')
    new = java_class('@Test void m(TestInfo info) { check(1, 2, 3); }')
    candidate = only(diffed(tmp_path, {'FooTest': old}, {'FooTest': new}))
    assert candidate.change is MethodChange.CHANGED
    assert candidate.method.parameters == ('TestInfo',)


def test_a_renamed_and_edited_test_is_changed_only_if_similar(tmp_path: Path) -> None:
    body = '@Test public void m() { Foo f = new Foo(); f.a(1); f.b(2); assertEquals(3, f.one()); }'
    similar = body.replace('void m', 'void n').replace('3', '4')
    other = '@Test public void n() { assertThat(new Bar().run("x")).isNull(); }'
    old = {'FooTest': java_class(body)}
    near = diffed(tmp_path / 'a', old, {'FooTest': java_class(similar)})
    assert changes(near) == {'n': 'changed'}
    far = diffed(tmp_path / 'b', old, {'FooTest': java_class(other)})
    assert changes(far) == {'m': 'deleted', 'n': 'inserted'}


def test_a_copied_test_is_inserted(tmp_path: Path) -> None:
    old = {'FooTest': java_class(ONE)}
    change = diffed(tmp_path, old, {'BarTest': java_class(ONE, name='BarTest')})
    assert changes(change) == {'one': 'inserted'}


def test_poms_decide_modules_and_the_source_and_test_folders(tmp_path: Path) -> None:
    pom = """<project xmlns="http://maven.apache.org/POM/4.0.0"><build>
      <sourceDirectory>code</sourceDirectory>
      <testSourceDirectory>${project.basedir}/checks</testSourceDirectory></build></project>"""
    old = {
        'sub/pom.xml': pom,
        'sub/code/Foo.java': FOO,
        'sub/checks/FooTest.java': java_class(ONE),
        'sub/elsewhere/Bar.java': 'class Bar {}',
    }
    new = {'sub/code/Foo.java': FOO2, 'sub/elsewhere/Bar.java': 'class Baz {}'}
    candidate = only(diffed(tmp_path, old, new))
    assert candidate.method.module == 'sub'
    assert candidate.focal_method == 'Foo#one()'


@pytest.mark.parametrize(
    ('parent', 'candidates'),
    [
        ('<artifactId>all</artifactId>', 1),
        ('<artifactId>all</artifactId><relativePath>..</relativePath>', 1),
        # Maven takes these from a repository.
        ('<artifactId>another</artifactId>', 0),
        ('<artifactId>all</artifactId><relativePath/>', 0),
    ],
)
def test_module_inherits_the_folders_that_its_parent_declares(
    tmp_path: Path, parent: str, candidates: int
) -> None:
    root = """<project xmlns="http://maven.apache.org/POM/4.0.0"><artifactId>all</artifactId><build>
      <sourceDirectory>${project.basedir}/code</sourceDirectory>
      <testSourceDirectory>${project.basedir}/checks</testSourceDirectory></build></project>"""
    old = {
        'all/pom.xml': root,
        'all/sub/pom.xml': f'<project><parent>{parent}</parent><artifactId>sub</artifactId></project>',
        'all/sub/code/Foo.java': FOO,
        'all/sub/checks/FooTest.java': java_class(ONE),
    }
    change = diffed(tmp_path, old, {'all/sub/code/Foo.java': FOO2})
    assert len(change.candidates) == candidates
    assert {candidate.method.module for candidate in change.candidates} <= {'all/sub'}


FOLDER = '<testSourceDirectory>{}</testSourceDirectory>'
PROPERTIES = """<properties><kind>checks</kind><dir>src/${kind}</dir>
  <endless>${more}</endless><more>${endless}${endless}</more></properties>"""
PROFILE_END = '</build></profile></profiles>'
ADDER = """<plugins><plugin><artifactId>build-helper-maven-plugin</artifactId><executions>
  <execution><goals><goal>add-test-source</goal></goals><configuration><sources>
    <source>{}</source></sources></configuration></execution>
</executions></plugin></plugins>"""


@pytest.mark.parametrize(
    ('declaration', 'candidates'),
    [
        (f'{PROPERTIES}<build>{FOLDER.format("${project.basedir}/${dir}/java")}</build>', 1),
        (f'<build>{FOLDER.format("src/${unknown}/java")}</build>', 0),
        (f'{PROPERTIES}<build>{FOLDER.format("src/${endless}/java")}</build>', 0),
        (f'<build>{FOLDER.format("../src/checks/java")}</build>', 0),
        (f'<build>{ADDER.format("src/checks/java")}</build>', 1),
        (f'{PROPERTIES}<build>{ADDER.format("${project.basedir}/${dir}/java/")}</build>', 1),
        (f'<profiles><profile><build>{ADDER.format("src/checks/java")}{PROFILE_END}', 1),
        (f'<build>{ADDER.format("src/checks/java").replace("add-test", "add")}</build>', 0),
    ],
)
def test_folders_of_tests_are_found_behind_properties_and_in_build_helper(
    tmp_path: Path, declaration: str, candidates: int
) -> None:
    old = {
        'sub/pom.xml': f'<project>{declaration}</project>',
        'sub/src/main/java/Foo.java': FOO,
        'sub/src/checks/java/FooTest.java': java_class(ONE),
    }
    change = diffed(tmp_path, old, {'sub/src/main/java/Foo.java': FOO2})
    assert len(change.candidates) == candidates


@pytest.mark.parametrize(
    ('annotated', 'imported', 'candidates'),
    [
        ('@org.junit.jupiter.api.Test', 'kit.Fast', 1),
        ('@org.junit.jupiter.api.Test', 'kit.*', 1),
        ('@org.junit.jupiter.api.Test', 'another.Fast', 0),
        ('@org.junit.jupiter.api.Tag("fast")', 'kit.Fast', 0),
    ],
)
def test_annotation_that_another_module_publishes_marks_tests(
    tmp_path: Path, annotated: str, imported: str, candidates: int
) -> None:
    old = {
        'kit/pom.xml': '<project/>',
        'kit/src/main/java/kit/Fast.java': f'package kit; {annotated} public @interface Fast {{}}',
        'sub/pom.xml': '<project/>',
        'sub/src/main/java/p/Foo.java': f'package p; {FOO}',
        'sub/src/test/java/p/FooTest.java': (
            f'package p; import {imported}; {java_class(ONE.replace("@Test", "@Fast"))}'
        ),
    }
    change = diffed(tmp_path, old, {'sub/src/main/java/p/Foo.java': f'package p; {FOO2}'})
    assert len(change.candidates) == candidates


def test_tests_among_the_sources_are_candidates_of_that_origin(tmp_path: Path) -> None:
    kit = 'sub/src/main/java/p/Kit.java'
    old = {'Foo': FOO, 'sub/pom.xml': '<project/>', kit: java_class(ONE, TWO, name='Kit')}
    three = TWO.replace('two', 'three')
    change = diffed(
        tmp_path,
        {name: text.replace('class Kit', f'{IMPORTS} class Kit') for name, text in old.items()},
        {kit: f'{IMPORTS} {java_class(ONE.replace("(1,", "(11,"), TWO, three, name="Kit")}'},
    )
    assert changes(change) == {'one': 'changed', 'three': 'inserted'}
    assert {candidate.origin for candidate in change.candidates} == {FileOrigin.SOURCES}
    kept, drops = filter_candidates(change, load_profile('default'))
    assert kept == ()
    assert {str(drop.reason) for drop in drops} == {'test_among_sources'}


@pytest.mark.parametrize('place', ['src/test/java/p/FooTest.java', 'src/test/java/p'])
def test_tests_behind_links_neither_come_nor_go_nor_change_without_a_word(
    tmp_path: Path, place: str
) -> None:
    """A file, or the folder with it, moves behind a link, changes there, and moves back."""
    path = 'src/test/java/p/FooTest.java'
    shown = 'shared/FooTest.java'
    text = f'package p; {java_class(ONE)}'
    target = shown if place == path else 'shared'
    up = '../' * place.count('/')
    repo = init(tmp_path / 'repository')
    revs = [commit(repo, 'start', {'pom.xml': '<project/>', path: text})]
    oid = write_object(repo, 'blob', f'{up}{target}'.encode())
    git(repo, 'rm', '-q', '-r', '--cached', place)
    (repo / path).unlink()
    (repo / 'shared').mkdir()
    (repo / shown).write_text(text)
    git(repo, 'add', shown)
    git(repo, 'update-index', '--add', '--cacheinfo', f'120000,{oid},{place}')
    revs.append(commit_tree(repo, 'link', git(repo, 'write-tree'), parents=revs[-1:]))
    revs.append(commit(repo, 'change', {shown: text.replace('(1,', '(11,')}))
    git(repo, 'rm', '-q', place)
    revs.append(commit(repo, 'back', {path: text, shown: None}))
    for old, new in pairwise(revs):
        change = diff_between(repo, old, new)
        kept, drops = filter_candidates(change, load_profile('default'))
        assert kept == ()
        assert {str(drop.reason) for drop in drops} == {'behind_link'}


DECLARED = """<project><build><resources>
      <resource><directory>${basedir}/templates</directory></resource>
      <resource><directory>src/main/java</directory></resource>
      </resources></build></project>"""


@pytest.mark.parametrize(
    ('path', 'kinds'),
    [
        pytest.param('src/main/kotlin/p/Tax.kt', ('kotlin',), id='Kotlin'),
        pytest.param('src/main/java/p/Tax.kt', ('kotlin',), id='Kotlin beside Java'),
        pytest.param('src/main/groovy/Tax.groovy', ('groovy',), id='Groovy'),
        pytest.param('src/main/scala/p/Tax.scala', ('scala',), id='Scala'),
        pytest.param('src/main/resources/tax.properties', ('resource',), id='resource'),
        pytest.param('src/main/webapp/WEB-INF/web.xml', ('resource',), id='web application'),
        pytest.param('src/main/antlr4/p/Tax.g4', ('template',), id='grammar'),
        pytest.param('sub/templates/a.txt', ('resource',), id='declared folder'),
        pytest.param('sub/src/main/java/p/a.html', ('resource',), id='resource beside Java'),
        pytest.param('src/main/java/p/package.html', (), id='document beside Java'),
        pytest.param('src/main/javadoc/overview.html', (), id='documents'),
        pytest.param('src/test/kotlin/p/TaxTest.kt', (), id='tests'),
        pytest.param('docs/tax.md', (), id='elsewhere'),
    ],
)
def test_all_that_a_module_ships_is_production(
    tmp_path: Path, path: str, kinds: tuple[str, ...]
) -> None:
    old = {'Foo': FOO, 'FooTest': java_class(ONE), 'sub/pom.xml': DECLARED, path: 'old'}
    change = diffed(tmp_path, old, {path: 'new', 'FooTest': java_class(ONE, TWO)})
    assert change.kinds == kinds
    assert change.source_changed is bool(kinds)
    assert change.tests_changed


def test_a_changed_pom_counts_as_a_build_change(tmp_path: Path) -> None:
    old = {'Foo': FOO, 'FooTest': java_class(ONE), 'sub/pom.xml': '<project/>'}
    assert diffed(tmp_path, old, {'Foo': FOO2, 'sub/pom.xml': '<project></project>'}).build_changed


def test_a_file_with_a_syntax_error_is_diffed_as_far_as_possible(tmp_path: Path) -> None:
    old = {'Foo': FOO, 'FooTest': java_class(ONE, TWO)}
    new = {'Foo': FOO, 'FooTest': java_class(ONE.replace('(1,', '(3,'), TWO) + ' class {'}
    assert changes(diffed(tmp_path, old, new))['one'] == 'changed'


def test_method_ids_are_unique_and_stable(tmp_path: Path) -> None:
    old = {'Foo': FOO, 'FooTest': java_class(ONE, TWO)}
    new = {'Foo': FOO2, 'FooTest': java_class(ONE.replace('(1,', '(3,'), '@Test void z() {}')}
    change = diffed(tmp_path, old, new)
    ids = [compute_candidate_id(change.pair, candidate) for candidate in change.candidates]
    assert len(set(ids)) == len(ids) == 3
    again = diffed(tmp_path / 'again', old, new)
    assert [compute_candidate_id(again.pair, candidate) for candidate in again.candidates] == ids


def test_candidates_come_in_a_fixed_order(tmp_path: Path) -> None:
    old = {'Foo': FOO, 'BTest': java_class(TWO, ONE, name='BTest'), 'ATest': java_class(ONE)}
    change = diffed(tmp_path, old, {'Foo': FOO2.replace('return 2', 'return 22')})
    found = [
        (c.method.test_file.rpartition('/')[2][:5], c.method.test_method) for c in change.candidates
    ]
    assert found == [('ATest', 'one'), ('BTest', 'one'), ('BTest', 'two')]
