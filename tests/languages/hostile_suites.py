"""Suites that try to pass for what they are not, about a toy `Till` of the price 1 and the tax 5."""

from __future__ import annotations

from dataclasses import dataclass

from coevo.git.patches import make_file_patch
from coevo.model.families import MOST_TESTS


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The test file that is asked for, and the class that it declares."""

    path: str
    name: str

    def suite(self, *lines: str) -> bytes:
        """The patch of a file that is absent."""
        text = '\n'.join([f'[shop.{self.name}]', *lines, ''])
        return make_file_patch(self.path, None, text.encode(), '100644').encode()


def hostile_suites(place: Place) -> dict[str, tuple[bytes | None, str, str | None]]:
    """By what they try: the patch, its outcome and the detail."""
    suite = place.suite
    return {
        'none': (None, 'hrns_fail', 'no_prediction'),
        'empty patch': (b'', 'empty', 'empty'),
        'empty file': (make_file_patch(place.path, None, b'\n', '100644').encode(), 'empty', None),
        'no tests': (suite('_helps: is Till.price 1'), 'no_tests', None),
        'only skipped': (suite('pays: skip', 'taxes: skip'), 'no_tests', 'target_disabled'),
        'passes by an assumption alone': (
            suite('assumes: skip then pass'),
            'no_tests',
            'target_disabled',
        ),
        'skipped beside one that passes': (
            suite('pays: is Till.price 1', 'assumes: skip then fail'),
            'success',
            None,
        ),
        'one fails': (suite('pays: is Till.price 1', 'errs: is Till.tax 6'), 'partly', 'fail'),
        'skipped beside one that fails': (
            suite('errs: is Till.tax 6', 'assumes: skip'),
            'exec_fail',
            'fail',
        ),
        'ends early with 0': (suite('ends: exit 0', 'ends_too: exit 0'), 'exec_fail', 'error'),
        'writes a report': (
            suite('forges: sh echo "<testsuite tests=1/>" > TEST-Till.xml then fail'),
            'exec_fail',
            'fail',
        ),
        'does not compile': (suite('names: is Till.nothing 1'), 'cmpl_fail', 'compile_error'),
        'replaces production code': (
            suite('pays: is Till.price 1', '[shop.Till]', 'price: pass'),
            'hrns_fail',
            'production_code',
        ),
        'more tests than a suite may have': (
            suite(*(f't{number}: pass' for number in range(MOST_TESTS + 1))),
            'hrns_fail',
            'too_many_tests',
        ),
        'ten thousand tests': (
            suite(*(f't{number}: pass' for number in range(10_000))),
            'hrns_fail',
            'too_large',
        ),
    }
