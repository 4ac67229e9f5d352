"""A reversed patch against Git, on files with and without a newline at their end."""

from __future__ import annotations

import subprocess
from pathlib import Path
from random import Random

import pytest

from coevo.exports.instances import reverse_patch
from tests.repos import git, init

LINES = ['a', 'b', '- c', '+ d', '-- e', '++ f', '']


def make_text(random: Random) -> str:
    lines = random.choices(LINES, k=random.randrange(12))
    return '\n'.join(lines) + random.choice(['', '\n']) if lines else ''


@pytest.fixture(scope='module')
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return init(tmp_path_factory.mktemp('reversed'))


@pytest.mark.parametrize('seed', range(20))
def test_reversed_patch_undoes_a_patch(folder: Path, seed: int) -> None:
    random = Random(seed)
    old, new = make_text(random), make_text(random)
    file = folder / 'tests' / 'a file.txt'
    file.parent.mkdir(exist_ok=True)
    for number, text in enumerate((old, new)):
        file.write_text(text)
        git(folder, 'add', '-A')
        git(folder, 'commit', '-q', '--allow-empty', '-m', f'step {number}')
    patch = _diff(folder, 'HEAD~', 'HEAD')
    if patch:
        _apply(folder, reverse_patch(patch))
    assert file.read_text() == old


@pytest.mark.parametrize('is_new', [True, False])
def test_reversed_patch_of_a_whole_file_removes_or_restores_it(
    tmp_path: Path, *, is_new: bool
) -> None:
    folder = init(tmp_path / 'work')
    (folder / 'other').write_text('1\n')
    git(folder, 'add', '-A')
    git(folder, 'commit', '-q', '-m', 'without')
    (folder / 'file').write_text('1\n2\n')
    git(folder, 'add', '-A')
    git(folder, 'commit', '-q', '-m', 'with')
    ends = ('HEAD~', 'HEAD') if is_new else ('HEAD', 'HEAD~')
    patch = _diff(folder, *ends)
    if not is_new:
        git(folder, 'checkout', '-q', 'HEAD~')
    _apply(folder, reverse_patch(patch))
    assert (folder / 'file').exists() != is_new


def _apply(folder: Path, patch: str) -> None:
    subprocess.run(['git', '-C', folder, 'apply', '-'], input=patch.encode(), check=True)


def _diff(folder: Path, *ends: str) -> str:
    words = ['git', '-C', folder, 'diff', *ends]
    return subprocess.run(words, check=True, capture_output=True).stdout.decode()
