"""What makes pairs due again, asked of a copy of the product's own code that is edited."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from coevo.languages.code_digest import (
    PACKAGES,
    digest_reached_modules_and_files,
    list_differing_names,
)
from coevo.languages.table import LANGUAGES
from coevo.model.profiles import load_profile
from flows.segment_keys import compute_basis, explain_stale, make_mining_roots

ROOT = Path(__file__).parents[2]
PYTHON = make_mining_roots('python')


@pytest.fixture(scope='module')
def product(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp('product')
    for package in PACKAGES:
        ignored = shutil.ignore_patterns('__pycache__', 'node_modules', 'demo', 'site')
        shutil.copytree(ROOT / package, folder / package, ignore=ignored)
    return folder


def digest(product: Path) -> dict[str, str]:
    return digest_reached_modules_and_files(
        {package: product / package for package in PACKAGES}, PYTHON
    )


@pytest.fixture(scope='module')
def before(product: Path) -> dict[str, str]:
    return digest(product)


def edit(product: Path, name: str, old: str, new: str) -> tuple[str, ...]:
    """Return the parts that an edit changes, and undo it."""
    path = product / name
    text = path.read_text()
    assert old in text
    before = digest(product)
    path.write_text(text.replace(old, new, 1))
    after = digest(product)
    path.write_text(text)
    return list_differing_names(before, after)


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ('name', 'old', 'new', 'changed'),
    [
        ('filters/gap.py', 'Only the walks', 'Some walks', ()),
        ('filters/gap.py', '> profile.gap_hours', '>= profile.gap_hours', ('filters.gap',)),
        (
            'coevo/model/labels.py',
            'if not open_rows:',
            'if len(open_rows) < 2:',
            ('coevo.model.labels',),
        ),
        (
            'coevo/languages/python/resolution.py',
            'def _apply_workaround',
            'def _never_called() -> None: ...\n\n\ndef _apply_workaround',
            (),
        ),
        (
            'coevo/languages/python/inside/worker.py',
            'import sys\n',
            'import sys\nsys.flags\n',
            ('coevo/languages/python/inside/worker.py',),
        ),
        ('coevo/languages/golang/cells.py', 'def ', 'def unused() -> None: ...\n\n\ndef ', ()),
        ('coevo/engine/evidence.py', '"""', '"""Other words: ', ()),
    ],
)
def test_edit_of_the_product_makes_python_pairs_due_if_their_rows_depend_on_it(
    product: Path, name: str, old: str, new: str, changed: tuple[str, ...]
) -> None:
    assert edit(product, name, old, new) == changed


def test_mining_depends_on_filters_labels_and_the_engine_of_its_language(
    before: dict[str, str],
) -> None:
    filters = {f'filters.{path.stem}' for path in (ROOT / 'filters').glob('[a-z]*.py')}
    filters -= {'filters.reasons'}  # it writes a page
    assert filters <= {*before}
    wanted = {
        *('coevo.model.labels', 'coevo.engine.evidence', 'coevo.languages.python.resolution'),
        *('coevo.languages.python.inside', 'coevo/languages/python/inside/observer.c'),
        *('coevo.sandboxes.bubblewrap', 'miners.diffs.changes', 'flows.study.track_checks'),
    }
    assert wanted - {'coevo.languages.python.inside'} <= {*before}
    others = ('coevo.languages.java', 'coevo.languages.golang', 'packagers', 'coevo.evaluation')
    assert not [part for part in before if part.startswith(others)]


@pytest.mark.parametrize('language', sorted(LANGUAGES))
def test_basis_of_now_is_not_stale(language: str) -> None:
    basis = compute_basis(load_profile('default'), language)
    assert explain_stale(basis) is None
    assert basis.basis_id != compute_basis(load_profile('quick'), language).basis_id
