"""On random small histories a date is that of the definition, whatever was searched before."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pytest

from coevo.languages.declarations import Member
from coevo.languages.table import get_reading
from coevo.storage.dates import SeenBodies
from tests.miners.dates.searches import naive_dates, search_again
from tests.repos import commit, git, init

CRAWLED = datetime(2024, 1, 1, tzinfo=UTC)
# Some share their words, some their tokens; all but the numbers and strings.
BODIES = (
    'check(1)',
    'check(2)',
    'check("a b")',
    'check("a" + "b")',
    'other(check(1))',
    'check(other(1))',
    'other(check)',
)


def python_file(bodies: list[str], draw: random.Random) -> str:
    """Formatted now so, now otherwise, as black or a person might."""
    text = draw.choice(['', '# a comment\n', '"""Text, check(1)."""\n'])
    for number, body in enumerate(bodies):
        name = draw.choice([f'test_{number}', f'test_of_{number}'])
        body = body.replace('"a b"', draw.choice(['"a b"', "'a b'", '("a " "b")', "'a'\n  ' b'"]))
        head = draw.choice(['():', '() -> None:'])
        suite = draw.choice([f' {body}', f'\n  {body}', f'\n  """Doc."""\n  # so\n  {body}'])
        if '\n  ' in body:
            suite = f'\n  {body.replace(chr(10), " ")}'
        text += f'def {name}{head}{suite}\n'
    return text


def java_file(bodies: list[str], draw: random.Random) -> str:
    tests = ''
    for number, body in enumerate(bodies):
        space = draw.choice([' ', '\n', ' /* check(1) */ ', ' // so\n'])
        name = draw.choice([f'a{number}', f'b{number}'])
        tests += f'@Test{space}void {name}() {{{space}{body};{space}}}\n'
    return f'class {draw.choice(["ATest", "BTest"])} {{\n{tests}}}\n'


def go_file(bodies: list[str], draw: random.Random) -> str:
    tests = ''
    for number, body in enumerate(bodies):
        space = draw.choice(['\n', '\n// check(1)\n', '\n\n'])
        name = draw.choice([f'TestA{number}', f'TestB{number}'])
        tests += f'func {name}(t *testing.T) {{{space}{body}{space}}}\n'
    return f'package a\nimport "testing"\n{tests}'


@dataclass(frozen=True, slots=True)
class Kind:
    suffix: str
    write: Callable[[list[str], random.Random], str]


KINDS = {
    'python': Kind('.py', python_file),
    'java': Kind('.java', java_file),
    'go': Kind('_test.go', go_file),
}


@dataclass
class RandomHistory:
    """A repository that grows: rebased, amended, merged, cherry-picked, with clocks that jump."""

    repo: Path
    language: str
    draw: random.Random
    heads: list[str] = field(default_factory=list)
    number: int = 0

    def grow(self) -> None:
        """Add one commit to some head, or to several at once."""
        parents = self.draw.sample(
            self.heads, min(len(self.heads), self.draw.choice([1, 1, 1, 2, 3]))
        )
        kind = KINDS[self.language]
        there = git(self.repo, 'ls-tree', '-r', '--name-only', parents[0]).split()
        files: dict[str, str | bytes | None] = {}
        for name in self.draw.sample(['a', 'b', 'c/d'], self.draw.choice([0, 1, 1, 2])):
            bodies = self.draw.sample(BODIES, self.draw.randrange(4))
            path = f'{name}{kind.suffix}'
            goes = path in there and self.draw.random() < 0.2
            files[path] = None if goes else kind.write(bodies, self.draw)
        date, author = self._day(), self._day()
        rev = commit(
            self.repo,
            f'{self.number}',
            files,
            date=date,
            author_date=self.draw.choice([date, author]),
            parents=parents,
        )
        git(self.repo, 'update-ref', f'refs/heads/b{self.number}', rev)
        self.heads = [*self.heads, rev][-4:]
        self.number += 1

    def members(self) -> dict[str, Member]:
        """One way to write each body, by the hash of its block."""
        kind = KINDS[self.language]
        text = kind.write(list(BODIES), random.Random(0)).encode()
        members = [m for t in get_reading(self.language).parse(text).types for m in t.members]
        return {str(m.body_hash): m for m in members if m.body_hash is not None}

    def _day(self) -> str:
        clock = self.number if self.draw.random() < 0.6 else self.draw.randrange(25)
        return f'2020-01-{clock + 1:02d}T00:00:00Z'


@pytest.mark.parametrize('language', KINDS)
@pytest.mark.parametrize('seed', range(3))
def test_dates_on_random_histories_match_the_definition(
    tmp_path: Path, language: str, seed: int
) -> None:
    check_history(tmp_path, language, seed)


@pytest.mark.slow
@pytest.mark.parametrize('language', KINDS)
@pytest.mark.parametrize('seed', range(3, 120))
def test_dates_on_many_random_histories_match_the_definition(
    tmp_path: Path, language: str, seed: int
) -> None:
    check_history(tmp_path, language, seed)


def check_history(tmp_path: Path, language: str, seed: int) -> None:
    """Search at once, and after each of three growths with what was known before."""
    repo = init(tmp_path / 'repo')
    root = commit(repo, 'root', {'README.md': ''}, date='2020-01-20T00:00:00Z')
    history = RandomHistory(repo, language, random.Random(seed), [root])
    members = history.members()
    known: SeenBodies | None = None
    for part in range(3):
        for _ in range(6):
            history.grow()
        expected = naive_dates(repo, language, members)
        # A body that is wanted later is looked for in the whole history.
        asked = list(members.values())[: len(members) - 2 + part]
        known = search_again(repo, asked, language, crawled_at=CRAWLED, known=known)
        fresh = search_again(repo, asked, language, crawled_at=CRAWLED)
        blocks = {str(member.body_hash) for member in asked}
        assert {each.body: each.date for each in fresh.seen if each.body in blocks} == {
            body: date for body, date in expected.items() if body in blocks
        }
        assert {each.body: each.moment for each in known.seen} == {
            each.body: each.moment for each in fresh.seen
        }
