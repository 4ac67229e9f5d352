"""The stubbing compiler: which methods of a test tree compile when others do not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from coevo.languages.java.tools.jdks import Jdk
from coevo.languages.java.tools.toolchain import prepare_toolchain
from tests.coevo.languages.java.jvm import (
    PLATFORM,
    REST,
    VINTAGE,
    Builder,
    Target,
    jdk_of,
    libraries,
    work,
    write,
)

pytestmark = pytest.mark.jvm

HEAD = 'package p; import org.junit.*; import java.util.*;\n'


@pytest.fixture(
    scope='module', params=[None, pytest.param(8, marks=pytest.mark.slow)], ids=['usual', '8']
)
def builder(request: pytest.FixtureRequest) -> Iterator[Builder]:
    with Builder(jdk=jdk_of(request.param)) as running:
        yield running


class Compiled:
    def __init__(self, answer: dict[str, Any], classes: Path, jdk: Jdk | None) -> None:
        self.answer = answer
        self.classes = classes
        self.jdk = jdk
        self.broken = {
            name(one['class'], one['method'], one['parameters']): one['signature']
            for one in answer['broken']
        }

    def run(self, *methods: str) -> dict[str, list[str]]:
        """The outcomes of methods written as p.Class#method."""
        targets = [Target(it.partition('#')[2], [it.partition('#')[0]]) for it in methods]
        path = libraries(prepare_toolchain(), *VINTAGE, *PLATFORM, *REST)
        ran = work(targets, [self.classes, *path], jdk=self.jdk)
        return {it: ran.outcomes(index) for index, it in enumerate(methods)}


def name(type_: str, method: str | None, parameters: list[str]) -> str:
    return type_ if method is None else f'{type_}#{method}({",".join(parameters)})'


def compile_(builder: Builder, folder: Path, files: dict[str, str], *arguments: str) -> Compiled:
    level = str(builder.feature)
    root = write(folder / 'src', files)
    path = [f'class_path={jar}' for jar in libraries(prepare_toolchain(), *VINTAGE)]
    options = [f'root={root}', *(f'option={it}' for it in ('-source', level, '-target', level))]
    answer = builder.ask(folder / 'got', 'compile', *options, *path, *arguments)
    assert answer['status'] == 'compiled', answer
    return Compiled(answer, folder / 'got', builder.jdk)


def test_clean_test_tree_compiles_without_stubbing_rounds(builder: Builder, tmp_path: Path) -> None:
    files = {
        'p/ATest.java': HEAD + 'public class ATest extends Base { @Test public void a() {} }',
        'p/B$.java': 'package p; class B$ { class $C { Object o = new Object() {}; } }',
        'p/Base.java': 'package p; abstract class Base implements Runnable { public void run() {} }',
        'module-info.java': 'module broken { requires nothing.at.all; }',
    }
    got = compile_(builder, tmp_path, files)
    assert got.answer['unit_ok']
    assert got.answer['errors'] == []
    assert got.answer['rounds'] == 0
    assert got.answer['broken'] == []
    classes = {one['name']: one for one in got.answer['classes']}
    assert classes['p.ATest'] == {
        'name': 'p.ATest',
        'super': 'p.Base',
        'interfaces': [],
        'abstract': False,
        'outer': None,
    }
    assert (classes['p.Base']['interfaces'], classes['p.Base']['abstract']) == (
        ['java.lang.Runnable'],
        True,
    )
    assert {name: one['outer'] for name, one in classes.items() if 'B$' in name} == {
        'p.B$': None,
        'p.B$$$C': 'p.B$',
        'p.B$$$C$1': 'p.B$$$C',
    }
    assert got.run('p.ATest#a') == {'p.ATest#a': ['pass']}


