"""Named sets of thresholds, from the versioned file `profiles.toml` beside this module."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib.resources import files

from coevo.errors import Fatal
from coevo.records import Walk
from coevo.records import short_hash


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """What a run keeps; options given by hand win over it.

    gap_hours          most hours between a pair's ends under the walk `states`; None is no limit
    unchanged_sample   unchanged tests to run in a pair that changes the source only
    unchanged_limit    unchanged tests to run in a pair that changes both; None is no limit
    commits            newest commits of the log to visit; None is all
    latest_release     whether the walk starts at the latest release, if there is one
    suites             whether all tests of both ends have to pass
    suite_cpu_seconds  most that the tests of one revision may use for that
    traces             whether it is recorded what labelled methods execute; else their text decides
    refactorings       whether what is only refactored loses its track
    measure_cpu_seconds  most that mutants and reversals of one pair may use together, each half
    """

    name: str
    walk: Walk
    gap_hours: float | None
    unchanged_sample: int
    unchanged_limit: int | None
    commits: int | None
    latest_release: bool
    suites: bool
    suite_cpu_seconds: float
    traces: bool
    refactorings: bool
    measure_cpu_seconds: float

    @property
    def fingerprint(self) -> str:
        """A hash of the thresholds that decide what of a pair is run; how far a run goes is none.

        Traces were always recorded once, so that segments of that time go without a word of them.
        """
        return short_hash(
            str(self.gap_hours),
            str(self.unchanged_sample),
            str(self.unchanged_limit),
            str(self.suite_cpu_seconds if self.suites else None),
            str(self.refactorings),
            str(self.measure_cpu_seconds),
            *(() if self.traces else ('no traces',)),
        )


def profiles() -> dict[str, Profile]:
    """All profiles by name, in the file's order."""
    text = files('coevo').joinpath('profiles.toml').read_text(encoding='utf-8')
    return {
        name: Profile(
            name=name,
            walk=Walk(values['walk']),
            gap_hours=values.get('gap_hours'),
            unchanged_sample=values['unchanged_sample'],
            unchanged_limit=values.get('unchanged_limit'),
            commits=values.get('commits'),
            latest_release=values.get('latest_release', False),
            suites=values.get('suites', False),
            suite_cpu_seconds=values.get('suite_cpu_seconds', 0.0),
            traces=values.get('traces', False),
            refactorings=values.get('refactorings', False),
            measure_cpu_seconds=values.get('measure_cpu_seconds', 0.0),
        )
        for name, values in tomllib.loads(text).items()
        if name != 'version'
    }


def load_profile(name: str) -> Profile:
    """The profile of that name; Fatal if there is none."""
    known = profiles()
    if name not in known:
        raise Fatal(f'There is no profile {name!r}: use one of {", ".join(known)}.')
    return known[name]
