"""Have the build backend of a project write its metadata or its modules, as for an installation.

See PEP 517. The working folder is the project's. Arguments: `metadata` or `modules`, a folder of
packages for the build, the backend and its paths. The answer goes to descriptor 3: a line of JSON
with pairs of a path and its content in Base64. The paths are those of the files of the .dist-info
folder, or of the Python files of the wheel. All of this is untrusted code: it runs in the sandbox,
without network.
"""

import base64
import importlib
import json
import os
import site
import sys
import zipfile

_OUT = '/tmp/coevo-built'


def main(wanted, packages, backend, paths):
    """Run the backend, and write the wanted files to descriptor 3.

    An error ends the program with nothing written, also if the backend does not offer metadata.
    """
    os.set_inheritable(3, False)
    site.addsitedir(packages)
    os.makedirs(_OUT)
    sys.path[:0] = [path for path in paths if path]
    module, _, member = backend.partition(':')
    build_backend = importlib.import_module(module)
    for name in filter(None, member.split('.')):
        build_backend = getattr(build_backend, name)
    sys.argv[:] = ['setup.py']
    files = (_make_metadata if wanted == 'metadata' else _make_modules)(build_backend)
    rows = [[path, base64.b64encode(content).decode()] for path, content in sorted(files)]
    with os.fdopen(3, 'w') as channel:
        json.dump(rows, channel)


def _make_metadata(backend):
    """Return path and content of each file of the .dist-info folder."""
    files = []
    for above, _, names in os.walk(
        os.path.join(_OUT, backend.prepare_metadata_for_build_wheel(_OUT, {}))
    ):
        for name in names:
            path = os.path.join(above, name)
            with open(path, 'rb') as file:
                files.append((os.path.relpath(path, _OUT), file.read()))
    return files


def _make_modules(backend):
    """Return path and content of each Python file of the wheel."""
    with zipfile.ZipFile(os.path.join(_OUT, backend.build_wheel(_OUT, {}))) as archive:
        return [(name, archive.read(name)) for name in archive.namelist() if name.endswith('.py')]


if __name__ == '__main__':
    main(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:])
