"""One pair's cells in passes: given order, reversed order, one process per method; what disagrees again.

What the cache knows of a whole batch is not run again (docs/evidence.md; TestEvo-Bench, A.2).
"""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field

from coevo.engine.cache import Cache
from coevo.engine.cache import Known
from coevo.engine.cache import batch_key
from coevo.engine.groups import CellsOf
from coevo.engine.groups import Ends
from coevo.engine.groups import Group
from coevo.engine.groups import Results
from coevo.engine.groups import form_groups
from coevo.engine.groups import is_mute
from coevo.engine.groups import unbuildable
from coevo.engine.results import RUN_ORDERS
from coevo.engine.results import Cost
from coevo.engine.results import Order
from coevo.engine.results import SelectedMethod
from coevo.engine.results import Step
from coevo.languages.conditions import Conditions
from coevo.languages.engine import BuiltPair
from coevo.languages.table import LANGUAGES
from coevo.languages.verdicts import Verdict
from coevo.model.errors import Transient
from coevo.model.words import Outcome

# Raised only when the rule of evidence, and so verdicts of all languages, may change: each language's
# own ENGINE_VERSION rises with it.
RULES_VERSION = 7

_STEPS = {
    Order.GIVEN: Step.RUN_GIVEN,
    Order.REVERSED: Step.RUN_REVERSED,
    Order.ALONE: Step.RUN_ALONE,
}


