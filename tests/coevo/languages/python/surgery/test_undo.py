"""One declaration of Python undone, as text."""

from __future__ import annotations

import ast

import pytest

from coevo.languages.measures import LocatedDeclaration
from coevo.languages.python.surgery import undo
from coevo.model.dependencies import Revised
from tests.languages import located

PATH = 'till.py'
OLD = '''\
"""What a till does."""

import math
import os

RATE = 1


class Till(dict, metaclass=type):
    fee = 1

    def price(self):
        """Is
    kept."""
        return math.floor(
            RATE
        )

    def gone(self):
        return 1

    def kept(self):
        return 2


def alone():
    return os.sep
'''
NEW = '''\
"""What a till does."""

import os

RATE = 2


@dict
class Till(list):
    fee = 2
    more = 3

    if os:

        def price(self):
            return 5

    def kept(self):
        return 2


class Empty:
    # Since then.
    @staticmethod
    def added():
        return 4
'''


def at(text: str, name: str) -> LocatedDeclaration:
    return located.located('python', PATH, text, name)


def undone(revised: Revised, name: str, old: str = OLD, new: str = NEW) -> str:
    if revised is Revised.INSERTED:
        made = undo.undo_member(revised, None, at(new, name))
    elif revised is Revised.REMOVED:
        known = at(old, name)
        made = undo.undo_member(revised, known, located.around(known, PATH, new))
    else:
        made = undo.undo_member(revised, at(old, name), at(new, name))
    assert made is not None
    ast.parse(made)
    return made.decode()


def test_changed_function_gets_its_old_text_in_place_with_its_imports() -> None:
    text = undone(Revised.MODIFIED, 'Till.price')

    wanted = '''\
        def price(self):
            """Is
    kept."""
            return math.floor(
                RATE
            )
'''
    old = '        def price(self):\n            return 5\n'
    assert text == NEW.replace(old, wanted).replace('import os\n', 'import os\nimport math\n')


@pytest.mark.parametrize(
    ('name', 'new', 'old'), [('RATE', 'RATE = 2', 'RATE = 1'), ('Till.fee', 'fee = 2', 'fee = 1')]
)
def test_a_variable_gets_its_old_value(name: str, new: str, old: str) -> None:
    assert undone(Revised.MODIFIED, name) == NEW.replace(new, old)


def test_inserted_member_is_removed_and_an_emptied_class_gets_pass() -> None:
    text = undone(Revised.INSERTED, 'Empty.added')

    assert text.rstrip().endswith(
        'class Empty:\n    # Since then.\n    pass'
    ) or text.rstrip().endswith('class Empty:\n    pass')
    assert undone(Revised.INSERTED, 'Till.more') == NEW.replace('    more = 3\n', '')


def test_removed_declaration_is_put_back_after_its_predecessor() -> None:
    text = undone(Revised.REMOVED, 'Till.gone')

    found = next(n for n in ast.parse(text).body if isinstance(n, ast.ClassDef))
    names = [n.name for n in ast.walk(found) if isinstance(n, ast.FunctionDef)]
    assert sorted(names) == ['gone', 'kept', 'price']
    alone = 'RATE = 2\n\n\ndef alone():\n    return os.sep\n'
    assert undone(Revised.REMOVED, 'alone') == NEW.replace('RATE = 2\n', alone)


@pytest.mark.parametrize(
    ('old', 'new'),
    [
        ('class A:\n    def a(self):\n        pass\n    b = 1\n', 'class A:\n    b = 1\n'),
        ('class A:\n    def a(self):\n        pass\n', 'class A:\n    pass\n'),
    ],
)
def test_removed_first_member_is_put_back_before_its_successor_or_alone(old: str, new: str) -> None:
    (found,) = ast.parse(undone(Revised.REMOVED, 'A.a', old, new)).body
    assert isinstance(found, ast.ClassDef)
    assert [n.name for n in found.body if isinstance(n, ast.FunctionDef)] == ['a']


def test_a_class_gets_its_old_bases_and_decorators_back() -> None:
    text = undo.undo_header(at(OLD, 'Till'), at(NEW, 'Till'))

    assert text is not None
    assert text.decode() == NEW.replace(
        '@dict\nclass Till(list)', 'class Till(dict, metaclass=type)'
    )
    assert undo.undo_header(at(OLD, 'Till'), at(OLD, 'Till')) is None
    back = undo.undo_header(at(NEW, 'Till'), at(OLD, 'Till'))
    assert back is not None
    assert b'@dict\nclass Till(list):' in back


def test_class_can_be_removed_and_put_back() -> None:
    text = undo.remove_type_declaration(at(NEW, 'Empty'))

    assert text is not None
    assert 'Empty' not in text.decode()
    again = undo.put_back_type(at(NEW, 'Empty'), text)
    assert again is not None
    assert ast.dump(ast.parse(again)) == ast.dump(ast.parse(NEW))
    assert undo.remove_type_declaration(located.located('python', PATH, NEW, 'till')) is None


def test_nested_class_is_put_back_only_into_its_outer_class() -> None:
    old = 'class A:\n    class B:\n        b = 1\n'
    made = undo.put_back_type(at(old, 'B'), b'class A:\n    a = 1\n')

    assert made == b'class A:\n    a = 1\n    class B:\n        b = 1\n'
    assert undo.put_back_type(at(old, 'B'), b'a = 1\n') is None
