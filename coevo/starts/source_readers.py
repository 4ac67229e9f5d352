"""Find tests that read the text of main sources, by running them without these sources.

A test that asserts that a source contains a line would notice every reversal and yet test nothing.
Submitted tests therefore get no main sources, unless gold itself fails without them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from coevo.languages.cells import CompiledTests
from coevo.languages.conditions import MainSources
from coevo.model.records import TestMethod
from coevo.starts.isolated_cells import IsolatedCellRunner, is_pass

NO_SOURCES = MainSources()


def reads_sources(
    runner: IsolatedCellRunner, compiled: CompiledTests, methods: Mapping[str, TestMethod]
) -> bool:
    """Return whether some test passes only if the main sources of the cell's code lie beside it.

    Such a test reads the text of sources.
    """
    lost = _list_not_passing(runner, NO_SOURCES, compiled, methods)
    if not lost:
        return False
    same = MainSources(rev=compiled.code_rev)
    still = _list_not_passing(runner, same, compiled, {name: methods[name] for name in lost})
    return len(still) < len(lost)


def _list_not_passing(
    runner: IsolatedCellRunner,
    sources: MainSources,
    compiled: CompiledTests,
    methods: Mapping[str, TestMethod],
) -> Sequence[str]:
    """Return the ids of methods that do not pass with only these main sources beside the tests."""
    own = replace(runner, conditions=replace(runner.conditions, sources=sources))
    verdicts = own.collect_verdicts(compiled, methods, is_pass)
    runner.cpu_seconds = own.cpu_seconds
    return [name for name, verdict in verdicts.items() if not is_pass(verdict.outcome)]
