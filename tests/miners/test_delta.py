from __future__ import annotations

from pathlib import Path

import pytest

from coevo.languages.verdicts import ExecutedMethod, Trace
from coevo.model.dependencies import CoupledBy, Dependency
from coevo.model.records import Candidate
from miners.diffs.changes import PairChange, compute_candidate_id
from miners.diffs.coupling import Delta, DependencySource, Traces, compute_delta
from tests.miners.pairs_of import MAIN, diffed, only

NO_LINES = 0


def ran(
    method: str, lines: tuple[int, int], *, type_: str = 'p.Foo', descriptor: str = '()V'
) -> ExecutedMethod:
    return ExecutedMethod(
        type=type_,
        method=method,
        descriptor=descriptor,
        file=f'{MAIN}Foo.java',
        first_line=lines[0],
        last_line=lines[1],
    )


def trace(*executed: ExecutedMethod) -> Trace:
    return Trace(executed=executed, lines={})


def of(change: PairChange, traces: Traces) -> Delta:
    candidate: Candidate = only(change)
    references = change.references[compute_candidate_id(change.pair, candidate)]
    return compute_delta(candidate.method, change.sources, references, traces)


def names(found: Delta) -> list[str]:
    return [dependency.name for dependency in found.dependencies]


def first(found: Delta) -> Dependency:
    return found.dependencies[0]


TEST = 'class FooTest {{ @Test public void m() {{ {} }} }}'


def source(folder: Path, old: str, new: str, body: str = 'new Foo().go();') -> PairChange:
    """Foo with another text at new; the package stands in line 1, the text from line 2 on."""
    return diffed(folder, {'Foo': old, 'FooTest': TEST.format(body)}, {'Foo': new})


def test_only_executed_methods_are_dependencies_whether_named_or_not(
    tmp_path: Path,
) -> None:
    old = 'class Foo {\n int go() { return in(); }\n int in() { return 1; }\n int no() { return 1; }\n}'
    change = source(tmp_path, old, old.replace('1', '2').replace('in();', 'in() + 1;'))
    found = of(change, Traces(new=trace(ran('go', (3, 3)), ran('in', (4, 4)))))
    assert names(found) == ['p.Foo#go()', 'p.Foo#in()']
    assert [d.coupled_by for d in found.dependencies] == [CoupledBy.CALL, CoupledBy.EXECUTION]
    assert found.source is DependencySource.RUNTIME
    assert (first(found).executed_old, first(found).executed_new) == (None, True)


def test_dependencies_come_from_the_test_text_when_there_is_no_trace(tmp_path: Path) -> None:
    old = 'class Foo {\n int go() { return 1; }\n int no() { return 1; }\n}'
    found = of(source(tmp_path, old, old.replace('1', '2')), Traces())
    assert names(found) == ['p.Foo#go()']
    assert found.source is DependencySource.STATIC


def test_removed_method_uses_the_old_trace_and_inserted_method_the_new(tmp_path: Path) -> None:
    old = 'class Foo {\n int go() { return was(); }\n int was() { return 1; }\n}'
    new = 'class Foo {\n int go() { return is(); }\n int is() { return 1; }\n}'
    found = of(
        source(tmp_path, old, new),
        Traces(old=trace(ran('go', (3, 3)), ran('was', (4, 4))), new=trace(ran('is', (4, 4)))),
    )
    by_name = {
        d.name: (d.revised.value, d.executed_old, d.executed_new) for d in found.dependencies
    }
    assert by_name == {
        'p.Foo#go()': ('modified', True, False),
        'p.Foo#was()': ('removed', True, None),
        'p.Foo#is()': ('inserted', None, True),
    }


