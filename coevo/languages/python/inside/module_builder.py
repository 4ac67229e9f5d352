"""Build the wheel of a project in its own tree with its backend (PEP 517), and return its modules.

The working folder is the project's. Arguments: a folder of packages for the build, the backend and
its paths. The answer goes to descriptor 3: a line of JSON with pairs of a path in the wheel and its
content in Base64, for the Python files alone. All of this is untrusted code: it runs in the
sandbox, without network.
"""

import base64
import importlib
import json
import os
import site
import sys
import zipfile

_OUT = '/tmp/coevo-wheel'


def main(packages, backend, paths):
    """Build the wheel, and write its modules to descriptor 3."""
    os.set_inheritable(3, False)
    site.addsitedir(packages)
    os.makedirs(_OUT)
    sys.path[:0] = [path for path in paths if path]
    module, _, member = backend.partition(':')
    build_backend = importlib.import_module(module)
    for name in filter(None, member.split('.')):
        build_backend = getattr(build_backend, name)
    sys.argv[:] = ['setup.py']
    wheel = build_backend.build_wheel(_OUT, {})
    with zipfile.ZipFile(os.path.join(_OUT, wheel)) as archive:
        rows = [
            [name, base64.b64encode(archive.read(name)).decode()]
            for name in sorted(archive.namelist())
            if name.endswith('.py')
        ]
    with os.fdopen(3, 'w') as channel:
        json.dump(rows, channel)


if __name__ == '__main__':
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
