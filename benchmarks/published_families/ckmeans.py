"""MultiFileTest's project `ckmeans` with its published test, by the project's own Jest: coverage, four times over.

Each way is run twice in place. As the project is set up, the second run takes the first one's report for sources; with
the report outside of the project both runs say the same. Packages come by the project's own lock, the runs are in the
sandbox.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from pathlib import Path

from benchmarks.published_families.sandboxed import output
from coevo.git.repository import Repository
from coevo.sandboxes.sandbox import Mount

FOLDER = 'jstest/GPT3.5/ProjectTest/JS/original_fix/ckmeans/'
FILES = (
    *('.babelrc', 'package.json', 'package-lock.json', 'ckmeans.js', 'ckmeans0.test.js'),
    *('make_matrix.js', 'numeric_sort.js', 'unique_count_sorted.js'),
)
EXPECTED = {
    'report elsewhere': ('97.82/91.66/97.64', '97.82/91.66/97.64'),
    'report in place': ('97.82/91.66/97.64', '…/…/40.48'),
}
_RUNS = """\
set -e
for way in elsewhere place; do
    cp -r /in/project /w/$way
    cd /w/$way
    case $way in
        elsewhere) options='--coverageDirectory=/w/report --coverageReporters=json-summary' ;;
        place) options='--coverageReporters=lcov --coverageReporters=json-summary' ;;
    esac
    for run in 1 2; do
        node node_modules/jest/bin/jest.js --no-cache $options >/w/said 2>&1 || cat /w/said >&2
        cat /w/report/coverage-summary.json coverage/coverage-summary.json 2>/dev/null | head -1
        rm -rf /w/report
    done
done
"""


def table(data: Repository) -> dict[str, tuple[str, ...]]:
    """Statements/branches/lines in percent, of the first and of the second run of each way."""
    with tempfile.TemporaryDirectory(prefix='coevo-') as name:
        folder = Path(name)
        folder.chmod(0o755)
        install(data, folder / 'project')
        said = output(('/bin/sh', '-c', _RUNS), (Mount(source=folder, target='/in'),))
    lines = said.decode().splitlines()
    totals = [_told(json.loads(f'{line.rstrip(",")}}}')) for line in lines if 'total' in line]
    return {'report elsewhere': tuple(totals[:2]), 'report in place': tuple(totals[2:])}


def _told(summary: dict[str, dict[str, dict[str, float]]]) -> str:
    total = summary['total']
    return '/'.join(f'{total[name]["pct"]:.2f}' for name in ('statements', 'branches', 'lines'))


def install(data: Repository, folder: Path) -> None:
    folder.mkdir(mode=0o755)
    tree = data.tree(data.get_commit('HEAD').rev)
    for name in FILES:
        (folder / name).write_bytes(data.blob(tree[FOLDER + name].oid))
    npm = shutil.which('npm') or 'npm'
    command = [npm, 'ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
    subprocess.run(command, cwd=folder, check=True)