CASES: dict[str, tuple[str, dict[str, str], list[str]]] = {
    # what the members are, what of p.ATest is broken, which methods pass when run
    'body': (
        '@Test public void bad() { missing(); } @Test public void good() {}',
        {'p.ATest#bad()': 'cant.resolve.location.args method missing()'},
        ['good'],
    ),
    'lambda': (
        """@Test public void bad() { Runnable r = () -> { new Missing(); }; r.run(); }
        @Test public void good() {}""",
        {'p.ATest#bad()': 'cant.resolve.location class Missing'},
        ['good'],
    ),
    'anonymous class': (
        """@Test public void bad() { new Object() { void f() { missing(); } }; }
        @Test public void good() {}""",
        {'p.ATest#bad()': 'cant.resolve.args method missing()'},
        ['good'],
    ),
    'helper': (
        """@Test public void viaHelper() { helper(); } @Test public void good() {}
        int helper() { return missing; }""",
        {'p.ATest#helper()': 'cant.resolve.location variable missing'},
        ['good'],
    ),
    'signature of a test': (
        '@Test public void bad() throws Missing {} @Test public void good() {}',
        {'p.ATest#bad()': 'cant.resolve.location class Missing'},
        ['good'],
    ),
    'signature of a helper': (
        """@Test public void user() { make().run(); } @Test public void good() {}
        private static Missing make() { return null; }""",
        {
            'p.ATest#make()': 'cant.resolve.location class Missing',
            'p.ATest#user()': 'cant.resolve.location.args method make()',
        },
        ['good'],
    ),
    'field': (
        '@Test public void user() {} Missing field, other;',
        {'p.ATest': 'cant.resolve.location class Missing'},
        [],
    ),
    'initialiser of a field': (
        '@Test public void user() {} int field = missing();',
        {'p.ATest': 'cant.resolve.location.args method missing()'},
        [],
    ),
    'static initialiser': (
        'static { missing(); } @Test public void user() {}',
        {'p.ATest': 'cant.resolve.location.args method missing()'},
        [],
    ),
    'constructor': (
        'public ATest() { missing(); } @Test public void user() {}',
        {
            'p.ATest': 'cant.resolve.location.args method missing()',
            'p.ATest#<init>()': 'cant.resolve.location.args method missing()',
        },
        [],
    ),
    'fixture': (
        '@Before public void init() { missing(); } @Test public void user() {}',
        {
            'p.ATest': 'cant.resolve.location.args method missing()',
            'p.ATest#init()': 'cant.resolve.location.args method missing()',
        },
        [],
    ),
    'nested class': (
        """static class Inner { void f() { missing(); } }
        @Test public void user() { new Inner().f(); } @Test public void good() { new Inner(); }""",
        {'p.ATest$Inner#f()': 'cant.resolve.location.args method missing()'},
        ['good'],
    ),
    'header of a nested class': (
        """static class Inner extends Missing {} @Test public void user() { new Inner(); }""",
        {
            'p.ATest': 'cant.resolve.location class Missing',
            'p.ATest$Inner': 'cant.resolve.location class Missing',
            'p.ATest#user()': 'cant.resolve.location class Inner',
        },
        [],
    ),
    'abstract method without an implementation': (
        'static class Inner implements Runnable {} @Test public void user() {}',
        {'p.ATest': 'does.not.override.abstract', 'p.ATest$Inner': 'does.not.override.abstract'},
        [],
    ),
    'enum': (
        """enum E { A, B; int f() { return missing; } } @Test public void good() { E.A.name(); }""",
        {'p.ATest$E#f()': 'cant.resolve.location variable missing'},
        ['good'],
    ),
    'enum constant': (
        'enum E { A(missing), B(1); E(int i) {} } @Test public void user() { E.B.name(); }',
        {
            'p.ATest': 'cant.resolve.location variable missing',
            'p.ATest$E': 'cant.resolve.location variable missing',
            'p.ATest#user()': 'doesnt.exist package E',
        },
        [],
    ),
    'default method of an interface': (
        """interface I { default int f() { return missing; } }
        @Test public void good() { new I() {}.hashCode(); }""",
        {'p.ATest$I#f()': 'cant.resolve.location variable missing'},
        ['good'],
    ),
    'generic method': (
        """<T extends Comparable<T>, U> void f(T t, List<U> l, U[] u, int... i) { missing(); }
        @Test public void good() {}""",
        {
            'p.ATest#f(Comparable,List,Object[],int[])': 'cant.resolve.location.args method missing()'
        },
        ['good'],
    ),
    'record': (
        """record R(int a, Object b) { R { missing(); } int f() { return missing; } }
        @Test public void good() {}""",
        {
            'p.ATest$R#<init>(int,Object)': 'cant.resolve.location.args method missing()',
            'p.ATest$R#f()': 'cant.resolve.location variable missing',
            'p.ATest$R': 'cant.resolve.location.args method missing()',
        },
        ['good'],
    ),
    'switch': (
        """int f(int i) { return switch (i) { case 1 -> missing; default -> 0; }; }
        @Test public void good() {}""",
        {'p.ATest#f(int)': 'cant.resolve.location variable missing'},
        ['good'],
    ),
    'flow': (
        """int noReturn() { } void unreported() { throw new Exception(); }
        void uninitialised() { int i; i++; } @Test public void good() {}""",
        {
            'p.ATest#noReturn()': 'missing.ret.stmt',
            'p.ATest#unreported()': 'unreported.exception.need.to.catch.or.throw',
            'p.ATest#uninitialised()': 'var.might.not.have.been.initialized',
        },
        ['good'],
    ),
    'override of nothing': (
        """@Override public void bad() {} @Test public void user() {}""",
        {
            'p.ATest': 'method.does.not.override.superclass',
            'p.ATest#bad()': 'method.does.not.override.superclass',
        },
        [],
    ),
    'syntax that unbalances the braces': (
        '@Test public void bad() { if (true) { } @Test public void user() {}',
        {'p.ATest': ''},
        [],
    ),
    'syntax in balanced bodies': (
        """@Test public void bad() { int = ; String s = "{ }
        ; } @Test(expected = Error.class) public void alsoBad() { foo(bar(1); }
        // an unbalanced {
        @SuppressWarnings({"a"}) void helper() { @@ } @Test public void good() {}""",
        {'p.ATest#bad()': '', 'p.ATest#alsoBad()': '', 'p.ATest#helper()': ''},
        ['good'],
    ),
    'syntax between members': (
        '@Test public void user() {} int int x;',
        {'p.ATest': ''},
        [],
    ),
}


