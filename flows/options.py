"""What a user can ask of `coevo mine` and `coevo release`."""

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
    """In the order of the families; Fatal for a name that is none of those that are known."""
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
    """That of the families, if any is asked for; Fatal where another one is asked for beside them."""
    if not families:
        return Walk(walk or profile.walk)
    if walk not in (None, Walk.SINGLE_REVISION):
        raise Fatal(
            f'the family {", ".join(families)} takes revisions as they stand: leave out the walk {walk}'
        )
    return Walk.SINGLE_REVISION


@dataclass(frozen=True, slots=True, kw_only=True)
class MineOptions:
    """One run of the miner; `commits` None means all of them.

    local  where clones and caches lie; None is in the store, or in a folder of this machine where
           the store is a URL
    brings_runtimes  whether those that the machine lacks are brought when a pair is to be built with
                     them
    families     that look at test files, of the walk `single_revision`; none is `class`
    pushed       when the source was last pushed to, as its host said before it is fetched
    again        whether pairs that were mined are executed once more, past the cache of verdicts
    reached      until when a copy has all commits of its repository; None is nobody knows
    retry_bugs   whether pairs are tried again that this build of coevo could not mine
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
    retry_bugs: bool = False
    reached: datetime | None = None
    again: bool = False
    pushed: datetime | None = None
    families: tuple[Family, ...] = ()

    @property
    def folder(self) -> Path:
        """Under which clones and caches lie."""
        return self.local or find_local_folder(self.store)

    @property
    def executions(self) -> Path:
        """Where verdicts are kept by content: in the cache that was named, else beside clones."""
        return (self.cache or self.folder / 'cache') / 'executions'


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseOptions:
    """One release; `month` None takes all that was mined, and its name from the newest commit visited.

    reached   until when repositories that were not asked themselves are known
    accepted  SPDX ids of licences that will do though the OSI has not approved them
    urls      addresses by repository, for those that were mined from a folder
    local     where clones and caches lie, as in MineOptions
    families  whose tasks are made of labels, beside those of the tracks
    code_free where its edition without code goes; None for none
    """

    store: Root
    snapshot: Root
    month: str | None = None
    reached: datetime | None = None
    previous: Root | None = None
    accepted: tuple[str, ...] = ()
    urls: Mapping[str, str] = field(default_factory=dict)
    local: Path | None = None
    families: tuple[Family, ...] = ()
    code_free: Root | None = None

    @property
    def folder(self) -> Path:
        """Under which clones and caches lie."""
        return self.local or find_local_folder(self.store)
