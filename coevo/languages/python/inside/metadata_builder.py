"""Have the build backend of a project write its metadata, as for an installation (PEP 517).

The working folder is the project's. Arguments: a folder of packages for the build, the backend and
its paths. The answer goes to descriptor 3: a line of JSON with pairs of a path and its content in
Base64. All of this is untrusted code: it runs in the sandbox, without network.
"""

import base64
import importlib
import json
import os
import site
import sys

_OUT = '/tmp/coevo-metadata'


def main(packages, backend, paths):
    """Run the backend, and write the metadata to descriptor 3.

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
    folder = build_backend.prepare_metadata_for_build_wheel(_OUT, {})
    rows = []
    for above, _, names in os.walk(os.path.join(_OUT, folder)):
        for name in sorted(names):
            path = os.path.join(above, name)
            with open(path, 'rb') as file:
                rows.append([os.path.relpath(path, _OUT), base64.b64encode(file.read()).decode()])
    with os.fdopen(3, 'w') as channel:
        json.dump(sorted(rows), channel)


if __name__ == '__main__':
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
