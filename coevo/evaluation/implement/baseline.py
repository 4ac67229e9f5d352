"""The outcomes of a task's tests at the start and with gold's code, found once for each task.

Neither run sees a submission. Tests that do not end in the same way each time ask for nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from coevo.evaluation.implement.context import CodeContext, CodeEnd, Methods
from coevo.evaluation.implement.variants import (
    Ending,
    find_steady_endings,
    make_literal_variants,
    run_variant_with_cpu_seconds,
)
from coevo.languages.verdicts import Verdict
from coevo.starts.isolated_cells import Files, is_broken, is_pass


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """The tests that have to pass with submitted code, by name.

    targets   of the test file that is shown: they fail at the start and pass with gold
    kept      of the touched modules: they pass at both ends
    siblings  they are not shown, and pass with gold
    endings   how variants of the targets end with gold
    unmet     how a target that the task names ends otherwise; None if none does
    """

    targets: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    siblings: tuple[str, ...] = ()
    endings: tuple[Ending, ...] = ()
    unmet: str | None = None
    cpu_seconds: float = 0.0


def run_tests_for_baseline(context: CodeContext, start: CodeEnd) -> Baseline:
    """Run the tests of a task at the start and with gold.

    start  the build of the start state
    Raises: Transient if a test process does not start.
    """
    runs = _BaselineRuns(context=context, start=start, gold=context.build_gold())
    own = context.list_tests_of_shown_file()
    at_start = runs.collect(start, own)
    fails = {name: own[name] for name, verdict in at_start.items() if is_broken(verdict.outcome)}
    targets = runs.find_passing_with_gold(fails)
    unmet = _describe_unmet_demand(context, at_start, targets)
    if unmet is not None:
        return Baseline(unmet=unmet, cpu_seconds=runs.cpu_seconds)
    passes = {name: own[name] for name, verdict in at_start.items() if is_pass(verdict.outcome)}
    siblings = dict(context.list_named_sibling_tests())
    return Baseline(
        targets=targets,
        kept=runs.find_tests_passing_at_both_ends(passes, context.draw_tests_of_other_files()),
        siblings=runs.find_passing_with_gold(siblings, context.load_gold_sibling_files()),
        endings=tuple(runs.find_steady_gold_variant_endings({name: own[name] for name in targets})),
        cpu_seconds=runs.cpu_seconds,
    )


def _describe_unmet_demand(
    context: CodeContext, at_start: Mapping[str, Verdict], targets: Sequence[str]
) -> str | None:
    """Return how a target that the task names ends otherwise than it has to; None if none does."""
    for name in context.assignment.task.shown_target_names:
        if name not in at_start:
            return f'{name} is not in the test file'
        if is_pass(at_start[name].outcome):
            return f'{name} passes at the start'
        if name not in targets:
            return f'{name} does not pass with gold'
    return None


@dataclass(slots=True, kw_only=True)
class _BaselineRuns:
    context: CodeContext
    start: CodeEnd
    gold: CodeEnd
    cpu_seconds: float = 0.0

    def collect(
        self, end: CodeEnd, methods: Methods, files: Files = (), *, reruns_not_passing: bool = True
    ) -> Mapping[str, Verdict]:
        """Return the verdicts on tests with a code; see `CodeContext.collect_verdicts_with_cpu_seconds`."""
        verdicts, spent = self.context.collect_verdicts_with_cpu_seconds(
            end, methods, files, reruns_not_passing=reruns_not_passing
        )
        self.cpu_seconds += spent
        return verdicts

    def find_passing_with_gold(self, methods: Methods, files: Files = ()) -> tuple[str, ...]:
        """Return the names of the tests that pass with gold."""
        verdicts = self.collect(self.gold, methods, files)
        return tuple(name for name in methods if is_pass(verdicts[name].outcome))

    def find_tests_passing_at_both_ends(self, own: Methods, others: Methods) -> tuple[str, ...]:
        """Return the tests that pass at both ends.

        own     those of the shown file that pass at the start
        others  those of other files
        """
        at_start = self.collect(self.start, others, reruns_not_passing=False)
        passing = {
            name: method
            for name, method in others.items()
            if name in at_start and is_pass(at_start[name].outcome)
        }
        candidates = {**own, **passing}
        with_gold = self.collect(self.gold, candidates, reruns_not_passing=False)
        return tuple(
            name for name in candidates if name in with_gold and is_pass(with_gold[name].outcome)
        )

    def find_steady_gold_variant_endings(self, targets: Methods) -> Iterator[Ending]:
        """Yield how variants of the targets end with gold, each time alike."""
        for variant in make_literal_variants(self.context, targets):
            runs = []
            for _ in range(2):
                verdicts, spent = run_variant_with_cpu_seconds(
                    self.context, self.gold, variant, variant.changed
                )
                self.cpu_seconds += spent
                runs.append(verdicts)
            yield from find_steady_endings(variant, runs[0], runs[1])
