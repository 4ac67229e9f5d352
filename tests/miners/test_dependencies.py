from __future__ import annotations

from pathlib import Path

import pytest

from coevo.model.dependencies import Revised
from coevo.model.records import Candidate
from tests.miners.pairs_of import changes, diffed, only


def candidate(
    folder: Path, body: str, old: dict[str, str], new: dict[str, str], rest: str = ''
) -> Candidate:
    """The one candidate where the class FooTest has one test, in all commits the same."""
    test = f'{rest} class FooTest {{ @Test public void m() {{ {body} }} }}'
    return only(diffed(folder, {**old, 'FooTest': test}, new))


def declarations(found: Candidate) -> list[str]:
    return [dependency.declaration for dependency in found.dependencies]


def test_method_is_a_dependency_only_if_it_is_called_and_its_type_named(tmp_path: Path) -> None:
    old = {'Foo': 'class Foo { int get() { return 1; } int put() { return 1; } }'}
    new = {'Foo': old['Foo'].replace('1', '2')}
    assert declarations(candidate(tmp_path / 'a', 'new Foo().get();', old, new)) == ['int get()']
    found = diffed(
        tmp_path / 'b', {**old, 'FooTest': 'class FooTest { @Test void m() { Foo f; } }'}, new
    )
    assert changes(found) == {}


def test_called_constructor_is_a_dependency(tmp_path: Path) -> None:
    old = {'Foo': 'class Foo { Foo(int x) { y = 1; } static int go() { return 1; } }'}
    new = {'Foo': old['Foo'].replace('1', '2')}
    found = candidate(tmp_path, 'new Foo(1); Foo.go();', old, new)
    assert sorted(declarations(found)) == ['Foo(int x)', 'static int go()']


def test_change_outside_methods_is_a_dependency_when_the_type_is_named(tmp_path: Path) -> None:
    old = {'Foo': 'public class Foo { static final int A = 1; int get() { return A; } }'}
    new = {'Foo': old['Foo'].replace('= 1', '= 2')}
    found = candidate(tmp_path, 'use(Foo.A);', old, new)
    assert declarations(found) == ['public class Foo']
    assert found.focal_method == 'p.Foo'


@pytest.mark.parametrize('imported', ['import static p.Foo.go;', 'import static p.Foo.*;'])
def test_statically_imported_method_is_a_dependency(tmp_path: Path, imported: str) -> None:
    path = 'src/test/java/q/FooTest.java'
    test = f'package q; {imported} class FooTest {{ @Test void m() {{ go(); }} }}'
    foo = 'public class Foo { public static int go() { return 1; } }'
    found = only(diffed(tmp_path, {'Foo': foo, path: test}, {'Foo': foo.replace('1', '2')}))
    assert declarations(found) == ['public static int go()']


def test_same_named_type_of_another_package_is_no_dependency(tmp_path: Path) -> None:
    path = 'src/main/java/q/Foo.java'
    other = 'package q; public class Foo { public int get() { return 1; } }'
    old = {path: other, 'Foo': other.replace('package q; ', '')}
    test = 'class FooTest { @Test void m() { new Foo().get(); } }'
    change = diffed(tmp_path, {**old, 'FooTest': test}, {path: other.replace('1', '2')})
    assert changes(change) == {}


def test_inherited_method_is_a_dependency_when_called_on_a_subtype(tmp_path: Path) -> None:
    old = {
        'Top': 'abstract class Top { int get() { return 1; } }',
        'Middle': 'abstract class Middle extends Top {}',
        'Foo': 'class Foo extends Middle {}',
    }
    found = candidate(tmp_path, 'new Foo().get();', old, {'Top': old['Top'].replace('1', '2')})
    assert found.focal_method == 'p.Top#get()'


