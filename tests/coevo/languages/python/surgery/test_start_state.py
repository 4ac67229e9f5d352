from __future__ import annotations

import ast
from textwrap import dedent

import pytest

from coevo.languages.python.surgery import list_other_tests, make_start_file
from coevo.languages.surgery import OriginalTest, StartStateInvalid, StartTarget
from coevo.model.records import TestMethod


def method(name: str) -> TestMethod:
    """`test_a`, `TestA.test_a` of `tests/test_x.py`."""
    *classes, function = name.split('.')
    return TestMethod(
        module='.',
        test_file='tests/test_x.py',
        test_class='$'.join(('tests.test_x', *classes)),
        test_method=function,
    )


def start(
    new: str,
    *targets: str,
    old: str = '',
    reverted: dict[str, str] | None = None,
    used_elsewhere: frozenset[str] = frozenset(),
) -> str:
    """The start file; `reverted` says by what name a target is known at old."""
    before = dedent(old).encode()
    made = make_start_file(
        dedent(new).encode(),
        before,
        [
            *(StartTarget(method=method(name)) for name in targets),
            *(
                StartTarget(
                    method=method(name), original=OriginalTest(method=method(was), source=before)
                )
                for name, was in (reverted or {}).items()
            ),
        ],
        used_elsewhere=used_elsewhere,
    )
    assert made is not None
    ast.parse(made)
    return made.decode()


def test_code_that_only_a_target_uses_is_removed() -> None:
    new = '''\
        """Tests."""
        import os
        import sys  # for both
        from a import (
            b,
            c,
        )

        LIMIT = 3
        # of the target
        ONLY = [b]


        @pytest.fixture
        def client():
            return os.name


        class Helper:
            def run(self): pass


        # Says.
        @mark.slow
        def test_a(client):
            assert Helper().run(ONLY)  # so


        def test_b():
            assert sys, (c, LIMIT)
    '''
    assert start(new, 'test_a') == dedent('''\
        """Tests."""
        import sys  # for both
        from a import (
            c,
        )

        LIMIT = 3


        def test_b():
            assert sys, (c, LIMIT)
    ''')


def test_code_that_other_tests_use_stays() -> None:
    new = """\
        import os

        def helper(): return os
        def deeper(): return 1
        @pytest.fixture(autouse=True)
        def around(): pass
        def test_a(): helper(deeper)
        def test_b(): helper()
    """
    made = start(new, 'test_a', used_elsewhere=frozenset({'deeper'}))
    assert made == dedent(new).replace('def test_a(): helper(deeper)\n', '')
    assert 'deeper' not in start(new, 'test_a')


def test_class_emptied_of_tests_is_removed() -> None:
    new = '''\
        from base import Base
        import x

        class TestA(Base):
            """About."""

            limit = 1

            def helper(self): x

            def test_a(self): self.helper()


        def test_b(): pass
    '''
    assert start(new, 'TestA.test_a') == 'def test_b(): pass\n'


def test_emptied_class_that_the_old_revision_has_is_removed_too() -> None:
    new = 'class TestA:\n    """About."""\n    def test_a(self): pass\n\n\ndef test_b(): pass\n'
    old = 'class TestA:\n    def test_c(self): pass\n'
    assert start(new, 'TestA.test_a', old=old) == 'def test_b(): pass\n'


def test_emptied_class_that_other_code_names_gets_a_pass_statement() -> None:
    new = 'class TestA:\n    def test_a(self): pass\n\nclass TestB(TestA): pass\n'
    old = 'class TestA: pass\n'
    made = start(new, 'TestA.test_a', old=old)
    assert made == 'class TestA:\n    pass\n\nclass TestB(TestA): pass\n'


def test_a_class_with_other_members_keeps_them() -> None:
    new = """\
        class TestA:
            def setup_method(self): pass

            def test_a(self):
                pass

            def test_b(self):
                pass


        def test_c():
            pass
    """
    assert start(new, 'TestA.test_b') == dedent("""\
        class TestA:
            def setup_method(self): pass

            def test_a(self):
                pass


        def test_c():
            pass
    """)


def test_emptied_if_statement_is_removed() -> None:
    new = 'if PY3:\n    def test_a(): pass\n\ndef test_b(): pass\n'
    assert start(new, 'test_a') == 'def test_b(): pass\n'


def test_emptied_branch_gets_a_pass_statement() -> None:
    new = 'if PY3:\n    def test_a(): pass\nelse:\n    def test_b(): pass\n'
    made = start(new, 'test_a')
    assert made == 'if PY3:\n    pass\nelse:\n    def test_b(): pass\n'


def test_statements_on_one_line_are_removed_separately() -> None:
    new = 'class TestA:\n    x = 1; y = 2\n    def test_a(self): self.x\n    def test_b(self): self.y\n'
    assert start(new, 'TestA.test_a', old='class TestA: pass') == (
        'class TestA:\n    y = 2\n    def test_b(self): self.y\n'
    )
    assert start(new, 'TestA.test_b', old='class TestA: pass') == (
        'class TestA:\n    x = 1\n    def test_a(self): self.x\n'
    )


def test_start_state_lacks_a_file_that_the_old_revision_lacks() -> None:
    assert (
        make_start_file(b'def test_a(): pass\n', None, [StartTarget(method=method('test_a'))])
        is None
    )


