"""Write the whole site to a new folder, or in place of an older site of coevo."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from coevo.model.errors import Fatal
from coevo.model.labels import TABLE
from coevo.model.listener import Say
from coevo.model.reasons import EXPLANATIONS
from coevo.sandboxes.host_tools import run_tool
from coevo.snapshots import cutoffs
from coevo.snapshots.cutoffs import LEAST_LEAK
from coevo.snapshots.snapshot import LEAST_RUNS, LEAST_TIMEOUTS
from coevo.storage import durable
from coevo.storage.beneath import join_beneath
from coevo.storage.disk import find_cache_folder
from coevo.storage.durable import build_folder_once
from packagers.site import months

INDEX = 'site.json'
# The version of the index; each page reads the index that was written with it, so older ones are
# never read.
FORMAT = 1

_ADDRESS = re.compile(r'https://[\w.-]+(/[\w.~%/#-]*)?', re.ASCII)
# Of coevo itself: how to cite it, and its licence.
_CHECKOUT = Path(__file__).parents[2]
_OWN_FILES = ('CITATION.cff', 'LICENSE')


def write_site(
    snapshots: Sequence[Path | str],
    out: Path,
    say: Say,
    results: Sequence[Path] = (),
    links: Mapping[str, str] | None = None,
) -> Path:
    """Write the site of these snapshots to `out`, in place of an older site; return `out`.

    snapshots  their folders, folders with editions of them, months, or the word `latest`
    results    folders of evaluations (`coevo evaluate --out`), each against one of the snapshots
    links      https:// addresses of `repository` and `manual`, where there are any

    The same snapshots and results give the same bytes. Raises: Fatal if something else is at `out`,
    or two snapshots are of one month.
    """
    check_site_folder(out)
    check_links(links or {})
    site_months = [months.load_month(path) for path in snapshots]
    twice = [
        name for name, count in Counter(month.name for month in site_months).items() if count > 1
    ]
    if twice:
        raise Fatal(f'two of the snapshots are of {twice[0]}: name one of each month')
    scored = months.load_board_entries(
        results, {month.sha256: month.accepted_checksums for month in site_months}
    )
    page = build_bundle(say)
    parent = out.absolute().parent
    parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f'.{out.name}.new-', dir=parent) as folder:
        new_site = Path(folder) / 'made'
        _write_files(
            new_site,
            sorted(site_months, key=lambda month: month.name, reverse=True),
            scored,
            page,
            links or {},
        )
        _swap_folders(new_site, out.absolute(), Path(folder) / 'old')
    durable.sync_to_disk(parent)
    return out


def _swap_folders(made: Path, target: Path, old: Path) -> None:
    """Put a folder in place of another one, which moves to `old`.

    On failure the other one is restored.
    """
    if target.exists():
        target.rename(old)
    try:
        made.rename(target)
    except BaseException:
        if old.exists():
            old.rename(target)
        raise


def check_site_folder(out: Path) -> None:
    """Raise Fatal if `out` is neither free nor a site of coevo."""
    if not out.exists() or (out.is_dir() and not any(out.iterdir())) or _is_site_of_coevo(out):
        return
    raise Fatal(f'{out} is there and is no site of coevo: name another folder')


def check_links(links: Mapping[str, str]) -> None:
    """Raise Fatal for an address that the page could not link to as it is."""
    for name, address in links.items():
        if not _ADDRESS.fullmatch(address):
            raise Fatal(
                f'the address of the {name}, {address!r}, is no https:// address: name that'
            )


def _is_site_of_coevo(out: Path) -> bool:
    try:
        index = json.loads((out / INDEX).read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(index, dict) and 'coevo_site' in index


def _write_files(
    folder: Path,
    found: Sequence[months.Month],
    scored: Mapping[str, Sequence[months.BoardEntry]],
    page: Path,
    links: Mapping[str, str],
) -> None:
    folder.mkdir(mode=0o755)
    for path in (*sorted(page.iterdir()), *(_CHECKOUT / name for name in _OWN_FILES)):
        shutil.copyfile(path, folder / path.name)
    index = {
        'coevo_site': FORMAT,
        'months': [
            months.write_month(month, scored[month.sha256], join_beneath(folder, month.name).path)
            for month in found
        ],
        'evidence': describe_standard_view_conditions(),
        'reasons': EXPLANATIONS,
        'links': dict(links),
        'models': [dataclasses.asdict(model) for model in cutoffs.load_published_models()],
    }
    durable.write_durably(
        folder / INDEX, [json.dumps(index, indent=1, sort_keys=True).encode() + b'\n']
    )
    durable.sync_tree_to_disk(folder)


def describe_standard_view_conditions() -> dict[str, Any]:
    """Return the conditions of the view `standard`, so that the page can apply the same ones."""
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


# The rest bundles the page's program: coevo's sources and two small libraries in one file, made
# once by esbuild.
#
# `web/package-lock.json` names the packages from npm with checksums. The bundle is in the tool
# cache under a digest of the lock and the sources, so it is made again when these change.

_WEB = Path(__file__).with_name('web')
_LIBRARIES = ('hyparquet', 'fzstd')
_STORE = Path('/etc/ssl/certs/ca-certificates.crt')
# esbuild 0.28 and the language level of the page need no newer version.
_OLDEST_NODE = 18


def build_bundle(say: Say) -> Path:
    """Return the folder with the files of the page, from the tool cache.

    If it is not there, npm fetches and bundles them first, and `say` is called.
    """
    target = (
        find_cache_folder() / 'tools' / f'site-{_compute_source_digest()}'
    )  # own name: a digest
    if not target.is_dir():
        npm = _find_npm()
        with build_folder_once(target) as new:
            if new is not None:
                say('fetching and bundling what the page is made of (once)')
                _install_and_bundle(new, npm)
    return target


def _compute_source_digest() -> str:
    digest = hashlib.sha256()
    for path in _list_sources():
        digest.update(path.as_posix().encode() + b'\0' + (_WEB / path).read_bytes() + b'\0')
    return digest.hexdigest()[:16]


def _list_sources() -> list[Path]:
    """Return the paths of the page's sources relative to the web folder.

    What a developer's own `npm ci` left there is not among them.
    """
    paths = (path.relative_to(_WEB) for path in _WEB.rglob('*') if path.is_file())
    return sorted(path for path in paths if path.parts[0] not in ('node_modules', 'bundle'))


def _find_npm() -> str:
    node, npm = shutil.which('node'), shutil.which('npm')
    if node is None or npm is None or _get_node_major_version(node) < _OLDEST_NODE:
        raise Fatal(
            f'The page is bundled with npm on Node.js {_OLDEST_NODE} or newer, which is not on PATH; '
            'install it (apt install nodejs npm) and run again'
        )
    return npm


def _get_node_major_version(node: str) -> int:
    """Return 18, 20, … for `v20.1.0`; 0 if the version cannot be read."""
    done = subprocess.run([node, '--version'], check=False, capture_output=True, text=True)
    major = done.stdout.strip().removeprefix('v').partition('.')[0]
    return int(major) if major.isdecimal() else 0


def _install_and_bundle(folder: Path, npm: str) -> None:
    work = folder / 'work'
    for path in _list_sources():
        (work / path).parent.mkdir(parents=True, exist_ok=True)  # own name: a source of the page
        shutil.copyfile(_WEB / path, work / path)  # own name: a source of the page
    quiet = ['--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error']
    _run_npm(
        [npm, 'ci', '--ignore-scripts', *quiet], work, 'npm could not fetch what the page needs'
    )
    _run_npm([npm, 'run', '--silent', 'bundle'], work, 'esbuild could not bundle the page')
    for path in sorted((work / 'bundle').iterdir()):
        shutil.copyfile(path, folder / path.name)  # own name: what esbuild made
    shutil.copyfile(work / 'index.html', folder / 'index.html')
    (folder / 'licences.txt').write_text(
        '\n'.join(_load_licences_of_bundled_libraries(work / 'node_modules'))
    )
    shutil.rmtree(work)


def _run_npm(command: Sequence[str], folder: Path, sentence: str) -> None:
    environment = {**_make_certificate_environment(), **os.environ, 'NO_COLOR': '1'}
    run_tool(command, sentence, environment=environment, folder=folder)


def _make_certificate_environment() -> dict[str, str]:
    """Return the variable that points Node to the machine's certificates; empty without them.

    They include certificates of the local network that Node's own list lacks.
    """
    return {'NODE_EXTRA_CA_CERTS': str(_STORE)} if _STORE.is_file() else {}


def _load_licences_of_bundled_libraries(modules: Path) -> Iterator[str]:
    """Yield the licence notices that the bundled libraries require."""
    for name in _LIBRARIES:
        (licence,) = sorted((modules / name).glob('LICEN[CS]E*'))
        yield f'{name}\n\n{licence.read_text(encoding="utf-8").strip()}\n'