@dataclass(slots=True, kw_only=True)
class CellRunner:
    """Runs the groups of one pair, under one override or none, in passes of three orders."""

    built: BuiltPair
    cache: Cache
    override: str | None = None
    step: Step | None = None  # what all runs count as, instead of by their order
    cost: Cost = field(default_factory=Cost)

    def begin(
        self, selected: Sequence[SelectedMethod], cells: CellsOf
    ) -> tuple[Ends, Results, list[Group]]:
        """What cannot be built, and groups of the rest, compiled and run once.

        Built otherwise while no test is heard of and there is another way.
        """
        override = self.override
        begun = self._begin_once(selected, cells)
        while is_mute(begun[-1]) and (other := self.built.otherwise()) is not None:
            self.built, self.override = other, override
            begun = self._begin_once(selected, cells)
        return begun

    def formed(
        self, ends: Ends, selected: Sequence[SelectedMethod], cells: CellsOf
    ) -> tuple[Results, list[Group]]:
        """What cannot be built, and groups of the rest, compiled, with what the cache has of them."""
        settled = unbuildable(ends, selected, cells)
        groups = list(form_groups(self.built, ends, selected, settled, cells))
        for group in groups:
            self.cost.add(Step.COMPILE, group.compiled.cpu_seconds)
            group.known = self._recall(group)
        return settled, groups

    def pass_all(
        self, groups: Sequence[Group], order: Order, without: Collection[str] = ()
    ) -> None:
        """Run what is open in one order; `without`: methods that need no such run."""
        for group in groups:
            chosen = [
                method_id
                for method_id in group.open_methods()
                if method_id not in without and not group.timed_out_enough(method_id)
            ]
            for batch in _batches(chosen, order):
                if not _settle_known(group, batch, order):
                    self._run_batch(group, batch, order)

    def keep_and_repeat(self, groups: Sequence[Group]) -> None:
        """Give the cache what was run in all orders, then repeat what disagrees."""
        for group in groups:
            self.keep(group)
            self._repeat_where_split(group)

    def keep(self, group: Group) -> None:
        """Give the cache what was run under no override."""
        key = self._key(group)
        if key and self.override is None:
            self.cache.keep(key, group.open_methods(), group.runs)

    def run(
        self, group: Group, batch: Sequence[str], step: Step, order: Order = Order.GIVEN
    ) -> Sequence[Verdict | None]:
        """One process, which counts as a step; None for who lost it to a neighbour.

        Transient if no process starts.
        """
        if not batch:
            return ()
        methods = [group.methods[method_id] for method_id in batch]
        conditions = Conditions(override=self.override, together=order is not Order.ALONE)
        process = self.built.run(group.compiled, methods, conditions)
        heard = [verdict for verdict in process.verdicts if verdict is not None]
        for verdict in heard:
            if verdict.outcome is Outcome.INFRA and group.compiled.borrowed is None:
                raise Transient(f'a test process did not start: {verdict.message.strip()}')
        self.cost.add(step, process.cpu_seconds)
        self.cost.add(Step.TESTS, sum(v.cpu_seconds for v in heard), len(heard))
        return process.verdicts

    def _begin_once(
        self, selected: Sequence[SelectedMethod], cells: CellsOf
    ) -> tuple[Ends, Results, list[Group]]:
        """By one way of building them."""
        ends = Ends(old=self.built.old, new=self.built.new)
        for build in (ends.old, ends.new):
            self.cost.add(Step.BUILD, build.cpu_seconds)
        settled, groups = self.formed(ends, selected, cells)
        self._first_pass(groups)
        return ends, settled, groups

    def _first_pass(self, groups: Sequence[Group]) -> None:
        """Run everything once; where an override may help what failed, again with it, in all cells."""
        self.pass_all(groups, Order.GIVEN)
        if self.override is not None:
            return
        self.override = _needed_workaround(self.built.pair.language, groups)
        if self.override is not None:
            for group in groups:
                for method_id in group.open_methods():
                    del group.runs[method_id]
                group.known = {}
            self.pass_all(groups, Order.GIVEN)

    def _run_batch(self, group: Group, batch: Sequence[str], order: Order) -> None:
        """Run a batch in one process; who lost it to a neighbour runs again alone."""
        step = self.step or _STEPS[order]
        for method_id, verdict in zip(batch, self.run(group, batch, step, order), strict=True):
            recorded = order
            if verdict is None:
                recorded = Order.ALONE
                (verdict,) = self.run(group, [method_id], step, recorded)
            assert verdict is not None, 'a method that runs alone has no neighbour to lose to'
            group.settle(method_id, verdict, recorded)

    def _repeat_where_split(self, group: Group) -> None:
        """Repeat each order once where a method's runs disagree.

        The whole batch runs, so that the order is the same; only the split methods are recorded.
        """
        split = group.split_methods()
        if not split:
            return
        for order in RUN_ORDERS:
            for batch in _batches(group.open_methods(), order):
                if order is not Order.ALONE or split.issuperset(batch):
                    verdicts = self.run(group, batch, Step.RUN_REPEATED, order)
                    for method_id, verdict in zip(batch, verdicts, strict=True):
                        if verdict is not None and method_id in split:
                            group.settle(method_id, verdict, order)

    def _recall(self, group: Group) -> Known:
        key = self._key(group)
        return self.cache.recall(key, group.open_methods()) if key else {}

    def _key(self, group: Group) -> str | None:
        """None where there is nothing to run."""
        methods = [group.methods[method_id] for method_id in group.open_methods()]
        content = self.built.content(group.compiled) if methods else None
        return batch_key(content, methods, str(RULES_VERSION)) if content else None


def _needed_workaround(language: str, groups: Sequence[Group]) -> str | None:
    for group in groups:
        for method_id in group.open_methods():
            workaround = LANGUAGES[language].workaround(group.runs[method_id][-1].verdict)
            if workaround is not None:
                return workaround
    return None


def _settle_known(group: Group, batch: Sequence[str], order: Order) -> bool:
    """Whether the cache had all of a batch; a part of it would be another process."""
    known = [group.known.get((method_id, order)) for method_id in batch]
    verdicts = [verdict for verdict in known if verdict is not None]
    if len(verdicts) < len(batch):
        return False
    for method_id, verdict in zip(batch, verdicts, strict=True):
        group.settle(method_id, verdict, order)
    return True


def _batches(methods: list[str], order: Order) -> list[list[str]]:
    """Which methods share a process, and in which order."""
    match order:
        case Order.ALONE:
            return [[method_id] for method_id in methods]
        case Order.REVERSED:
            return [methods[::-1]]
        case _:
            return [methods]