@pytest.mark.parametrize(
    ('executed', 'expected'),
    [
        pytest.param(ran('go', (4, 4), descriptor='(I)I'), 'p.Foo#go(int)', id='by lines'),
        pytest.param(
            ran('go', (NO_LINES, NO_LINES), descriptor='([Ljava/lang/String;)I'),
            'p.Foo#go(String[])',
            id='by descriptor, without lines',
        ),
        pytest.param(
            ran('<init>', (2, 6)), 'p.Foo#Foo()', id='constructor with field initialisers'
        ),
        pytest.param(ran('lambda$go$0', (5, 5)), 'p.Foo#go(String[])', id='lambda'),
        pytest.param(
            ran('run', (5, 5), type_='p.Foo$1'), 'p.Foo#go(String[])', id='anonymous class'
        ),
    ],
)
def test_traces_resolve_overloads_constructors_lambdas_and_anonymous_classes(
    tmp_path: Path, executed: ExecutedMethod, expected: str
) -> None:
    old = (
        'class Foo {\n int x = 3;\n int go(int a) { return 1; }\n'
        ' int go(String[] a) { return 1; }\n Foo() { y = 1; }\n}'
    )
    found = of(source(tmp_path, old, old.replace('1', '2')), Traces(new=trace(executed)))
    assert names(found) == [expected]


def test_inner_class_method_is_not_mistaken_for_the_outer_class_method(tmp_path: Path) -> None:
    old = 'class Foo {\n int go() { return 1; }\n static class In { int go() { return 1; } }\n}'
    change = source(tmp_path, old, old.replace('1', '2'))
    found = of(change, Traces(new=trace(ran('go', (4, 4), type_='p.Foo$In'))))
    assert names(found) == ['p.Foo$In#go()']


def test_change_outside_methods_is_executed_with_any_method_of_the_type(tmp_path: Path) -> None:
    old = 'class Foo {\n static final int A = 1;\n int go() { return A; }\n}'
    change = source(tmp_path, old, old.replace('1', '2'))
    found = of(change, Traces(new=trace(ran('go', (4, 4)))))
    assert [(d.name, d.executed_new) for d in found.dependencies] == [('p.Foo', True)]
    # named by the text, though nothing of it ran
    assert [(d.name, d.executed_new) for d in of(change, Traces(new=trace())).dependencies] == [
        ('p.Foo', False)
    ]


def test_abstract_method_is_a_dependency_when_the_test_names_it(tmp_path: Path) -> None:
    old = 'interface Foo {\n int go(int a);\n}'
    change = source(tmp_path, old, old.replace('int a', 'long a'), body='Foo f; f.go(1);')
    found = of(change, Traces(old=trace(), new=trace()))
    assert sorted(names(found)) == ['p.Foo#go(int)', 'p.Foo#go(long)']


def test_methods_of_the_class_under_test_rank_before_other_executed_methods(tmp_path: Path) -> None:
    foo = 'class Foo {\n int go() { return new Bar().go(); }\n}'
    bar = 'class Bar {\n int go() { return 1; }\n}'
    change = diffed(
        tmp_path,
        {'Foo': foo, 'Bar': bar, 'FooTest': TEST.format('Object o = make(Foo.class);')},
        {'Foo': foo.replace('go();', 'go() + 1;'), 'Bar': bar.replace('1', '2')},
    )
    assert not change.candidates  # no method of either is called by name
    change = diffed(
        tmp_path / 'b',
        {'Foo': foo, 'Bar': bar, 'FooTest': TEST.format('run(new Foo());')},
        {
            'Foo': foo.replace('go();', 'go() + 1;'),
            'Bar': bar.replace('1', '2'),
            'FooTest': TEST.format('run(new Foo(), 1);'),
        },
    )
    bar_ran = ExecutedMethod(
        type='p.Bar',
        method='go',
        descriptor='()I',
        file=f'{MAIN}Bar.java',
        first_line=3,
        last_line=3,
    )
    found = of(change, Traces(new=trace(bar_ran, ran('go', (3, 3)))))
    assert names(found) == ['p.Foo#go()', 'p.Bar#go()']
