"""The virtual environment in which the commands of a task run its tests.

Where a task's commands are run as they stand, `uv venv` and `uv pip install` make the folder .venv.
Where its packages are there already, it consists of links and of the project's name and folders. The
project itself is not installed: nothing is built.
"""

from __future__ import annotations

import posixpath
from contextlib import closing
from pathlib import Path

from coevo.git.repository import Repository
from coevo.languages.kits import ProjectFile
from coevo.languages.python import layout
from coevo.languages.python.built import make_module
from coevo.languages.python.launch import PythonSetup
from coevo.languages.python.places import PACKAGES
from coevo.languages.python.requirements.reading import load_needs

_FOLDER = '.venv'


def make_virtual_environment(
    setup: PythonSetup, start: Path, module: str
) -> dict[str, ProjectFile]:
    """Return the files of .venv in the folder of a module, by their paths at the start state.

    They lead to the interpreter and the packages at their places in a sandbox. Modules that a build
    generates are among them, beside .venv.

    start   the start state, a Git repository of one commit
    module  '.' for the root
    """
    with closing(Repository(start / '.git')) as repository:
        rev = repository.resolve('HEAD')
        needs = load_needs(repository, rev, module)
        own = make_module(repository, rev, module, needs, setup.installed)
    metadata = layout.make_metadata(needs)
    files = {path: ProjectFile(content=text) for path, text in own.written}
    release = f'python{setup.interpreter.release}'
    site = f'lib/{release}/site-packages'
    home = setup.python.rpartition('/')[0]
    inner = {
        'pyvenv.cfg': f'home = {home}\ninclude-system-site-packages = false\n'.encode(),
        f'{site}/coevo.pth': _format_paths(own.roots, module, f'{_FOLDER}/{site}'),
        **{f'{site}/{path}': content for path, content in metadata.items()},
    }
    folder = posixpath.normpath(posixpath.join(module, _FOLDER))
    links = {f'bin/{name}': setup.python for name in ('python', 'python3', release)}
    return {
        **files,
        **{f'{folder}/{path}': ProjectFile(content=content) for path, content in inner.items()},
        **{f'{folder}/{path}': ProjectFile(target=target) for path, target in links.items()},
    }


def _format_paths(roots: tuple[str, ...], module: str, site: str) -> bytes:
    """Return a .pth file that adds the folders of the project, and then its packages, to sys.path.

    A line that is a path is relative to the folder of the file.
    """
    up = '/'.join('..' for _ in site.split('/'))
    lines = [posixpath.normpath(posixpath.join(up, posixpath.relpath(r, module))) for r in roots]
    add = f"import site; site.addsitedir('{PACKAGES}')"
    return ''.join(f'{line}\n' for line in (*lines, add)).encode(errors='surrogateescape')
