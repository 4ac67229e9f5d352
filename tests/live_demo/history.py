"""The demo's repositories on its GitHub: three that can be mined, and one that does not build."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.projects import junit, pom, source
from tests.repos import commit, git, init

Files = Mapping[str, str | bytes | None]

# Commits after the first of each; the first of a history ends no pair.
GOOD = {'ada/till': 3, 'ada/scale': 2, 'grace/shelf': 2}
BROKEN = 'grace/ruin'
PUSHED_TO, PUSHED = 'ada/till', 2


def write(folder: Path) -> None:
    """Bare repositories OWNER/NAME.git in a folder that is made anew."""
    folder = folder.absolute()  # Git is run in another one
    shutil.rmtree(folder, ignore_errors=True)
    for name, pairs in GOOD.items():
        _publish(folder, name, list(_steps(name, 0, pairs + 1)))
    broken = {'pom.xml': pom(), **source('Ruin', '    public static int left() { return }\n')}
    _publish(folder, BROKEN, [broken])


def push(folder: Path) -> None:
    """New commits to one of them, a month later."""
    folder = folder.absolute()
    work = _work(folder, PUSHED_TO)
    first = GOOD[PUSHED_TO] + 1
    _commit(work, _steps(PUSHED_TO, first, first + PUSHED), '2024-02')
    git(work, 'push', '-q', str(_bare(folder, PUSHED_TO)), 'main')


def _publish(folder: Path, name: str, steps: list[Files]) -> None:
    work = init(_work(folder, name))
    _commit(work, steps, '2024-01')
    bare = _bare(folder, name)
    bare.parent.mkdir(parents=True, exist_ok=True)
    git(work, 'clone', '-q', '--bare', str(work), str(bare))


def _commit(work: Path, steps: list[Files] | Iterator[Files], month: str) -> None:
    for number, files in enumerate(steps):
        commit(work, f'step {number}', dict(files), date=f'{month}-01T{number:02}:00:00Z')


def _steps(name: str, first: int, end: int) -> Iterator[Files]:
    """Each changes what a method returns, and the test that says so."""
    thing = name.partition('/')[2].capitalize()
    for number in range(first, end):
        yield {
            'pom.xml': pom(),
            **source(thing, f'    public static int last() {{ return {number}; }}\n'),
            **junit(f'{thing}Test', f'answers: assertEquals({number}, {thing}.last());'),
        }


def _work(folder: Path, name: str) -> Path:
    return folder.with_name(f'{folder.name}-work') / name


def _bare(folder: Path, name: str) -> Path:
    return folder / f'{name}.git'