# Cases in a language that came later than 8.
SINCE = {'record': 16, 'switch': 14}


@pytest.mark.sampled(3)
@pytest.mark.parametrize('case', CASES)
def test_only_broken_members_are_stubbed(case: str, builder: Builder, tmp_path: Path) -> None:
    if builder.feature < SINCE.get(case, 0):
        pytest.skip(f'the language has no {case} of this kind before {SINCE[case]}')
    members, broken, passing = CASES[case]
    files = {
        'p/ATest.java': f'{HEAD}public class ATest {{\n{members}\n}}\n',
        'p/OtherTest.java': HEAD + 'public class OtherTest { @Test public void fine() {} }',
    }
    got = compile_(builder, tmp_path, files)
    assert not got.answer['unit_ok']
    assert sorted(got.broken) == sorted(broken), got.answer
    for key, signature in broken.items():
        assert got.broken[key].startswith(signature), got.answer['errors']
    wanted = ['p.OtherTest#fine', *(f'p.ATest#{method}' for method in passing)]
    assert got.run(*wanted) == {it: ['pass'] for it in wanted}


def test_reached_stub_gives_the_outcome_compile_error(builder: Builder, tmp_path: Path) -> None:
    members, _, _ = CASES['helper']
    got = compile_(builder, tmp_path, {'p/ATest.java': f'{HEAD}public class ATest {{{members}}}'})
    assert got.run('p.ATest#viaHelper') == {'p.ATest#viaHelper': ['compile_error']}


def test_compile_errors_name_file_line_code_and_round(builder: Builder, tmp_path: Path) -> None:
    text = HEAD + 'public class ATest {\n\n  Missing make() { return null; }\n  int a = make(); }'
    got = compile_(builder, tmp_path, {'p/ATest.java': text})
    assert got.answer['errors'][0] == {
        'file': 'p/ATest.java',
        'line': 4,
        'code': 'cant.resolve.location',
        'symbol': 'class Missing',
        'round': 0,
    }
    assert [(it['line'], it['round']) for it in got.answer['errors'][1:]] == [(5, 1)]


def test_options_for_other_compilers_are_ignored(builder: Builder, tmp_path: Path) -> None:
    words = ('-XepDisableAllChecks', '-Xplugin:ErrorProne', '-Werror', '-encoding', '${unset}')
    files = {'p/ATest.java': HEAD + 'public class ATest { @Test public void a() {} }'}
    got = compile_(builder, tmp_path, files, *(f'option={word}' for word in words))
    assert (got.answer['unit_ok'], got.answer['broken']) == (True, [])


def test_a_missing_import_breaks_only_its_users(builder: Builder, tmp_path: Path) -> None:
    text = """package p; import org.junit.*; import gone.Thing; import static gone.Other.call;
        import gone.more.*;
        public class ATest { @Test public void user() { new Thing(); }
        @Test public void caller() { call(); } @Test public void good() {} }"""
    got = compile_(builder, tmp_path, {'p/ATest.java': text})
    assert sorted(got.broken) == ['p.ATest#caller()', 'p.ATest#user()']
    assert got.run('p.ATest#good') == {'p.ATest#good': ['pass']}


def test_missing_superclass_breaks_the_whole_file(builder: Builder, tmp_path: Path) -> None:
    files = {
        'p/ATest.java': HEAD + 'public class ATest extends Gone { @Test public void a() {}'
        ' static class Inner {} }',
        'p/BTest.java': HEAD + 'public class BTest { @Test public void user() { new ATest(); }'
        ' @Test public void good() {} }',
    }
    got = compile_(builder, tmp_path, files)
    assert sorted(got.broken) == ['p.ATest', 'p.ATest$Inner', 'p.BTest#user()']
    assert got.answer['dropped'] == ['p/ATest.java']
    assert got.run('p.BTest#good') == {'p.BTest#good': ['pass']}


def test_inner_class_is_broken_with_its_outer_class(builder: Builder, tmp_path: Path) -> None:
    text = HEAD + 'public class ATest { Missing m; class Inner {} static class Apart {} }'
    got = compile_(builder, tmp_path, {'p/ATest.java': text})
    assert sorted(got.broken) == ['p.ATest', 'p.ATest$Inner']


