from __future__ import annotations

from coevo.languages.python.reading.words import list_words
from coevo.languages.reading import DeclarationPart


def test_words_have_a_part_a_line_and_a_column() -> None:
    source = '@a.b\n    def f(x: int):\n        # why\n        return x.y(z)'
    found = [
        (w.text, w.part.value, w.line, w.column) for w in list_words(source) if w.text.isalnum()
    ]
    assert found == [
        ('a', 'plain', 0, 1),
        ('b', 'member', 0, 3),
        ('def', 'rest', 1, 4),
        ('f', 'call', 1, 8),
        ('x', 'plain', 1, 10),
        ('int', 'type', 1, 13),
        ('return', 'rest', 3, 8),
        ('x', 'plain', 3, 15),
        ('y', 'call', 3, 17),
        ('z', 'plain', 3, 19),
    ]


def test_columns_count_characters_and_not_bytes() -> None:
    assert [(w.column, w.part) for w in list_words('x = "é" + y') if w.text == 'y'] == [
        (10, DeclarationPart.PLAIN)
    ]
