"""Build, compile and run for one thread: a session of its own over images that all share."""

from __future__ import annotations

import shutil
from collections.abc import Collection
from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace
from pathlib import Path

from coevo.languages.base import PLAIN
from coevo.languages.base import Batch
from coevo.languages.base import Build
from coevo.languages.base import Compiled
from coevo.languages.base import Conditions
from coevo.languages.base import Loan
from coevo.languages.base import Verdict
from coevo.languages.java_maven.compilation import CompileReport
from coevo.languages.java_maven.compilation import compile_report
from coevo.languages.java_maven.compilation import has_no_room
from coevo.languages.java_maven.compilation import is_of_the_parser
from coevo.languages.java_maven.cures import cure
from coevo.languages.java_maven.images import Image
from coevo.languages.java_maven.images import link_resources
from coevo.languages.java_maven.javac_options import javac_options
from coevo.languages.java_maven.launch import Plan
from coevo.languages.java_maven.loans import lend
from coevo.languages.java_maven.report import Module
from coevo.languages.java_maven.runner import LEAST_CPU_LIMIT
from coevo.languages.java_maven.runner import SLOWER_THAN_PASSING
from coevo.languages.java_maven.runner import Target
from coevo.languages.java_maven.runner import did_not_start
from coevo.languages.java_maven.runner import run_targets
from coevo.languages.java_maven.session import Died
from coevo.languages.java_maven.settings import compile_request
from coevo.languages.java_maven.yard import Yard
from coevo.records import Environment
from coevo.records import Outcome
from coevo.records import TestMethod
from coevo.records import short_hash

MODULE_ABSENT = 'module_absent'

# The signature of a test whose JVM refuses the options that the project has for it.
JVM_OPTIONS = 'jvm_options'

# The signature of tests that were to run under a clock that cannot be set here.
NO_CLOCK = 'no_clock'


@dataclass(frozen=True, slots=True, kw_only=True)
class CellImage:
    """A module's compiled tests: `folder` mirrors the tree, so that it can be laid over the code.

    below   the same for sibling modules whose test classes this one uses
    """

    compiled: Compiled
    report: CompileReport
    folder: Path
    below: tuple[CellImage, ...] = ()

    @property
    def folders(self) -> tuple[Path, ...]:
        return (*(folder for cell in self.below for folder in cell.folders), self.folder)