def test_fluent_call_is_a_dependency_only_if_few_types_declare_the_method(tmp_path: Path) -> None:
    builder = 'class Builder { Builder with(int x) { y = 1; } }'
    old = {'Foo': 'class Foo { static Builder make() { return null; } }', 'Builder': builder}
    new = {'Builder': builder.replace('1', '2')}
    found = candidate(tmp_path / 'few', 'Foo.make().with(3);', old, new)
    assert found.focal_method == 'p.Builder#with(int)'
    many = {f'B{i}': f'class B{i} {{ void with() {{}} }}' for i in range(3)}
    test = {'FooTest': 'class FooTest { @Test void m() { Foo.make().with(3); } }'}
    assert changes(diffed(tmp_path / 'many', {**old, **many, **test}, new)) == {}


def test_call_named_like_a_jdk_method_on_untyped_receiver_is_no_dependency(tmp_path: Path) -> None:
    old = {'Bag': 'class Bag { int size() { return 1; } }'}
    test = {'FooTest': 'class FooTest { @Test void m() { list.size(); } }'}
    change = diffed(tmp_path, {**old, **test}, {'Bag': old['Bag'].replace('1', '2')})
    assert changes(change) == {}


def test_dependencies_through_helpers_and_fixtures_rank_last(tmp_path: Path) -> None:
    old = {
        'Foo': 'class Foo { int direct() { return 1; } int deep() { return 1; } }',
        'HelpBase': 'class HelpBase { static int go(Foo f) { return f.deep(); } }',
    }
    new = {'Foo': old['Foo'].replace('1', '2')}
    body = 'Foo foo = make(); HelpBase.go(foo); foo.direct();'
    found = candidate(tmp_path, body, old, new)
    assert declarations(found) == ['int direct()', 'int deep()']
    assert [d.rank for d in found.dependencies] == [1, 2]
    assert [d.coupling for d in found.dependencies] == [1.0, 0.5]


def test_class_under_test_ranks_before_a_class_with_more_calls(tmp_path: Path) -> None:
    old = {
        'Foo': 'class Foo { int mine() { return 1; } }',
        'Bar': 'class Bar { int other() { return 1; } }',
    }
    new = {name: text.replace('1', '2') for name, text in old.items()}
    body = 'Bar bar = new Bar(); bar.other(); bar.other(); new Foo().mine();'
    assert declarations(candidate(tmp_path, body, old, new)) == ['int mine()', 'int other()']


def test_removed_and_inserted_declarations_are_both_dependencies(tmp_path: Path) -> None:
    foo = 'class Foo {\n int a() { return 1; }\n int b() { return 1; } }'
    new = {'Foo': foo.replace('int a()', '\n int c()')}
    found = candidate(tmp_path, 'Foo f; f.a(); f.c();', {'Foo': foo}, new)
    assert [(d.declaration, d.revised, d.start_line) for d in found.dependencies] == [
        ('int a()', Revised.REMOVED, 3),
        ('int c()', Revised.INSERTED, 4),
    ]


def test_renamed_method_is_a_dependency_that_was_removed(tmp_path: Path) -> None:
    foo = 'class Foo { int a() { return 1; } }'
    found = candidate(tmp_path, 'new Foo().a();', {'Foo': foo}, {'Foo': foo.replace('a()', 'b()')})
    assert [d.revised for d in found.dependencies] == [Revised.REMOVED]


def test_moved_type_is_a_modified_dependency_with_unchanged_methods(tmp_path: Path) -> None:
    foo = 'public class Foo { public int a() { return 1; } public int b() { return 1; } }'
    test = 'import q.Foo; class FooTest { @Test public void m() { new Foo().a(); } }'
    old = {'Foo': foo, 'FooTest': test.removeprefix('import q.Foo;')}
    new = {'src/main/java/q/Foo.java': f'package q; {foo}', 'FooTest': test}
    found = only(diffed(tmp_path, old, new, whole=True))
    assert declarations(found) == ['public class Foo']
    assert found.dependencies[0].revised is Revised.MODIFIED
    assert found.dependencies[0].file == 'src/main/java/q/Foo.java'
