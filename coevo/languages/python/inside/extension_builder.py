"""Build the C extensions of a project in its own tree by its `setup.py`, and return the files.

The argument is a folder of packages for the build. The answer goes to descriptor 3: a line of JSON
with pairs of a path, relative to the working folder, and its content in Base64. All of this is
untrusted code: it runs in the sandbox, without network.
"""

import base64
import json
import os
import runpy
import site
import sys

_SUFFIXES = ('.so', '.abi3.so')


def find_libraries():
    """Return the paths of all shared libraries below the working folder, except in `build`."""
    paths = set()
    for folder, _, names in os.walk('.'):
        if folder.split(os.sep)[1:2] != ['build']:
            paths.update(os.path.join(folder, name) for name in names if name.endswith(_SUFFIXES))
    return paths


def main(packages):
    """Run `setup.py build_ext --inplace`, and write the new libraries to descriptor 3."""
    os.set_inheritable(3, False)
    site.addsitedir(packages)
    before = find_libraries()
    sys.path.insert(0, os.getcwd())
    sys.argv[:] = ['setup.py', 'build_ext', '--inplace']
    runpy.run_path('setup.py', run_name='__main__')
    rows = []
    for path in sorted(find_libraries() - before):
        with open(path, 'rb') as file:
            rows.append([os.path.relpath(path), base64.b64encode(file.read()).decode()])
    with os.fdopen(3, 'w') as channel:
        json.dump(rows, channel)


if __name__ == '__main__':
    main(sys.argv[1])
