"""Profiles: named sets of thresholds, from the versioned `profiles.toml` beside this module."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, fields
from importlib.resources import files

from coevo.model.dependencies import DependencyList
from coevo.model.errors import Fatal
from coevo.model.records import compute_short_hash
from coevo.model.words import Walk

# Fields that name a profile or choose the visited pairs. They do not affect the rows of a pair, and
# the walk is part of a segment's key already.
# Which commits are visited, and what is measured after mining, are no thresholds of a segment.
_NO_THRESHOLDS = frozenset({'name', 'about', 'walk', 'commits', 'latest_release', 'measure_runs'})


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRules:
    """The test files that the family `file` accepts; the numbers are TAM-Eval's.

    least_tests     tests in the test file
    least_lines     lines of the test file, and of the focal file
    most_comments   share of the focal file's lines that are only comments
    most_seconds    CPU seconds of all its tests together
    least_coverage  share of the focal file's lines with code that the tests execute
    least_function  lines with code of the longest function of the focal file
    least_fall      percentage points by which an older test file has to be worse in coverage or in
                    killed mutants
    """

    least_tests: int = 2
    least_lines: int = 20
    most_comments: float = 0.7
    most_seconds: float = 30.0
    least_coverage: float = 0.4
    least_function: int = 5
    least_fall: float = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionRules:
    """The functions that the family `function` accepts; the numbers are ULT's.

    least_complexity  cyclomatic complexity as lizard counts it; 0 means no limit
    most_callees      limit for the other declarations of the code that the function calls, as far
                      as the traces of tests show it
    """

    least_complexity: int = 10
    most_callees: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleRules:
    """The packages that the family `module` accepts; the numbers are MultiFileTest's.

    least_files, most_files  number of non-empty files in the folder
    fewer_lines              exclusive upper limit for the lines of all its files together
    """

    least_files: int = 2
    most_files: int = 15
    fewer_lines: int = 1600


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """The rule that only pairs are run that change production code and a test, or may be repairs.

    share          of the tests that are run, at most so many are unchanged ones
    limit          most unchanged tests of a pair; None is no limit
    context_limit  most context-changed tests of a pair that are run; None is no limit
    """

    share: float
    limit: int | None
    context_limit: int | None = None

    def compute_unchanged_allowance(self, others: int, context: int = 0) -> int:
        """Return how many unchanged tests may be run.

        others   number of inserted, changed and deleted tests, all of which are run
        context  number of context-changed tests, which are run up to their own limit
        """
        if self.context_limit is not None:
            context = min(context, self.context_limit)
        most = int(round(self.share * (others + context) / (1 - self.share), 6))
        return most if self.limit is None else min(most, self.limit)


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """The thresholds of a run. Options given by hand override them.

    about              purpose, in words for the user
    gap_hours          longest time in hours between a pair's revisions under the walk `states`;
                       None is no limit
    gate_share         share of the tests run that may be unchanged ones; pairs that change no test
                       and nothing that a test uses are not run then. None runs these, too
    unchanged_sample   unchanged tests to run in a pair that changes only production code, without
                       a gate
    unchanged_limit    unchanged tests to run in a pair that changes both; None is no limit
    context_limit      tests to run of which only fixtures, helpers or resources changed, in one pair;
                       such a test is never a task. None is no limit
    commits            number of newest commits of the log to visit; None is all
    latest_release     whether the walk starts at the latest release, if there is one
    suites             whether all tests of both revisions have to pass
    suite_cpu_seconds  CPU seconds that the tests of one revision may use for that
    dependencies       list of changed dependencies that the prompt, the focal method, coverage and
                       mutants use
    traces             whether to record which code the labelled methods execute; otherwise their
                       text decides
    refactorings       whether a method whose change is only a refactoring loses its track
    observed           whether a method loses its track if an observer did not confirm a deciding
                       pass
    measure_runs       limit of test runs for mutants and undone changes of one pair, half for each
    all_cells          whether new tests also run on old code where no label needs that
    files              rules for test files of the family `file`
    functions          rules for the family `function`
    modules            rules for the family `module`
    """

    name: str
    about: str = ''
    walk: Walk
    gap_hours: float | None
    gate_share: float | None = None
    unchanged_sample: int
    unchanged_limit: int | None
    context_limit: int | None = None
    commits: int | None
    latest_release: bool
    suites: bool
    suite_cpu_seconds: float
    dependencies: DependencyList
    traces: bool
    refactorings: bool
    observed: bool
    measure_runs: int
    all_cells: bool = False
    files: FileRules = FileRules()
    functions: FunctionRules = FunctionRules()
    modules: ModuleRules = ModuleRules()

    @property
    def gate(self) -> Gate | None:
        """The rule that decides which pairs are run; None runs all with a change."""
        if self.gate_share is None:
            return None
        return Gate(
            share=self.gate_share, limit=self.unchanged_limit, context_limit=self.context_limit
        )

    @property
    def fingerprint(self) -> str:
        """A hash of all thresholds except those that choose commits or measures."""
        thresholds = (item.name for item in fields(self) if item.name not in _NO_THRESHOLDS)
        return compute_short_hash(*(f'{name}={getattr(self, name)!r}' for name in thresholds))


def load_profiles() -> dict[str, Profile]:
    """Return all profiles by name, in the file's order."""
    text = files('coevo.model').joinpath('profiles.toml').read_text(encoding='utf-8')
    return {
        name: Profile(
            name=name,
            about=values['about'],
            walk=Walk(values['walk']),
            gap_hours=values.get('gap_hours'),
            gate_share=values.get('gate_share'),
            unchanged_sample=values.get('unchanged_sample', 0),
            unchanged_limit=values.get('unchanged_limit'),
            context_limit=values.get('context_limit'),
            commits=values.get('commits'),
            latest_release=values.get('latest_release', False),
            suites=values.get('suites', False),
            suite_cpu_seconds=values.get('suite_cpu_seconds', 0.0),
            dependencies=DependencyList(values['dependencies']),
            traces=values.get('traces', False),
            refactorings=values.get('refactorings', False),
            observed=values.get('observed', False),
            measure_runs=values.get('measure_runs', 0),
            all_cells=values.get('all_cells', False),
        )
        for name, values in tomllib.loads(text).items()
        if name != 'version'
    }


def load_profile(name: str) -> Profile:
    """Return the profile with a name.

    Raises: Fatal if there is none.
    """
    known = load_profiles()
    if name not in known:
        raise Fatal(f'There is no profile {name!r}: use one of {", ".join(known)}.')
    return known[name]
