"""Find what tests can import from a tree, and make what an installation would add to it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping

from packaging.utils import canonicalize_name

from coevo.languages.python.requirements.stated import Needs
from coevo.languages.python.sides import select_test_paths

# Folders that may hold a project's packages.
_SOURCE_FOLDERS = ('src', 'lib', 'source')

# Packages that do not belong to the API of a project.
_ASIDE = frozenset(
    {'docs', 'doc', 'examples', 'example', 'benchmarks', 'bench', 'scripts', 'tools'}
)

# Settings for modules that a build generates from Git tags (setuptools_scm, hatch-vcs, pdm).
_WRITTEN = re.compile(
    r'(?m)^\s*(?:[\w-]+\.)*(?:write_to|version_file|version-file|write-to)\s*=\s*["\']?([\w./-]+\.py)["\']?'
)
_VERSION = b"__version__ = version = '0'\n__version_tuple__ = version_tuple = (0,)\n"


def find_import_roots(paths: Collection[str], folder: str) -> tuple[str, ...]:
    """Return the folders that a project needs on `sys.path`, relative to the tree, in order.

    They are its folders `src`, `lib` and `source`, if they have modules and are no packages, then
    the folder itself.

    paths  of all files of the tree
    """
    prefix = '' if folder == '.' else f'{folder}/'
    roots = []
    for name in _SOURCE_FOLDERS:
        below = f'{prefix}{name}/'
        is_package = f'{below}__init__.py' in paths
        if not is_package and any(p.startswith(below) and p.endswith('.py') for p in paths):
            roots.append(f'{prefix}{name}')
    return (*roots, folder)


def find_top_packages(paths: Collection[str], roots: Collection[str]) -> frozenset[str]:
    """Return the names of the packages and modules of the code that lie directly in a root.

    Tests are left out, as are folders such as docs and examples.
    """
    theirs = select_test_paths(paths)
    names = set()
    for path in paths:
        if path in theirs or not path.endswith('.py'):
            continue
        for root in roots:
            prefix = '' if root == '.' else f'{root}/'
            if path.startswith(prefix):
                names.add(path[len(prefix) :].removesuffix('.py').partition('/')[0])
    return frozenset(name for name in names - _ASIDE if name.isidentifier())


def find_main_packages(
    paths: Collection[str], roots: Collection[str], name: str | None
) -> tuple[str, ...]:
    """Return the package whose name is that of the project; () if there is none.

    It has to be importable for the tests to give results. Case, dashes and underscores do not
    count: `typing-extensions` has `typing_extensions`.
    """
    tops = find_top_packages(paths, roots)
    wanted = canonicalize_name(name or '').replace('-', '')
    return tuple(sorted(top for top in tops if wanted and top.replace('_', '').lower() == wanted))


def list_generated_modules(settings: Collection[bytes], folder: str) -> Iterator[tuple[str, bytes]]:
    """Yield path and content of each module that a build would generate from the tags of Git.

    Settings such as `write_to` name the path. The content says that the version is 0.

    settings  the contents of the project's files with settings
    """
    prefix = '' if folder == '.' else f'{folder}/'
    for source in settings:
        for path in _WRITTEN.findall(source.decode(errors='replace')):
            if '..' not in path and not path.startswith('/'):
                yield prefix + path.removeprefix('./'), _VERSION


def make_metadata_files(needs: Needs) -> Mapping[str, bytes]:
    """Return the files of a .dist-info folder, by path: a name, a version and entry points.

    An unknown version is 0; the format of a version is not checked. {} for a project without a
    valid name.
    """
    if needs.name is None or not re.fullmatch(r'[\w.-]+', needs.name):
        return {}
    version = needs.version if needs.version and re.fullmatch(r'[\w.+!-]+', needs.version) else '0'
    stem = re.sub(r'[-_.]+', '_', needs.name)
    folder = f'{stem}-{version.replace("-", "_")}.dist-info'
    head = f'Metadata-Version: 2.1\nName: {needs.name}\nVersion: {version}\n'
    points = ''.join(
        f'[{group}]\n' + ''.join(f'{line.strip()}\n' for line in lines if '=' in line)
        for group, lines in needs.entry_points
    )
    return {
        f'{folder}/METADATA': head.encode(),
        f'{folder}/INSTALLER': b'coevo\n',
        f'{folder}/RECORD': b'',
        f'{folder}/entry_points.txt': points.encode(errors='replace'),
    }
