"""Lock files: what they pin, and environments that keep to it, with the real index."""

from __future__ import annotations

from pathlib import Path

import pytest

from coevo.git.repository import Repository
from coevo.languages.python.requirements.locks import load_pins
from tests.coevo.languages.python.shops import PROJECT, Shop, shop
from tests.repos import commit, init

UV = """\
version = 1
[[package]]
name = "till"
version = "1.0"
source = { editable = "." }
[[package]]
name = "Six"
version = "1.16.0"
source = { registry = "here" }
[[package]]
name = "numpy"
version = "1.24.4"
source = { registry = "here" }
resolution-markers = ["python_full_version < '3.9'"]
[[package]]
name = "numpy"
version = "2.0.0"
source = { registry = "here" }
resolution-markers = ["python_full_version == '3.9.*'", "python_full_version >= '3.10'"]
"""
POETRY = """\
[[package]]
name = "six"
version = "1.16.0"
python-versions = "*"
[[package]]
name = "attrs"
version = "22.2.0"
python-versions = ">=3.6,<3.8"
[[package]]
name = "attrs"
version = "23.1.0"
python-versions = ">=3.8"
[[package]]
name = "rich"
version = "13.0"
python-versions = "*"
[[package]]
name = "rich"
version = "12.0"
python-versions = ">=3.6"
[[package]]
name = "mine"
version = "0.1"
[package.source]
type = "git"
[[package]]
name = "torch"
version = "2.0+cpu"
[metadata]
lock-version = "2.0"
"""
PDM = """\
[[package]]
name = "six"
version = "1.16.0"
requires_python = ">=2.7"
[[package]]
name = "mine"
version = "0.1"
git = "somewhere"
"""
PYLOCK = """\
lock-version = "1.0"
[[packages]]
name = "six"
version = "1.16.0"
[[packages]]
name = "mine"
version = "0.1"
[packages.directory]
path = "."
"""
PIPFILE = """\
{"default": {"six": {"version": "==1.16.0", "markers": "python_version > '3'"}},
 "develop": {"mine": {"editable": true, "path": "."}}}
"""
LIST = """\
six==1.16.0 \\
    --hash=sha256:00
    # via till
attrs==23.1.0 ; python_version >= "3.8"
"""


def pinned(folder: Path, **files: str) -> tuple[str, ...]:
    """By names of files with `__` for a dot and `___` for a slash."""
    repo = init(folder / 'repo')
    texts = {name.replace('___', '/').replace('__', '.'): text for name, text in files.items()}
    rev = commit(repo, 'all', {**texts})
    return load_pins(Repository(repo / '.git'), rev)


def test_uv_lock_pins_each_version_for_its_interpreters(tmp_path: Path) -> None:
    assert pinned(tmp_path, uv__lock=UV) == (
        "numpy==1.24.4 ; ((python_full_version < '3.9'))",
        "numpy==2.0.0 ; ((python_full_version == '3.9.*') or (python_full_version >= '3.10'))",
        'six==1.16.0',
    )


def test_poetry_lock_distinguishes_versions_by_interpreters_only(tmp_path: Path) -> None:
    """Of `rich` nothing says which is meant; what Git and other indexes have is left out."""
    assert pinned(tmp_path, poetry__lock=POETRY) == (
        "attrs==22.2.0 ; (python_full_version >= '3.6' and python_full_version < '3.8')",
        "attrs==23.1.0 ; (python_full_version >= '3.8')",
        'six==1.16.0',
    )


@pytest.mark.parametrize(
    'files',
    [{'pdm__lock': PDM}, {'pylock__toml': PYLOCK}, {'Pipfile__lock': PIPFILE}],
    ids=['pdm', 'pylock', 'pipenv'],
)
def test_pdm_pylock_and_pipenv_locks_are_read(tmp_path: Path, files: dict[str, str]) -> None:
    assert pinned(tmp_path, **files) == ('six==1.16.0',)


def test_requirements_list_is_a_lock_if_all_its_entries_are_pinned(tmp_path: Path) -> None:
    assert pinned(tmp_path, requirements___dev__txt=LIST) == ('attrs==23.1.0', 'six==1.16.0')
    assert pinned(tmp_path / 'b', requirements__txt='six==1.16.0\nattrs>=23\n') == ()


def test_contradicting_lists_do_not_pin_the_disputed_package(tmp_path: Path) -> None:
    found = pinned(
        tmp_path,
        requirements__txt='six==1.16.0\nattrs==22.1.0\n',
        dev_requirements__txt='six==1.16.0\nattrs==23.1.0\n',
    )
    assert found == ('six==1.16.0',)


def test_unreadable_lock_files_pin_nothing(tmp_path: Path) -> None:
    assert pinned(tmp_path, uv__lock='[[package', Pipfile__lock='{', poetry__lock=POETRY)[-1] == (
        'six==1.16.0'
    )


# -- environments ----------------------------------------------------------------------------------

NEEDING = f'{PROJECT}dependencies = ["six", "docopt"]\n'
FILES = {'till.py': 'price = 1\n', 'tests/test_till.py': 'def test_sells():\n    assert 1\n'}


def versions(place: Shop, rev: str) -> dict[str, str]:
    found = place.built.describe_environment(rev, '.')
    assert found is not None
    return dict(entry.coordinates.split('==') for entry in found.libraries)


def test_lock_of_the_new_revision_applies_to_both_revisions(tmp_path: Path) -> None:
    old = {**FILES, 'requirements.txt': 'six==1.14.0\n'}
    with shop(
        tmp_path, old, {'requirements.txt': 'six==1.15.0\npluggy==1.3.0\n'}, NEEDING
    ) as place:
        for rev in (place.old, place.new):
            found = versions(place, rev)
            assert (found['six'], found['pluggy']) == ('1.15.0', '1.3.0')


@pytest.mark.slow
def test_unsolvable_lock_is_ignored(tmp_path: Path) -> None:
    lock = {'constraints.txt': 'six==1.15.0\n'}
    with shop(tmp_path, FILES, lock, f'{PROJECT}dependencies = ["six<1.15"]\n') as place:
        assert versions(place, place.new)['six'] == '1.14.0'
        assert 'without-lock' in place.builds[1].overrides


@pytest.mark.slow
def test_package_without_a_wheel_is_not_bound_by_the_lock(tmp_path: Path) -> None:
    lock = {'requirements.txt': 'six==1.15.0\ndocopt==0.6.1\n'}
    with shop(tmp_path, FILES, lock, NEEDING) as place:
        found = versions(place, place.new)
        assert (found['six'], found['docopt']) == ('1.15.0', '0.6.2')
        assert place.builds[1].overrides == ('unlocked-docopt', 'built-docopt')
