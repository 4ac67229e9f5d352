"""Named sets of thresholds, from the versioned file `profiles.toml` beside this module."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, fields
from importlib.resources import files

from coevo.model.dependencies import DependencyList
from coevo.model.errors import Fatal
from coevo.model.records import compute_short_hash
from coevo.model.words import Walk

# What a profile is called, and which pairs a run visits; the walk is part of a segment's key.
_CHOOSES_COMMITS = frozenset({'name', 'about', 'walk', 'commits', 'latest_release'})


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRules:
    """Which test files the family `file` takes; the numbers are TAM-Eval's.

    least_tests     tests of the test file
    least_lines     of the test file, and of the focal file
    most_comments   share of the lines of the focal file that are comments alone
    most_seconds    CPU seconds of all its tests together
    least_coverage  share of the lines with code of the focal file that they execute
    least_function  lines with code of the longest function of the focal file
    least_fall      points of coverage or of mutants killed by which an older test file is worse
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
    """Which functions the family `function` takes; the numbers are ULT's.

    least_complexity  cyclomatic complexity as lizard counts it; 0 asks for none
    most_callees      other declarations of the code that tests see it call
    """

    least_complexity: int = 10
    most_callees: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleRules:
    """Which packages the family `module` takes; the numbers are MultiFileTest's.

    least_files, most_files  files of a folder that are not empty
    fewer_lines              than that all of them together
    """

    least_files: int = 2
    most_files: int = 15
    fewer_lines: int = 1600


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """What a run keeps; options given by hand win over it.

    about              what it is for, for a person
    gap_hours          most hours between a pair's ends under the walk `states`; None is no limit
    unchanged_sample   unchanged tests to run in a pair that changes the source only
    unchanged_limit    unchanged tests to run in a pair that changes both; None is no limit
    commits            newest commits of the log to visit; None is all
    latest_release     whether the walk starts at the latest release, if there is one
    suites             whether all tests of both ends have to pass
    suite_cpu_seconds  most that the tests of one revision may use for that
    dependencies       which list of changed dependencies the prompt, the focal method, coverage and
                       mutants go by
    traces             whether it is recorded what labelled methods execute; else their text decides
    refactorings       whether what is only refactored loses its track
    observed           whether a deciding pass that an observer doubts loses its track
    measure_runs       most runs of tests for mutants and reversals of one pair, half for each
    all_cells          whether new tests run on old code where no label asks for that, too
    files              which test files the family `file` takes
    functions, modules the same of functions and packages
    """

    name: str
    about: str = ''
    walk: Walk
    gap_hours: float | None
    unchanged_sample: int
    unchanged_limit: int | None
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
    def fingerprint(self) -> str:
        """A hash of all thresholds but those that say which commits are visited."""
        thresholds = (item.name for item in fields(self) if item.name not in _CHOOSES_COMMITS)
        return compute_short_hash(*(f'{name}={getattr(self, name)!r}' for name in thresholds))


def load_profiles() -> dict[str, Profile]:
    """All profiles by name, in the file's order."""
    text = files('coevo.model').joinpath('profiles.toml').read_text(encoding='utf-8')
    return {
        name: Profile(
            name=name,
            about=values['about'],
            walk=Walk(values['walk']),
            gap_hours=values.get('gap_hours'),
            unchanged_sample=values['unchanged_sample'],
            unchanged_limit=values.get('unchanged_limit'),
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
    """The profile of that name; Fatal if there is none."""
    known = load_profiles()
    if name not in known:
        raise Fatal(f'There is no profile {name!r}: use one of {", ".join(known)}.')
    return known[name]
