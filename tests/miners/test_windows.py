from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from coevo.git.repository import Repository
from coevo.model.records import Pair
from coevo.model.words import Walk
from miners.diffs.changes import diff_pair
from miners.walks.states import find_tests_changed_in_between
from tests import repos
from tests.miners.pairs_of import MAIN, TEST

FOO = 'class Foo {{ Foo() {{ x({0}); }} int go() {{ return {1}; }} private int by() {{ return {2}; }} }}'


def nearer(folder: Path, *states: Mapping[str, str], broken: int | None = None) -> set[str]:
    """The tests of (first, last) that states between show; one state does not hold."""
    repo = repos.init(folder / 'repository')
    revs = [
        repos.commit(
            repo,
            str(number),
            {
                'pom.xml': '<project/>',
                f'{MAIN}Foo.java': f'package p;\n{state["Foo"]}',
                f'{TEST}FooTest.java': f'package p;\nclass FooTest {{ {state["tests"]} }}',
            },
        )
        for number, state in enumerate(states)
    ]
    repository = Repository(repo / '.git')
    first, *between, last = revs
    pair = Pair(
        repo='local/repository',
        language='java',
        walk=Walk.WINDOW,
        old=repository.get_commit(first),
        new=repository.get_commit(last),
        old_is_ancestor=True,
        between=tuple(reversed(between)),
    )

    def holds(rev: str, module: str) -> bool:
        assert module == '.'
        return broken is None or rev != revs[broken]

    return {
        test.test_method
        for test in find_tests_changed_in_between(repository, diff_pair(repository, pair), holds)
    }


def state(foo: tuple[int, int, int], **bodies: str) -> dict[str, str]:
    tests = ' '.join(f'@Test public void {name}() {{ {body} }}' for name, body in bodies.items())
    return {'Foo': FOO.format(*foo), 'tests': tests}


def test_intermediate_state_shows_tests_changed_together_with_source_since_then(
    tmp_path: Path,
) -> None:
    states = [
        state((1, 1, 1), m='new Foo().go();', n='new Foo().go();'),
        state((1, 1, 1), m='new Foo().go();', n='twice(new Foo().go());'),
        state((1, 2, 1), m='once(new Foo().go());', n='twice(new Foo().go());'),
    ]
    assert nearer(tmp_path, *states) == {'m'}


def test_intermediate_state_with_uncompilable_tests_shows_no_test(tmp_path: Path) -> None:
    """The nearest state was always taken; published tasks leave out those that do not build."""
    states = [
        state((1, 1, 1), m='new Foo().go();'),
        state((1, 1, 1), m='new Foo().went();'),
        state((1, 2, 1), m='once(new Foo().go());'),
    ]
    assert nearer(tmp_path / 'a', *states) == {'m'}
    assert nearer(tmp_path / 'b', *states, broken=1) == set()


def test_inserted_test_is_not_shown_by_a_state_since_which_it_changed(tmp_path: Path) -> None:
    """A test that is new since the old end was dropped where a nearer state shows it changed."""
    states = [
        state((1, 1, 1)),
        state((1, 1, 1), m='new Foo().go();'),
        state((1, 2, 1), m='once(new Foo().go());'),
    ]
    assert nearer(tmp_path, *states) == set()


def test_constructors_and_private_methods_are_no_dependencies_in_windows(tmp_path: Path) -> None:
    """Published dependencies are methods that the test calls."""
    states = [
        state((1, 1, 1), m='new Foo().go(); by();'),
        state((1, 2, 1), m='new Foo().go(); by();'),
        state((2, 2, 2), m='once(new Foo().go()); by();'),
    ]
    assert nearer(tmp_path, *states) == set()


def test_any_source_change_counts_if_no_non_private_method_changed(tmp_path: Path) -> None:
    states = [
        state((1, 1, 1), m='new Foo();'),
        state((1, 1, 2), m='new Foo();'),
        state((1, 1, 3), m='once(new Foo());'),
    ]
    assert nearer(tmp_path, *states) == {'m'}
