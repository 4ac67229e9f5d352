"""What is kept of a member for other files that have it: nothing of where it stood."""

from __future__ import annotations

from coevo.languages.declarations import SourceFile
from coevo.languages.java.reading import syntax, tokens
from coevo.languages.java.reading.syntax import parse_uncached

_METHOD = """\
    <T extends Comparable<T>> T largest(List<E> all, T... more) {
        // the last one
        return Stream.of(more).max(T::compareTo).orElseThrow(() -> new Empty(\"\"\"
              none
            \"\"\"));
    }
"""

FILES = (
    f'package a;\nclass Largest {{\n{_METHOD}}}\n',
    f'package a;\nclass Largest<E extends Number> {{\n\n  /** Says which. */\n{_METHOD}}}\n',
    f'package b;\nimport x.Empty;\nclass Of {{ class Largest {{\n    int one;\n{_METHOD}}} }}\n',
    f'package b;\nclass Empty {{\n{_METHOD}{_METHOD}}}\n',
    f'package b;\nclass Empty {{\n{_METHOD}  int broken( {{\n}}\n',
)


def alone(text: str) -> SourceFile:
    tokens._get_leaves_cache_entry.cache_clear()
    syntax._get_members_cache_entry.cache_clear()
    return parse_uncached(text.encode())


def test_parse_of_a_file_does_not_depend_on_files_read_before() -> None:
    expected = [alone(text) for text in FILES]
    for order in (FILES, FILES[::-1]):
        found = {text: parse_uncached(text.encode()) for text in order}
        assert [found[text] for text in FILES] == expected


def test_cached_member_has_the_position_of_its_own_file() -> None:
    alone(FILES[0])
    (type_,) = parse_uncached(FILES[1].encode()).types
    (member,) = type_.members
    assert (member.start_line, member.end_line) == (5, 10)
    assert FILES[1].encode()[member.full_start_byte :].startswith(b'/** Says which. */')
    assert member.parameters == ('List', 'Comparable[]')
