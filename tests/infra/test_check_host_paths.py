"""The check of `make lint` that finds a write whose path may contain text of a stranger."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

CHECK = Path(__file__).resolve().parents[2] / 'infra' / 'check_host_paths.py'

HEAD = """
import shutil
import tempfile
from pathlib import Path
from coevo.storage.beneath import join_beneath
"""

FOUND = {
    'a name is joined and written': 'def f(root: Path, name: str) -> None:\n    (root / name).write_bytes(b"")',
    'through a variable': (
        'def f(root: Path, name: str) -> None:\n    place = root / "src" / name\n    place.mkdir(parents=True)'
    ),
    'the parent of what a name leads to': (
        'def f(root: Path, name: str) -> None:\n    place = root / name\n    place.parent.mkdir()'
    ),
    'a whole folder is removed': 'def f(root: Path, name: str) -> None:\n    shutil.rmtree(Path(root, "src", name))',
    'a target of renaming': 'def f(old: Path, root: Path, name: str) -> None:\n    old.rename(root / name)',
    'a formatted name': 'def f(root: Path, name: str) -> None:\n    (root / f"{name}.json").write_text("")',
    'a field of a record': 'def f(root: Path, row) -> None:\n    (root / row.task_id).touch()',
    'an open file': 'def f(root: Path, name: str) -> None:\n    with (root / name).open("wb") as file:\n        file.write(b"")',
    'a function that writes at its parameter': (
        'def write(place: Path) -> None:\n    place.write_bytes(b"")\n\n'
        'def f(root: Path, name: str) -> None:\n    write(root / name)'
    ),
    'a function that passes its parameter on': (
        'def write(place: Path) -> None:\n    place.write_bytes(b"")\n\n'
        'def again(place: Path) -> None:\n    write(place / "a")\n\n'
        'def f(root: Path, name: str) -> None:\n    again(root / name)'
    ),
    'a function that returns such a path': 'def f(root: Path, name: str) -> Path:\n    return root / name',
    'a new name': 'def f(root: Path, name: str) -> None:\n    root.with_name(name).unlink()',
    'a name of a list': 'def f(root: Path, names: list[str]) -> None:\n    for name in names:\n        (root / name).mkdir()',
}

QUIET = {
    'a literal': 'def f(root: Path) -> None:\n    (root / "src" / "a").mkdir()',
    'a constant': 'NAME = "a"\n\ndef f(root: Path) -> None:\n    (root / NAME).mkdir()',
    'literals in a loop': 'def f(root: Path) -> None:\n    for name in ("a", "b"):\n        (root / name).mkdir()',
    'a digest': 'def f(root: Path, found) -> None:\n    (root / found.hexdigest()[:2]).mkdir()',
    'an entry of a folder': (
        'def f(root: Path, other: Path) -> None:\n    for path in sorted(other.iterdir()):\n'
        '        shutil.copyfile(path, root / path.name)'
    ),
    'a path of ours': 'def f(place: Path) -> None:\n    place.write_bytes(b"")',
    'a temporary folder': (
        'def f() -> None:\n    with tempfile.TemporaryDirectory() as folder:\n        (Path(folder) / "a").mkdir()'
    ),
    'a path that was proven': 'def f(root: Path, name: str) -> None:\n    join_beneath(root, name).write(b"")',
    'a name that is said to be ours': (
        'def f(root: Path, name: str) -> None:\n    (root / name).mkdir()  # own name: one of two'
    ),
    'reading': 'def f(root: Path, name: str) -> bytes:\n    return (root / name).read_bytes()',
}


def check(file: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, CHECK, file], capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize('kind', FOUND)
def test_the_check_reports_a_write_to_a_path_with_an_untrusted_name(
    tmp_path: Path, kind: str
) -> None:
    file = tmp_path / 'module.py'
    file.write_text(f'{HEAD}\n{FOUND[kind]}\n')
    done = check(file)
    assert done.returncode == 1, done.stdout
    assert 'make it by coevo.storage.beneath.join_beneath' in done.stdout


@pytest.mark.parametrize('kind', QUIET)
def test_the_check_accepts_a_write_to_a_path_with_trusted_names(tmp_path: Path, kind: str) -> None:
    file = tmp_path / 'module.py'
    file.write_text(f'{HEAD}\n{QUIET[kind]}\n')
    done = check(file)
    assert (done.returncode, done.stderr) == (0, ''), done.stdout
