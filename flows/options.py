"""The options of `coevo mine` and `coevo release`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from coevo.model.errors import Fatal
from coevo.model.families import RELEASED_FAMILIES, SINGLE_REVISION_FAMILIES, Family
from coevo.model.profiles import Profile
from coevo.model.words import Walk
from coevo.storage.place import Root, find_local_folder
from miners.cloning.remotes import NO_LIMITS, FetchLimits


def parse_families(
    names: Sequence[str], known: Sequence[Family] = SINGLE_REVISION_FAMILIES
) -> tuple[Family, ...]:
    """Return the named families in the order of `known`.

    Raises: Fatal for a name that is not in `known`.
    """
    unknown = [name for name in names if name not in map(str, known)]
    if unknown and unknown[0] in map(str, RELEASED_FAMILIES):
        raise Fatal(
            f'the family {unknown[0]} is made of labels: mine without it, then '
            f'`coevo release --family {unknown[0]}`'
        )
    if unknown:
        several = ', or several' if len(known) > 1 else ''
        raise Fatal(
            f'a family is {" or ".join(known)}, and not {unknown[0]!r}; name one of these{several}'
        )
    return tuple(family for family in known if family in names)


def choose_walk(walk: str | None, families: Sequence[Family], profile: Profile) -> Walk:
    """Return the walk to mine: `single_revision` for families, else `walk` or the profile's.

    Raises: Fatal if another walk is given beside families.
    """
    if not families:
        return Walk(walk or profile.walk)
    if walk not in (None, Walk.SINGLE_REVISION):
        raise Fatal(
            f'the family {", ".join(families)} takes revisions as they stand: leave out the walk {walk}'
        )
    return Walk.SINGLE_REVISION


@dataclass(frozen=True, slots=True, kw_only=True)
class MineOptions:
    """The options of one mining run; `commits` None visits all of them.

    local  folder of clones and caches; None takes the store, or a folder of this machine if the
           store is a URL
    brings_runtimes  whether runtimes that the machine lacks are installed when a pair needs them
    families     families of test files, for the walk `single_revision`; empty means `class`
    pushed       time of the last push to the source, from its host before the fetch
    again        whether mined pairs are executed once more, without the cache of verdicts
    reached      until when a copy has all commits of its repository; None if unknown
    keep_stale   whether pairs that other code, thresholds or tools mined stay as they are
    recompare    whether, with keep_stale, pairs are mined again of which other tests would run now
    retry_bugs   whether to retry pairs that this build of coevo could not mine
    most_tests   pairs with more tests to run wait for a call without this limit; None for no limit
    private      whether the store is for its owner alone
    by_tasks     whether the number of commits follows the tasks (`flows.budgets`) instead of `commits`
    measures     whether tasks are measured at once; otherwise they wait for a pass (`flows.measure_pass`)
    """

    source: str
    store: Root
    profile: Profile
    name: str | None = None
    ref: str | None = None
    commits: int | None = 300
    since: datetime | None = None
    until: datetime | None = None
    walk: Walk = Walk.PARENTS
    jobs: int = 1
    sandbox: str = 'bubblewrap'
    cache: Path | None = None
    limits: FetchLimits = NO_LIMITS
    local: Path | None = None
    brings_runtimes: bool = True
    keep_stale: bool = False
    recompare: bool = False
    retry_bugs: bool = False
    most_tests: int | None = None
    private: bool = False
    measures: bool = True
    by_tasks: bool = False
    reached: datetime | None = None
    again: bool = False
    pushed: datetime | None = None
    families: tuple[Family, ...] = ()

    @property
    def clones_folder(self) -> Path:
        """The folder of clones and caches."""
        return self.local or find_local_folder(self.store)

    @property
    def execution_cache_folder(self) -> Path:
        """The folder of cached verdicts: in the given cache, else beside the clones."""
        return (self.cache or self.clones_folder / 'cache') / 'executions'


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseOptions:
    """The options of one release.

    With `month` None, all mined data is released, under the month of the newest commit visited.

    reached   until when repositories are known whose remotes were not contacted
    accepted  SPDX ids of licences that are accepted although the OSI has not approved them
    urls      addresses by repository, for those that were mined from a folder
    local     folder of clones and caches, as in MineOptions
    families  families whose tasks are made from labels, beside those of the tracks
    untested  whether functions that no test executes give tasks without gold
    code_free place for the edition without code; None writes none
    withhold_gold  place for the edition without the developers' answers; None writes none
    jobs      how many clones are searched for first-seen dates, and families of repositories get
              their tasks, at the same time
    incomplete  whether a month is released although repositories of its cohort are missing
    validated   whether a month is refused while candidates of it were not validated
    """

    store: Root
    snapshot: Root
    month: str | None = None
    reached: datetime | None = None
    previous: Root | None = None
    accepted: tuple[str, ...] = ()
    urls: Mapping[str, str] = field(default_factory=dict)
    local: Path | None = None
    jobs: int = 1
    families: tuple[Family, ...] = ()
    untested: bool = False
    code_free: Root | None = None
    withhold_gold: Root | None = None
    incomplete: bool = False
    validated: bool = False

    @property
    def clones_folder(self) -> Path:
        """The folder of clones and caches."""
        return self.local or find_local_folder(self.store)
