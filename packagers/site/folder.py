"""Write the site whole, in the place of none or of an older one of ours."""

from __future__ import annotations

import dataclasses
import json
import shutil
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from coevo.model.errors import Fatal
from coevo.model.labels import TABLE
from coevo.model.listener import Say
from coevo.model.reasons import EXPLANATIONS
from coevo.snapshots import models
from coevo.snapshots.leaks import LEAST_LEAK
from coevo.snapshots.snapshot import LEAST_RUNS, LEAST_TIMEOUTS
from coevo.storage import durable
from coevo.storage.beneath import join_beneath
from packagers.site import months, reports
from packagers.site.bundle import build_bundle

INDEX = 'site.json'
# Of the index; a page reads what was written beside it, so nothing has to read older ones.
FORMAT = 1


def write_site(
    snapshots: Sequence[Path], out: Path, say: Say, results: Sequence[Path] = ()
) -> Path:
    """Write the site of these snapshots to `out`; Fatal if something else is there.

    results  folders of evaluations (`coevo evaluate --out`) against one of them each

    The same snapshots and results give the same bytes.
    """
    check_target(out)
    site_months = [months.load_month(path) for path in snapshots]
    twice = [
        name for name, count in Counter(month.name for month in site_months).items() if count > 1
    ]
    if twice:
        raise Fatal(f'two of the snapshots are of {twice[0]}: name one of each month')
    scored = reports.load_board_entries(results, [month.sha256 for month in site_months])
    page = build_bundle(say)
    parent = out.absolute().parent
    parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f'.{out.name}.new-', dir=parent) as folder:
        new_site = Path(folder) / 'made'
        _write_files(
            new_site, sorted(site_months, key=lambda month: month.name, reverse=True), scored, page
        )
        _swap_folders(new_site, out.absolute(), Path(folder) / 'old')
    durable.sync_to_disk(parent)
    return out


def _swap_folders(made: Path, target: Path, old: Path) -> None:
    """Put a folder in the place of another one, which goes to `old`, or stays if that fails."""
    if target.exists():
        target.rename(old)
    try:
        made.rename(target)
    except BaseException:
        if old.exists():
            old.rename(target)
        raise


def check_target(out: Path) -> None:
    """Fatal if `out` is neither free nor a site of ours."""
    if not out.exists() or (out.is_dir() and not any(out.iterdir())) or _is_ours(out):
        return
    raise Fatal(f'{out} is there and is no site of coevo: name another folder')


def _is_ours(out: Path) -> bool:
    try:
        index = json.loads((out / INDEX).read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(index, dict) and 'coevo_site' in index


def _write_files(
    folder: Path,
    found: Sequence[months.Month],
    scored: Mapping[str, Sequence[reports.BoardEntry]],
    page: Path,
) -> None:
    folder.mkdir(mode=0o755)
    for path in sorted(page.iterdir()):
        shutil.copyfile(path, folder / path.name)
    index = {
        'coevo_site': FORMAT,
        'months': [
            months.write_month(month, scored[month.sha256], join_beneath(folder, month.name).path)
            for month in found
        ],
        'evidence': describe_evidence(),
        'reasons': EXPLANATIONS,
        'models': [dataclasses.asdict(model) for model in models.load_published_models()],
    }
    durable.write_durably(
        folder / INDEX, [json.dumps(index, indent=1, sort_keys=True).encode() + b'\n']
    )
    for path in sorted(folder.rglob('*'), reverse=True):
        durable.sync_to_disk(path)


def describe_evidence() -> dict[str, Any]:
    """What makes a row one of the view `standard`, for the page to ask the same."""
    return {
        'least_runs': LEAST_RUNS,
        'least_timeouts': LEAST_TIMEOUTS,
        'least_leak': LEAST_LEAK,
        'labels': [
            {
                'label': row.label,
                'change': row.change,
                'cells': {cell: demand.value for cell, demand in row.demands.items()},
            }
            for row in TABLE
        ],
    }
