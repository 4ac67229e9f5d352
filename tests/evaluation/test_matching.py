"""Targets with two names: which submitted method answers which."""

from __future__ import annotations

from dataclasses import replace

import pytest

from coevo.evaluation.assignments import Target
from coevo.evaluation.judging.submitted_tests import match_targets
from coevo.languages.java.reading.syntax import parse
from coevo.model.words import MethodChange, Track
from tests import segments

TEST_CLASS = 'ferry.FareTest'


def target(new: str, old: str | None = None, track: Track = Track.UPDATE, *types: str) -> Target:
    row = replace(
        segments.method(1, new, MethodChange.CHANGED, segments.UPDATE),
        track=track,
        old_test_method=old,
        parameters=types,
    )
    return Target(name=f'FareTest#{new}', row=row)


def file(*methods: str) -> bytes:
    """A test class; each method as it is called, with parameters if it has any."""
    declared = (name if '(' in name else f'{name}()' for name in methods)
    body = '\n'.join(f'    @Test public void {one} {{ }}' for one in declared)
    return f'package ferry;\npublic class FareTest {{\n{body}\n}}\n'.encode()


def found(
    submitted: bytes, targets: list[Target], start: bytes | None
) -> dict[str, tuple[str, tuple[str, ...]]]:
    answers = match_targets(parse(submitted), targets, start)
    return {
        name.partition('#')[2]: (method.test_method, method.parameters)
        for name, method in answers.items()
    }


RENAMED = [target('pays', 'costs')]
START = file('costs', 'stays')


@pytest.mark.parametrize(
    ('submitted', 'expected'),
    [
        pytest.param(file('costs', 'stays'), {'pays': ('costs', ())}, id='the natural fix'),
        pytest.param(file('pays', 'stays'), {'pays': ('pays', ())}, id='as gold'),
        pytest.param(file('costs', 'pays', 'stays'), {'pays': ('pays', ())}, id='both'),
        pytest.param(file('stays'), {}, id='deleted'),
        pytest.param(file('stays', 'another'), {}, id='a name of its own'),
    ],
)
def test_a_renamed_target_is_found_by_either_name(
    submitted: bytes, expected: dict[str, tuple[str, tuple[str, ...]]]
) -> None:
    assert found(submitted, RENAMED, START) == expected


def test_old_test_with_the_new_name_of_a_target_is_no_match() -> None:
    start = file('costs', 'pays(int zones)')

    assert found(file('pays(int zones)'), RENAMED, start) == {}
    assert found(file('costs', 'pays(int zones)'), RENAMED, start) == {'pays': ('costs', ())}
    both = file('pays()', 'pays(int zones)')
    assert found(both, RENAMED, start) == {'pays': ('pays', ())}


def test_chain_of_renames_matches_under_old_names_and_under_new_names() -> None:
    """`first` became `second`, and `second` became `third`."""
    chain = [target('second', 'first'), target('third', 'second')]
    start = file('first', 'second')

    kept = found(file('first', 'second'), chain, start)
    assert kept == {'second': ('first', ()), 'third': ('second', ())}
    as_gold = found(file('second', 'third'), chain, start)
    assert as_gold == {'second': ('second', ()), 'third': ('third', ())}
    one_of_both = found(file('second'), chain, start)
    assert len(one_of_both) == 1


def test_old_name_matches_with_the_parameters_of_the_start_file() -> None:
    renamed = [target('pays', 'costs', Track.UPDATE, 'String')]
    start = file('costs(int zones)', 'costs(long zones)')

    # Overloads of the old name: nobody can tell which of them was renamed.
    assert found(file('costs(int zones)', 'costs(long zones)'), renamed, start) == {}
    alone = file('costs(int zones)')
    assert found(alone, renamed, alone) == {'pays': ('costs', ('int',))}


def test_generated_test_matches_neither_an_old_name_nor_a_start_file_test() -> None:
    generated = [target('pays', 'costs', Track.GENERATION)]

    assert found(file('costs', 'stays'), generated, START) == {}
    assert found(file('costs', 'pays'), generated, START) == {'pays': ('pays', ())}
    assert found(file('pays'), generated, None) == {'pays': ('pays', ())}
    overloaded = file('pays(int zones)')
    assert found(overloaded, generated, overloaded) == {}
