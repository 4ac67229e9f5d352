"""Choose the mutants for a test at random from those that compile, and account for all others.

The source is TestEvo-Bench, A.5. The project's compiler decides what compiles, not the tool's own
check. The random order of mutants is that of their ids, hashes of the pair, path and mutated
file. It is the same on every machine and for all tests of a pair, which therefore share mutants.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from coevo.languages.capabilities import Capability
from coevo.languages.cells import CheckedSource
from coevo.languages.mutation import Mutant
from coevo.languages.table import get_measures, offers_capability
from coevo.measures.edited_cells import EditedCellRunner, find_module
from coevo.model.records import compute_short_hash

CAP = 10
"""Mutants of a file that are kept for each test (TestEvo-Bench, A.5)."""
CHECKED = 400
"""Mutants of a file that are compiled for each test: the first ones in the random order."""
_ORIGINAL = ''  # the key of the unchanged file


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnMutant:
    """A mutant that was drawn.

    equal_compiled  whether it compiles to the same as the original or an earlier mutant
    """

    mutant_id: str
    file: str
    mutant: Mutant
    equal_compiled: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MutantSet:
    """The mutants for a test, with counts of those that a tool emitted.

    emitted = len(mutants) + compile_failed + redundant + capped_out + not_checked
    """

    emitted: int = 0
    compile_failed: int = 0
    redundant: int = 0
    capped_out: int = 0
    not_checked: int = 0
    mutants: tuple[DrawnMutant, ...] = ()


def join_sets(sets: Iterable[MutantSet]) -> MutantSet:
    """Return one set for several files: the counts are summed and the mutants are put together."""
    all_sets = list(sets)
    return MutantSet(
        emitted=sum(mutant_set.emitted for mutant_set in all_sets),
        compile_failed=sum(mutant_set.compile_failed for mutant_set in all_sets),
        redundant=sum(mutant_set.redundant for mutant_set in all_sets),
        capped_out=sum(mutant_set.capped_out for mutant_set in all_sets),
        not_checked=sum(mutant_set.not_checked for mutant_set in all_sets),
        mutants=tuple(mutant for mutant_set in all_sets for mutant in mutant_set.mutants),
    )


@dataclass(slots=True, kw_only=True)
class FileMutants:
    """The mutants of a file that any test of a pair may need, in random order.

    They are compiled when a test first needs them.
    """

    path: str
    module: str
    source: bytes
    emitted: Sequence[DrawnMutant]
    cap: int = CAP
    _checked: dict[str, CheckedSource] = field(default_factory=dict)
    _fits: dict[str, bool] = field(default_factory=dict)

    def draw(self, runner: EditedCellRunner, lines: Collection[int]) -> MutantSet | None:
        """Return the mutants in some lines, at most `cap` of them, with counts of the others.

        Mutants that were not compiled before are compiled. None if the unchanged file does not
        compile.
        """
        emitted = [
            drawn_mutant for drawn_mutant in self.emitted if drawn_mutant.mutant.line in lines
        ]
        unique = list(
            {drawn_mutant.mutant_id: drawn_mutant for drawn_mutant in emitted[::-1]}.values()
        )[::-1]
        candidates = unique[:CHECKED]
        self._check_with_compiler(runner, candidates)
        if candidates and self._checked[_ORIGINAL].signature is not None:
            return None
        valid = [
            drawn_mutant for drawn_mutant in candidates if self._compiles(runner, drawn_mutant)
        ]
        return MutantSet(
            emitted=len(emitted),
            compile_failed=len(candidates) - len(valid),
            redundant=len(emitted) - len(unique),
            capped_out=max(0, len(valid) - self.cap),
            not_checked=len(unique) - len(candidates),
            mutants=self._select_mutants(valid),
        )

    def _select_mutants(self, valid: Sequence[DrawnMutant]) -> tuple[DrawnMutant, ...]:
        """Return the first `cap` mutants; mark those that compile to the same as an earlier one."""
        seen = {self._checked[_ORIGINAL].digest} if valid else set()
        selected = []
        for drawn_mutant in valid[: self.cap]:
            digest = self._checked[drawn_mutant.mutant_id].digest
            selected.append(
                DrawnMutant(
                    mutant_id=drawn_mutant.mutant_id,
                    file=drawn_mutant.file,
                    mutant=drawn_mutant.mutant,
                    equal_compiled=digest in seen,
                )
            )
            seen.add(digest)
        return tuple(selected)

    def _compiles(self, runner: EditedCellRunner, one: DrawnMutant) -> bool:
        """Return whether a mutant compiles, and the other files of its module with it."""
        checked, original = self._checked[one.mutant_id], self._checked[_ORIGINAL]
        if checked.signature is not None:
            return False
        if checked.outside == original.outside:
            return True
        if one.mutant_id not in self._fits:
            compiled = runner.compile(self.module, (self.path, one.mutant.apply_to(self.source)))
            self._fits[one.mutant_id] = compiled.code_failure is None
        return self._fits[one.mutant_id]

    def _check_with_compiler(self, runner: EditedCellRunner, asked: Sequence[DrawnMutant]) -> None:
        """Compile those mutants that were not compiled yet, and at first the unchanged file."""
        new = [
            drawn_mutant for drawn_mutant in asked if drawn_mutant.mutant_id not in self._checked
        ]
        texts = {
            drawn_mutant.mutant_id: drawn_mutant.mutant.apply_to(self.source)
            for drawn_mutant in new
        }
        if texts and not self._checked:
            texts = {_ORIGINAL: self.source, **texts}
        if texts:
            answers = runner.built.check_main_sources(
                runner.rev, self.module, self.path, list(texts.values())
            )
            runner.cpu_seconds += sum(answer.cpu_seconds for answer in answers)
            self._checked.update(zip(texts, answers, strict=True))


def make_file_mutants(
    runner: EditedCellRunner, path: str, lines: Collection[int], cap: int = CAP
) -> FileMutants | None:
    """Return the mutants of some lines of a file.

    None if no built module contains the file, or the language offers no mutants.

    Raises: MutationTimeout if the tool does not end in time.
    """
    mutation = get_measures(runner.pair.language).mutation
    if mutation is None or not offers_capability(runner.pair.language, Capability.CHECK_SOURCES):
        return None
    entry = runner.repository.tree(runner.rev).get(path)
    module = find_module(runner.build.modules, path)
    if entry is None or module is None or runner.build.find_trouble(module):
        return None
    source = runner.repository.blob(entry.oid)
    drawn = [
        _make_drawn_mutant(runner, path, source, mutant)
        for mutant in mutation.make_mutants(source, lines)
    ]
    return FileMutants(
        path=path,
        module=module,
        source=source,
        emitted=sorted(drawn, key=lambda one: (one.mutant_id, one.mutant.line)),
        cap=cap,
    )


def _make_drawn_mutant(
    runner: EditedCellRunner, path: str, source: bytes, mutant: Mutant
) -> DrawnMutant:
    text = mutant.apply_to(source).decode(errors='surrogateescape')
    return DrawnMutant(
        mutant_id=compute_short_hash(runner.pair.pair_id, path, text), file=path, mutant=mutant
    )
