"""What is kept of a function for other files that have it: nothing of where it stood."""

from __future__ import annotations

from coevo.languages.declarations import SourceFile
from coevo.languages.python.reading import syntax, tokens
from coevo.languages.python.reading.syntax import parse_uncached

_FUNCTION = """\
    @cached(size=3)
    def largest(self, *numbers: Number) -> Number:
        '''Says which.'''
        # of those that are there
        def key(one):
            return one.value  # compared

        if not numbers:
            raise np.Empty(f'{self!r} of' "none")
        return max((numbers), key=key,)
"""
_TOP = '\n'.join(line[4:] for line in _FUNCTION.splitlines()) + '\n'

FILES = (
    f'class Largest:\n{_FUNCTION}',
    f'import numpy as np\n\nclass Largest:\n    one = 1\n\n    # first\n{_FUNCTION}\n{_FUNCTION}',
    f'from a import Number as Real, Empty as Number\n\nclass np(Of):\n{_FUNCTION}',
    f'class Of:\n    class Largest:\n        one = 1\n    # above\n{_FUNCTION}',
    f'{_TOP}\nif True:\n{_FUNCTION}',
    f'{_TOP}    # behind\n# far behind\ndef f(): import x\n',
    f'{_TOP}\ndef broken(:\n',
)


def alone(text: str) -> SourceFile:
    tokens._get_function_tokens.cache_clear()
    syntax._get_function_cache.cache_clear()
    return parse_uncached(text.encode(), 'a/b.py')


def test_parse_of_a_file_does_not_depend_on_files_read_before() -> None:
    expected = [alone(text) for text in FILES]
    for order in (FILES, FILES[::-1]):
        found = {text: parse_uncached(text.encode(), 'a/b.py') for text in order}
        assert [found[text] for text in FILES] == expected


def test_cached_function_has_the_position_of_its_own_file() -> None:
    alone(FILES[0])
    _, type_ = parse_uncached(FILES[1].encode(), 'a/b.py').types
    first = next(member for member in type_.members if member.name == 'largest')
    assert (first.start_line, first.end_line) == (7, 16)
    assert FILES[1].encode()[first.full_start_byte :].startswith(b'# first')
