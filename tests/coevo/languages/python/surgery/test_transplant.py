"""Tests of one version of a file in another one: what comes along."""

from __future__ import annotations

from textwrap import dedent

from coevo.languages.python.surgery import transplant_tests_into_old
from coevo.languages.surgery import Graft
from tests.coevo.languages.python.surgery.test_start_state import method


def transplanted(old: str, new: str, *targets: str) -> str:
    grafts = [Graft(new=method(name)) for name in targets]
    return transplant_tests_into_old(dedent(old).encode(), dedent(new).encode(), grafts).decode()


def test_mixin_is_transplanted_with_the_classes_that_run_it_and_their_needs() -> None:
    old = """\
        import unittest


        class TestOld(unittest.TestCase):
            def test_old(self):
                pass
    """
    new = """\
        import unittest

        from till import Till, Other


        class Base:
            def test_a(self):
                self.till().sell()


        class More(Base):
            pass


        class TestTill(More, unittest.TestCase):
            def till(self):
                return Till()


        class TestOther(unittest.TestCase):
            def test_other(self):
                Other()
    """
    made = transplanted(old, new, 'Base.test_a')
    assert made == dedent("""\
        import unittest
        from till import Till


        class TestOld(unittest.TestCase):
            def test_old(self):
                pass


        class Base:
            def test_a(self):
                self.till().sell()


        class More(Base):
            pass


        class TestTill(More, unittest.TestCase):
            def till(self):
                return Till()
    """)


def test_mixin_that_the_old_file_has_brings_no_new_classes() -> None:
    old = """\
        class Base:
            def test_a(self):
                pass


        class TestOld(Base):
            pass
    """
    new = f"""{old}

        class TestNew(Base):
            pass
    """.replace('pass\n', 'go()\n', 1)
    assert transplanted(old, new, 'Base.test_a') == dedent(old).replace('pass', 'go()', 1)


def test_a_helper_comes_with_the_variable_of_the_module_that_it_assigns() -> None:
    new = """\
        _known = None


        def ask():
            global _known
            if _known is None:
                _known = 1
            return _known


        def skip_unless(test):
            return test if ask() else None


        @skip_unless
        def test_b():
            pass
    """
    made = transplanted('def test_a():\n    pass\n', new, 'test_b')
    for line in ('_known = None', 'def ask():', 'def skip_unless(test):', '@skip_unless'):
        assert f'\n{line}\n' in f'\n{made}'
