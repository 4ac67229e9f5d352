"""Rewrite the assertions of pytest's plugins, without running these, into byte code files.

pytest rewrites each module of a package that announces a plugin (entry points `pytest11`), and
keeps the byte code beside it. The arguments are the folder of packages and the date of its files,
in seconds since 1970. The archive on file descriptor 3 has the files that pytest would keep, and a
last member `.coevo-end`. A module is left to pytest if it does not compile, if there is a warning,
or if the packages before it have more than 16 MiB of sources.
"""

import base64
import importlib.util
import io
import os
import site
import sys
import tarfile

_MOST_BYTES = 16 << 20
_END = '.coevo-end'


def main():
    """Write the archive."""
    folder, date = sys.argv[1], int(sys.argv[2])
    rewriter = _import_rewriter()
    site.addsitedir(folder)
    from _pytest.assertion import rewrite

    left = _MOST_BYTES
    with os.fdopen(3, 'wb') as out, tarfile.open(fileobj=out, mode='w|') as archive:
        for path in list_plugin_sources(folder):
            with open(os.path.join(folder, path), 'rb') as file:
                source = file.read(left + 1)
            left -= len(source)
            if left < 0:
                break
            code = rewriter.rewrite_source(rewrite, date, os.path.join(folder, path), source)
            if code is not None:
                head, name = os.path.split(path)
                beside = os.path.join(head, '__pycache__', name[: -len('.py')] + rewrite.PYC_TAIL)
                _add_file(archive, beside, base64.b64decode(code))
        _add_file(archive, _END, b'')


def list_plugin_sources(folder):
    """Return the modules of all packages with a plugin, as paths in the folder of packages.

    Packages with few modules come first.
    """
    from importlib import metadata

    from _pytest.config import _iter_rewritable_modules

    names = set()
    for package in metadata.distributions(path=[folder]):
        if any(entry.group == 'pytest11' for entry in package.entry_points):
            names.update(_iter_rewritable_modules([str(file) for file in package.files or ()]))
    groups = [_list_modules(folder, name) for name in sorted(names) if '/' not in name]
    return [path for group in sorted(groups, key=len) for path in group]


def _list_modules(folder, name):
    """Return the source files of a top-level module or package, sorted."""
    paths = [name + '.py']
    for parent, _, files in os.walk(os.path.join(folder, name)):
        paths += [os.path.relpath(os.path.join(parent, file), folder) for file in files]
    return sorted(
        path
        for path in paths
        if path.endswith('.py') and os.path.isfile(os.path.join(folder, path))
    )


def _add_file(archive, name, content):
    member = tarfile.TarInfo(name)
    member.size = len(content)
    archive.addfile(member, io.BytesIO(content))


def _import_rewriter():
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'rewriter.py')
    spec = importlib.util.spec_from_file_location('coevo_rewriter', path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if __name__ == '__main__':
    main()
