"""What the tests' GitHub holds: repositories by their numeric id, which tests change as they go."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field


@dataclass(slots=True, kw_only=True)
class Hosted:
    """One repository; dates as GitHub writes them, `2020-01-31T00:00:00Z`.

    license       SPDX id, `NOASSERTION` for a text that GitHub does not know, None for no text
    contributors  None is a history too large for GitHub to count
    files         names at the root of the default branch; none is an empty repository
    blocked       the status of all that is asked of it: 451 for a DMCA notice, 403 for a block
    """

    id: int
    owner: str
    name: str
    stars: int = 1000
    license: str | None = 'Apache-2.0'
    language: str | None = 'Java'
    created_at: str = '2015-01-01T00:00:00Z'
    pushed_at: str = '2026-01-01T00:00:00Z'
    updated_at: str = '2026-01-01T00:00:00Z'
    default_branch: str = 'main'
    archived: bool = False
    fork: bool = False
    contributors: int | None = 3
    files: tuple[str, ...] = ('LICENSE', 'README.md', 'pom.xml')
    size: int = 100
    blocked: int | None = None

    @property
    def full_name(self) -> str:
        return f'{self.owner}/{self.name}'


@dataclass(slots=True)
class World:
    """All repositories; a name that was left leads on to its repository until it is taken again."""

    repositories: dict[int, Hosted] = field(default_factory=dict)
    moved: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, repositories: Iterable[Hosted]) -> World:
        return cls(repositories={one.id: one for one in repositories})

    def __iter__(self) -> Iterator[Hosted]:
        return iter(self.repositories.values())

    def __getitem__(self, id_: int) -> Hosted:
        return self.repositories[id_]

    def add(self, one: Hosted) -> None:
        self.repositories[one.id] = one

    def rename(self, id_: int, full_name: str) -> None:
        """A new name, a new owner or both."""
        one = self.repositories[id_]
        self.moved[one.full_name.lower()] = id_
        one.owner, one.name = full_name.split('/')

    def delete(self, id_: int) -> None:
        del self.repositories[id_]

    def named(self, full_name: str) -> Hosted | None:
        """Names are the same in small and capital letters."""
        wanted = full_name.lower()
        return next((one for one in self if one.full_name.lower() == wanted), None)

    def moved_from(self, full_name: str) -> Hosted | None:
        return self.repositories.get(self.moved.get(full_name.lower(), -1))