class JavaWorkshop:
    """What a thread does with one JDK: all of `coevo.languages.base.Workshop` but pairs."""

    def __init__(self, yard: Yard) -> None:
        self._yard = yard
        self._session = yard.session()
        self._cells: dict[tuple[str, str, str, Loan | None], CellImage] = {}
        self._slowest: dict[TestMethod, float] = {}

    def build(self, rev: str) -> Build:
        return self._yard.build(rev, self._session)

    def keep_only(self, revs: Collection[str]) -> None:
        """Remove compiled cells of any other revision."""
        for key in tuple(self._cells):
            if not {key[0], key[1]}.issubset(revs):
                shutil.rmtree(self._cells.pop(key).folder, ignore_errors=True)

    def compile(
        self, tests_rev: str, code_rev: str, module: str, loan: Loan | None = None
    ) -> Compiled:
        return self._cell(tests_rev, code_rev, module, loan).compiled

    def differs(self, code_rev: str, module: str, loan: Loan) -> bool:
        return self._module(code_rev, module, loan) != self._module(code_rev, module, None)

    def compile_verdict(self, compiled: Compiled, method: TestMethod) -> Verdict | None:
        signature = self._cell_of(compiled).report.why_broken(method)
        if signature is None:
            return None
        return Verdict(
            outcome=Outcome.COMPILE_ERROR, signature=signature, syntax=is_of_the_parser(signature)
        )

    def content(self, compiled: Compiled) -> str | None:
        """Of whole trees: a test may read any file that is laid out beside it."""
        module = self._module(compiled.code_rev, compiled.module, compiled.loan)
        if module is None:
            return None
        junit = self._yard.junit(module, self._session)
        return self._yard.content(compiled, module, junit)

    def run(
        self, compiled: Compiled, methods: Sequence[TestMethod], conditions: Conditions = PLAIN
    ) -> Batch:
        """A method of which no concrete class was compiled is missing; no process is asked."""
        cell = self._cell_of(compiled)
        targets = [self._target(cell, method, conditions) for method in methods]
        chosen = [place for place, target in enumerate(targets) if target.classes]
        verdicts: list[Verdict | None] = [Verdict(outcome=Outcome.MISSING)] * len(methods)
        if not chosen:
            return Batch(verdicts=tuple(verdicts), cpu_seconds=0.0)
        batch = self._process(cell, tuple(targets[place] for place in chosen), conditions)
        for place, verdict in zip(chosen, batch.verdicts, strict=True):
            verdicts[place] = verdict
            if verdict is not None and verdict.outcome is Outcome.PASS:
                slowest = self._slowest.get(methods[place], 0.0)
                self._slowest[methods[place]] = max(slowest, verdict.cpu_seconds)
        return Batch(verdicts=tuple(verdicts), cpu_seconds=batch.cpu_seconds)

    def _process(
        self, cell: CellImage, targets: tuple[Target, ...], conditions: Conditions
    ) -> Batch:
        code = self._yard.image(cell.compiled.code_rev)
        module = self._module(cell.compiled.code_rev, cell.compiled.module, cell.compiled.loan)
        assert module is not None, 'what was compiled has a module'
        tests = self._yard.image(cell.compiled.tests_rev).tests
        clock = {} if conditions.clock is None else self._yard.clock.environment(conditions.clock)
        if clock is None:
            unknown = Verdict(outcome=Outcome.INFRA, signature=NO_CLOCK)
            return Batch(verdicts=(unknown,) * len(targets), cpu_seconds=0.0)
        plan = Plan(
            module=module,
            layers=(code.code, tests, *cell.folders),
            junit=self._yard.junit(module, self._session),
            override=conditions.override,
            targets=targets,
            clock=clock,
            cpu_limit=conditions.process_cpu_limit,
        )
        plan, making = self._yard.with_archive(plan)
        batch = run_targets(self._yard.sandbox, self._yard.launcher.job(plan), targets)
        if did_not_start(batch) and self._is_refused(plan):
            refused = Verdict(outcome=Outcome.ERROR, signature=JVM_OPTIONS)
            batch = replace(batch, verdicts=(refused,) * len(targets))
        return replace(batch, cpu_seconds=batch.cpu_seconds + making)

    def _is_refused(self, plan: Plan) -> bool:
        """Whether a JVM starts without the project's own options, but not with them."""
        statuses = []
        for own_options in (True, False):
            job = self._yard.launcher.refusal_probe(plan, own_options=own_options)
            with self._yard.sandbox.start(job) as process:
                statuses.append(process.wait())
        with_options, without = statuses
        return with_options != 0 and without == 0

    def cure(self, verdict: Verdict) -> str | None:
        return cure(verdict)

    def environment(self, rev: str, module: str) -> Environment | None:
        return self._yard.environment(rev, module)

    def close(self) -> None:
        self._session.close()

    def _cell_of(self, compiled: Compiled) -> CellImage:
        return self._cell(compiled.tests_rev, compiled.code_rev, compiled.module, compiled.loan)

    def _module(self, code_rev: str, module: str, loan: Loan | None) -> Module | None:
        """A module as its cells see it; None where the code has none."""
        known = self._yard.image(code_rev).modules.get(module)
        donor = self._yard.image(loan.rev).modules.get(module) if loan else None
        return lend(known, donor, loan.scope) if known and donor and loan else known

    def _target(self, cell: CellImage, method: TestMethod, conditions: Conditions) -> Target:
        usual = max(LEAST_CPU_LIMIT, SLOWER_THAN_PASSING * self._slowest.get(method, 0.0))
        return Target(
            classes=cell.report.concrete_classes(method.test_class),
            method=method.test_method,
            parameters=method.parameters,
            cpu_limit=usual if conditions.cpu_limit is None else conditions.cpu_limit,
        )

    def _cell(
        self, tests_rev: str, code_rev: str, module: str, loan: Loan | None = None
    ) -> CellImage:
        key = (tests_rev, code_rev, module, loan)
        if key not in self._cells:
            self._cells[key] = self._compile(tests_rev, code_rev, module, loan)
        return self._cells[key]

    def _compile(self, tests_rev: str, code_rev: str, module: str, loan: Loan | None) -> CellImage:
        code, tests = self._yard.image(code_rev), self._yard.image(tests_rev)
        folder = self._yard.folder(
            'cells', short_hash(str(id(self)), tests_rev, code_rev, module, repr(loan))
        )
        known = self._module(code_rev, module, loan)
        if known is None:
            return _absent(tests_rev, code_rev, module, folder)
        below = tuple(self._cell(tests_rev, code_rev, name) for name in _test_jars(known, code))
        launcher = self._yard.launcher
        request = compile_request(
            [launcher.inside(root) for root in tests.source_roots(module)],
            list(launcher.compile_places(known, code, [cell.folder for cell in below])),
            javac_options(known.compiler, launcher.toolchain),
        )
        output = folder / module / known.test_classes
        answer = self._session.ask(request, output)
        if isinstance(answer, Died) or has_no_room(answer):
            self._session.close()  # earlier builds may have filled its disk
            answer = self._session.ask(request, output)
        resources = tests.test_resources(module)
        if resources is not None:
            donor = tests.modules.get(module)
            compiled_by_maven = donor is not None and donor.tests_compiled
            link_resources(resources, output, classes=not compiled_by_maven)
        report = compile_report(answer)
        compiled = Compiled(
            tests_rev=tests_rev,
            code_rev=code_rev,
            module=module,
            unit_ok=report.unit_ok and all(cell.compiled.unit_ok for cell in below),
            cpu_seconds=0.0 if isinstance(answer, Died) else answer.cpu_seconds,
            loan=loan,
        )
        return CellImage(compiled=compiled, report=report, folder=folder, below=below)


def _test_jars(module: Module, code: Image) -> Iterator[str]:
    """Sibling modules whose test classes stand on a module's class path."""
    for entry in module.class_path:
        if entry.tests and entry.sibling is not None and entry.sibling in code.modules:
            yield entry.sibling


def _absent(tests_rev: str, code_rev: str, module: str, folder: Path) -> CellImage:
    """The code has no such module: nothing of its tests compiles, by either verdict."""
    compiled = Compiled(tests_rev=tests_rev, code_rev=code_rev, module=module, unit_ok=False)
    report = CompileReport(unit_ok=False, everything=MODULE_ABSENT)
    return CellImage(compiled=compiled, report=report, folder=folder)
