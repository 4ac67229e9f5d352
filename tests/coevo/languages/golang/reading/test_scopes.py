from __future__ import annotations

import pytest

from coevo.languages.golang.reading import parse


def names_of(body: str, parameters: str = '') -> frozenset[str]:
    source = f'package a\nfunc F({parameters}) {{\n{body}\n}}\n'
    file = parse(source.encode())
    assert not file.has_error
    return file.types[0].members[0].names - {'F'}


@pytest.mark.parametrize(
    ('body', 'expected'),
    [
        ('x := x()', {'x'}),
        ('x := 1; _ = x', set()),
        ('if x := y; x > 0 { z(x) }; w(x)', {'x', 'y', 'z', 'w'}),
        ('for i, c := range c { use(i, c) }', {'c', 'use'}),
        ('for i := 0; i < n; i++ { }', {'n'}),
        ('switch v := w.(type) { case T: use(v) }', {'w', 'T', 'use'}),
        ('select { case m := <-ch: use(m) }; use(m)', {'ch', 'use', 'm'}),
        ('var a, b = b, 1; use(a)', {'b', 'use'}),
        ('type loc struct { f int }; _ = loc{f: 1}', {'f', 'int'}),
        ('func(u string) { use(u) }(u)', {'u', 'use', 'string'}),
        ('var f func(u string); f(u)', {'u', 'string'}),
        ('{ x := 1; use(x) }; use(x)', {'x', 'use'}),
        ('const k = 1; use(k)', {'use'}),
        ('_ = T{x: x}; x := 1; use(x)', {'T', 'x', 'use'}),
    ],
)
def test_local_name_is_not_a_used_name_within_its_scope(body: str, expected: set[str]) -> None:
    assert names_of(body) == expected


def test_parameter_is_not_a_used_name_within_its_function() -> None:
    assert names_of('use(x, r)', 'x int') == {'int', 'use', 'r'}


def test_type_parameter_is_not_a_used_name_within_its_type() -> None:
    file = parse(b'package a\ntype L[T any] struct {\n\tnext *L[T]\n\tvalue T\n}\nvar x T\n')
    assert file.types[1].names >= {'any', 'next', 'value'}
    assert 'T' not in file.types[1].names
    assert 'T' in file.types[0].members[0].names
