"""Whether MultiFileTest's JavaScript projects load: each file required in a test of its own, by the projects' own Jest.

Their copies have no settings; those of `ckmeans`, which has them, serve for all: Babel, and jsdom for a browser.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.published_families.ckmeans import install
from benchmarks.published_families.projects import projects
from benchmarks.published_families.sandboxed import output
from coevo.git.repository import Repository
from coevo.sandboxes.sandbox import Mount

_RUN = """\
cp -r /in/project /w/project && cd /w/project
node node_modules/jest/bin/jest.js --no-cache --coverage=false --json --outputFile=/w/said.json projects >/dev/null 2>&1
cat /w/said.json
"""


def loads(data: Repository) -> Iterator[tuple[str, str]]:
    """Each project with `loads`, or the first file that does not and what it says."""
    known = {
        project: [path for path in files if path.endswith('.js')]
        for project, files in projects(data, 'javascript').items()
    }
    ends = _ends(data)
    for project, paths in known.items():
        others = (f'{path}: {ends[path]}' for path in paths if ends[path] != 'loads')
        yield project, next(others, 'loads')


def _ends(data: Repository) -> dict[str, str]:
    """By path, what requiring the file came to; of one that no test names, `lost`."""
    with tempfile.TemporaryDirectory(prefix='coevo-') as name:
        folder = Path(name)
        folder.chmod(0o755)
        install(data, folder / 'project')
        paths = list(_write(data, folder / 'project'))
        said = json.loads(output(('/bin/sh', '-c', _RUN), (Mount(source=folder, target='/in'),)))
    found = {
        test['title']: 'loads' if test['status'] == 'passed' else test['failureMessages'][0]
        for file in said['testResults']
        for test in file['assertionResults']
    }
    return {path: found.get(path, 'lost').partition('\n')[0] for path in paths}


def _write(data: Repository, folder: Path) -> Iterator[str]:
    """All projects, a test beside each file of theirs; the paths of the files."""
    for one in projects(data, 'javascript').values():
        for path, text in one.items():
            file = folder / 'projects' / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(text)
            if path.endswith('.js'):
                test = f"test({json.dumps(path)}, () => {{ require('./{file.name}') }})\n"
                file.with_suffix('.load.test.js').write_text(test)
                yield path
