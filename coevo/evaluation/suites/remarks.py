"""What the text of a submitted test says beside its runs: its smells, and why it does not compile."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from coevo.evaluation.judging.task_context import TaskContext
from coevo.evaluation.suites.records import SuiteTest
from coevo.languages.declarations import DeclaredType
from coevo.languages.error_classes import ErrorClass
from coevo.languages.table import get_measures, get_reading
from coevo.measures.type_under_test import find_type_under_test
from coevo.model.records import TestMethod
from coevo.model.words import Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteAnnotator:
    """The tests of one patched file, as far as the language tells.

    about  what classes of tests are about, as far as somebody asked
    """

    context: TaskContext
    patched: bytes
    about: dict[str, DeclaredType | None] = field(default_factory=dict)

    def add_remarks(self, test: SuiteTest, method: TestMethod) -> SuiteTest:
        return replace(
            test, smells=self._find_smells(method), error_class=self._find_error_class(test)
        )

    def _find_smells(self, method: TestMethod) -> tuple[str, ...] | None:
        pair = self.context.pair
        known = get_measures(pair.language).smells
        if known is None:
            return None
        try:
            smells = known.find_smells(self.patched, method, self._find_type_under_test(method))
        except LookupError:  # a parent declares it, or it is nested too deep
            return None
        return tuple(map(str, smells))

    def _find_type_under_test(self, method: TestMethod) -> DeclaredType | None:
        """Sought once for each class of tests: all of the code is read for it."""
        name, pair = method.test_class, self.context.pair
        if name not in self.about:
            read, repository = get_reading(pair.language), self.context.repository
            self.about[name] = find_type_under_test(read, repository, pair.new.rev, method)
        return self.about[name]

    def _find_error_class(self, test: SuiteTest) -> ErrorClass | None:
        known = get_measures(self.context.pair.language).errors
        if known is None or test.outcome is not Outcome.COMPILE_ERROR or test.signature is None:
            return None
        return known.classify_error(test.signature)