def test_compile_response_is_the_same_every_time(builder: Builder, tmp_path: Path) -> None:
    files = {
        f'p/T{n}Test.java': f'{HEAD}public class T{n}Test {{ {members} }}'
        for n, (members, _, _) in enumerate(CASES.values())
    }
    first = compile_(builder, tmp_path / 'a', files).answer
    again = compile_(builder, tmp_path / 'b', files).answer
    del first['cpu_ms'], again['cpu_ms']
    assert first == again


def test_annotation_processor_on_the_class_path_runs(builder: Builder, tmp_path: Path) -> None:
    source = """package a; import java.util.*; import javax.annotation.processing.*;
        import javax.lang.model.*; import javax.lang.model.element.*;
        @SupportedAnnotationTypes("*")
        public class Maker extends AbstractProcessor {
            boolean done;
            public SourceVersion getSupportedSourceVersion() { return SourceVersion.latest(); }
            public boolean process(Set<? extends TypeElement> a, RoundEnvironment e) {
                if (done) return false;
                done = true;
                try (java.io.Writer w = processingEnv.getFiler().createSourceFile("p.Made")
                        .openWriter()) {
                    w.write("package p; class Made { static int one() { return 1; } }");
                } catch (java.io.IOException x) { throw new RuntimeException(x); }
                return false;
            }
        }"""
    made = compile_(builder, tmp_path / 'processor', {'a/Maker.java': source}, 'option=-proc:none')
    service = 'META-INF/services/javax.annotation.processing.Processor'
    path = write(made.classes, {service: 'a.Maker'})
    text = (
        HEAD
        + """public class ATest { @Test public void good() { Made.one(); }
        @Test public void bad() { Made.two(); } }"""
    )
    got = compile_(builder, tmp_path, {'p/ATest.java': text}, f'class_path={path}')
    assert got.answer['processing']
    assert sorted(got.broken) == ['p.ATest#bad()']
    assert got.run('p.ATest#good') == {'p.ATest#good': ['pass']}


def test_annotation_processor_that_crashes_is_left_out(builder: Builder, tmp_path: Path) -> None:
    service = 'META-INF/services/javax.annotation.processing.Processor'
    path = write(tmp_path / 'processor', {service: 'a.Gone'})
    text = HEAD + 'public class ATest { @Test public void good() {} }'
    got = compile_(builder, tmp_path, {'p/ATest.java': text}, f'class_path={path}')
    assert not got.answer['processing']
    assert not got.answer['unit_ok']
    assert got.answer['errors'][0]['code'].startswith('proc.')
    assert got.answer['broken'] == []
    assert got.run('p.ATest#good') == {'p.ATest#good': ['pass']}


EDITED = {'p/ATest.java': HEAD + 'public class ATest { @Test public void a() { new B(); } }'}


def compile_beside(
    builder: Builder, folder: Path, edited: dict[str, str], *class_path: Path
) -> Compiled:
    """Compile edited sources, and a class B in `src` whose class file is there already."""
    others = {'p/B.java': 'package p; class B { }'}
    whole = compile_(builder, folder / 'whole', others)
    root = write(folder / 'edits', edited)
    arguments = [f'root={root}', f'edited={root}', f'compiled={whole.classes}']
    arguments += [f'class_path={path}' for path in class_path]
    return compile_(builder, folder / 'part', others, *arguments)


def test_edited_sources_are_compiled_alone_against_class_files(
    builder: Builder, tmp_path: Path
) -> None:
    got = compile_beside(builder, tmp_path, EDITED)
    assert got.answer['alone'] is True
    assert got.answer['files'] == ['p/ATest.class']
    assert [one['name'] for one in got.answer['classes']] == ['p.ATest']
    assert got.answer['unit_ok']


def test_an_error_in_an_edited_source_has_the_whole_tree_compiled(
    builder: Builder, tmp_path: Path
) -> None:
    got = compile_beside(
        builder, tmp_path, {**EDITED, 'p/C.java': 'package p; class C extends X {}'}
    )
    assert 'alone' not in got.answer
    assert got.answer['files'] == ['p/ATest.class', 'p/B.class']
    assert got.broken == {'p.C': 'cant.resolve class X'}


def test_an_annotation_processor_has_the_whole_tree_compiled(
    builder: Builder, tmp_path: Path
) -> None:
    service = 'META-INF/services/javax.annotation.processing.Processor'
    processor = write(tmp_path / 'processor', {service: '# a processor could see all sources\n'})
    got = compile_beside(builder, tmp_path, EDITED, processor)
    assert 'alone' not in got.answer
    assert got.answer['files'] == ['p/ATest.class', 'p/B.class']