def test_target_is_reverted_with_the_code_that_it_needs() -> None:
    old = """\
        import os
        from a import b as c, unused

        ROOT = c()


        def build():
            return ROOT


        # Was so.
        @mark
        def test_a():
            assert build(os)
    """
    new = """\
        import sys
        from z import y


        def fresh():
            return y


        @other
        def test_a():
            assert fresh()


        def test_b():
            assert sys
    """
    assert start(new, old=old, reverted={'test_a': 'test_a'}) == dedent("""\
        import sys
        import os
        from a import b as c


        ROOT = c()


        def build():
            return ROOT


        # Was so.
        @mark
        def test_a():
            assert build(os)


        def test_b():
            assert sys
    """)


@pytest.mark.parametrize(
    ('known', 'brought'),
    [
        ('import a', 'import a\nimport a.b'),
        ('import a.c', 'import a.c\nimport a.b'),
        ('import a.b', 'import a.b'),
        ('from x import a', 'from x import a'),
        ('import x as a', 'import x as a'),
    ],
)
def test_reverted_target_gets_the_submodule_import_that_it_needs(known: str, brought: str) -> None:
    rest = '\n\n\ndef test_a():\n    {}\n\n\ndef test_b():\n    assert a\n'
    old = f'import a\nimport a.b{rest.format("a.b.go()")}'
    made = start(f'{known}{rest.format("a.go()")}', old=old, reverted={'test_a': 'test_a'})
    assert made == f'{brought}{rest.format("a.b.go()")}'


@pytest.mark.parametrize(
    ('known', 'was', 'has'),
    [
        ('from unittest import mock', 'from unittest import mock', 'from unittest import mock'),
        ('from unittest import mock', 'import mock', 'import mock'),
        ('import os.path', 'import os', 'import os'),
        ('from x import a, b', 'from x import b, a', 'from x import a, b'),
    ],
)
def test_import_that_only_a_reverted_target_uses_comes_once(known: str, was: str, has: str) -> None:
    name = known.split()[-1].partition('.')[0]
    rest = f'\n\n\ndef test_a():\n    a, {name}.{{}}\n\n\ndef test_b():\n    pass\n'
    old = f'import sys\n{was}{rest.format("old()")}'
    made = start(
        f'import sys\n{known}{rest.format("new()")}', old=old, reverted={'test_a': 'test_a'}
    )
    assert made == f'import sys\n{has}{rest.format("old()")}'


def test_helper_that_only_targets_use_is_reverted_too() -> None:
    old = 'def helper():\n    return 1\n\n\ndef test_a():\n    helper()\n'
    new = old.replace('return 1', 'return 2') + '\n\ndef test_b(): pass\n'
    made = start(new, old=old, reverted={'test_a': 'test_a'})
    assert made == old + '\n\ndef test_b(): pass\n'


def test_reverted_target_gets_the_fixture_that_sets_up_its_fields() -> None:
    old = """\
        class TestA:
            def setUp(self):
                self.client = make()
            def test_a(self):
                self.client.get()
    """
    new = """\
        class TestA:
            def test_a(self):
                go()
            def test_b(self):
                go()
    """
    made = start(new, old=old, reverted={'TestA.test_a': 'TestA.test_a'})
    assert made == dedent("""\
        class TestA:
            def setUp(self):
                self.client = make()
            def test_a(self):
                self.client.get()
            def test_b(self):
                go()
    """)


def test_moved_target_is_reindented() -> None:
    old = 'def test_a():\n    x = """\n    text\n    """\n    check(x)\n'
    new = 'class TestA:\n    def test_b(self):\n        check(1)\n'
    made = start(new, old=old, reverted={'TestA.test_b': 'test_a'})
    assert made == (
        'class TestA:\n    def test_a():\n        x = """\n    text\n    """\n        check(x)\n'
    )


def test_start_state_keeps_line_endings() -> None:
    new = b'import a\r\n\r\n\r\ndef test_a():\r\n    a\r\n\r\n\r\ndef test_b():\r\n    b\r\n'
    made = make_start_file(new, b'', [StartTarget(method=method('test_a'))])
    assert made == b'def test_b():\r\n    b\r\n'


@pytest.mark.parametrize(
    ('new', 'target', 'why'),
    [
        ('def test_b(): pass\n', 'test_a', 'is not in the file at new'),
        ('class A: pass\n', 'A.test_a', 'is not in the file at new'),
    ],
)
def test_missing_target_has_no_start_state(new: str, target: str, why: str) -> None:
    with pytest.raises(StartStateInvalid, match=why):
        start(new, target)


def test_start_state_equal_to_the_new_file_is_invalid() -> None:
    text = 'def test_a(): pass\n'
    with pytest.raises(StartStateInvalid, match='is the file at new'):
        start(text, old=text, reverted={'test_a': 'test_a'})


def test_other_tests_exclude_helpers_and_targets() -> None:
    source = b'def test_a(): pass\ndef helper(): pass\nclass TestB:\n    def test_b(self): pass\n'
    all_ = list_other_tests(source, [])
    assert [one.name for one in all_] == ['test_a', 'test_b']
    assert [one.name for one in list_other_tests(source, all_[:1])] == ['test_b']


def test_other_tests_of_a_file_with_a_path_have_full_owner_names() -> None:
    source = b'class TestA:\n    def test_a(self):\n        pass\n\n\ndef test_b():\n    pass\n'
    found = {one.name: one.owner for one in list_other_tests(source, [], 'tests/test_x.py')}
    assert found == {'test_a': 'tests.test_x$TestA', 'test_b': 'tests.test_x'}
