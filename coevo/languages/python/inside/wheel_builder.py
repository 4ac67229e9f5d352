"""Build a wheel from a source distribution with the backend that it names (PEP 517).

Arguments: the archive, a folder of packages for the build, the backend and its paths. The wheel
goes to descriptor 3: a line with the name of the file, then the file. All of this is untrusted
code: it runs in the sandbox, without network.
"""

import importlib
import os
import shutil
import site
import sys
import tarfile
import zipfile

_OUT = '/tmp/coevo-wheel'


def main(archive, packages):
    """Build the wheel and write it to descriptor 3."""
    site.addsitedir(packages)
    os.makedirs('/tmp/coevo-sdist')
    os.makedirs(_OUT)
    opened = zipfile.ZipFile(archive) if archive.endswith('.zip') else tarfile.open(archive)
    opened.extractall('/tmp/coevo-sdist')
    (top,) = os.listdir('/tmp/coevo-sdist')
    os.chdir(os.path.join('/tmp/coevo-sdist', top))
    backend, paths = sys.argv[3], [path for path in sys.argv[4:] if path]
    sys.path[:0] = paths
    module, _, member = backend.partition(':')
    build_backend = importlib.import_module(module)
    for name in filter(None, member.split('.')):
        build_backend = getattr(build_backend, name)
    sys.argv[:] = ['setup.py']
    name = build_backend.build_wheel(_OUT, {})
    with os.fdopen(3, 'wb') as channel, open(os.path.join(_OUT, name), 'rb') as wheel:
        channel.write(name.encode() + b'\n')
        shutil.copyfileobj(wheel, channel)


if __name__ == '__main__':
    main(sys.argv[1], sys.argv[2])
