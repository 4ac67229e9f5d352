"""What the text of a submitted test says beside its runs: its smells, and why it does not compile."""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import field
from dataclasses import replace

from coevo.evaluation.judging.task_context import TaskContext
from coevo.evaluation.suites.records import SuiteTest
from coevo.languages.declarations import DeclaredType
from coevo.languages.error_classes import ErrorClass
from coevo.languages.table import measures
from coevo.languages.table import reading
from coevo.measures.type_under_test import type_under_test
from coevo.model.records import TestMethod
from coevo.model.words import Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Remarks:
    """The tests of one patched file, as far as the language tells.

    about  what classes of tests are about, as far as somebody asked
    """

    context: TaskContext
    patched: bytes
    about: dict[str, DeclaredType | None] = field(default_factory=dict)

    def noted(self, test: SuiteTest, method: TestMethod) -> SuiteTest:
        return replace(test, smells=self._smells(method), error_class=self._error_class(test))

    def _smells(self, method: TestMethod) -> tuple[str, ...] | None:
        pair = self.context.pair
        known = measures(pair.language).smells
        if known is None:
            return None
        try:
            found = known.smells_of(self.patched, method, self._type_under_test(method))
        except LookupError:  # a parent declares it, or it is nested too deep
            return None
        return tuple(map(str, found))

    def _type_under_test(self, method: TestMethod) -> DeclaredType | None:
        """Sought once for each class of tests: all of the code is read for it."""
        name, pair = method.test_class, self.context.pair
        if name not in self.about:
            read, repository = reading(pair.language), self.context.repository
            self.about[name] = type_under_test(read, repository, pair.new.rev, method)
        return self.about[name]

    def _error_class(self, test: SuiteTest) -> ErrorClass | None:
        known = measures(self.context.pair.language).errors
        if known is None or test.outcome is not Outcome.COMPILE_ERROR or test.signature is None:
            return None
        return known.error_class(test.signature)
