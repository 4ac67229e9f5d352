"""Run one cell of a pair by the plain way of Python: `python -m pytest ID` in a fresh virtual environment.

The tree is written anew: the code's revision with all files that the language calls the tests' of the
other one. Versions of libraries and the interpreter are those that the language says of the pair; they are installed
again, and nothing else of the engine takes part: no worker, no channel, no stand-ins, no options of ours.
coverage.py is added, which the engine leaves out and settings of pytest may name, and of the project itself the module of
its version that a build would write, and the metadata (name, version, entry points) that an installation would.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from benchmarks.oracles.driver import Answer, Place, PlainCells, say_unbuildable
from coevo.git.repository import Repository
from coevo.languages.engine import RunSettings
from coevo.languages.python import language, uv
from coevo.languages.python.collection import SETTINGS
from coevo.languages.python.commands import make_pytest_id
from coevo.languages.python.interpreters import (
    Interpreter,
    ensure_readable_prefix,
    find_interpreters,
)
from coevo.languages.python.layout import list_generated_modules, make_metadata_files
from coevo.languages.python.requirements.reading import load_needs
from coevo.model.errors import Transient
from coevo.model.pair_rows import Environment
from coevo.model.records import Pair, TestMethod
from coevo.sandboxes.sandbox import Mount
from coevo.storage.disk import find_cache_folder

_SYSTEM = Path('/usr')
_SETTINGS_NAME = ('coverage',)


class PytestBench:
    """Sandbox and packages of the oracle, for one repository after the other."""

    def __init__(self, stack: ExitStack) -> None:
        self._plain = PlainCells(stack, 'python_cell')
        self._packages: dict[tuple[str, ...], Path] = {}
        self._environments: dict[tuple[str, str], Environment | None] = {}

    def run(
        self, repository: Repository, pair: Pair, place: Place, methods: Sequence[TestMethod]
    ) -> Answer:
        """Run the methods; Transient if the libraries could not be installed or the driver itself failed."""
        environment = self._find_environment(repository, pair, place)
        if environment is None:
            return say_unbuildable(len(methods))
        interpreter = next(i for i in find_interpreters() if i.version == environment.runtime)
        names = tuple(library.coordinates for library in environment.libraries) + _SETTINGS_NAME
        packages = self._install(interpreter, names)
        with self._plain.open_tree(language.READING, repository, place) as tree:
            _write_versions(tree, place.module)
            _write_metadata(tree, repository, place)
            return self._ask(tree, interpreter, packages, place, methods)

    def _find_environment(
        self, repository: Repository, pair: Pair, place: Place
    ) -> Environment | None:
        """Find what the language says that the code's revision is run with; None where it cannot be."""
        key = pair.pair_id, f'{place.code_rev} {place.module}'
        if key not in self._environments:
            known = language.make_runtimes()
            settings = RunSettings(repository=repository, sandbox='bubblewrap', runtimes=known)
            with ExitStack() as stack:
                builder = language.make_engine(settings, stack).make_builder()
                stack.callback(builder.close)
                built = builder.build(pair)
                self._environments[key] = built.describe_environment(place.code_rev, place.module)
        return self._environments[key]

    def _install(self, interpreter: Interpreter, names: tuple[str, ...]) -> Path:
        key = interpreter.version, *names
        if key not in self._packages:
            folder = self._plain.root / f'packages-{len(self._packages)}'
            folder.mkdir(mode=0o755, exist_ok=True)  # what could not be installed before left it
            words = ('pip', 'install', '--target', str(folder), '--no-deps', '--no-build', '-q')
            done = subprocess.run(
                [uv.find_program(), *words, '--python', str(interpreter.program), *names],
                env={**uv.TRUST, **os.environ, 'UV_CACHE_DIR': str(find_cache_folder() / 'uv')},
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode:
                raise Transient(f'libraries could not be installed: {done.stderr[-500:]}')
            self._packages[key] = folder
        return self._packages[key]

    def _ask(
        self,
        tree: Path,
        interpreter: Interpreter,
        packages: Path,
        place: Place,
        methods: Sequence[TestMethod],
    ) -> Answer:
        is_system = interpreter.prefix == _SYSTEM
        home = '/usr' if is_system else '/python'
        mounts = [Mount(source=packages, target='/in/packages')]
        if not is_system:
            mounts.append(Mount(source=ensure_readable_prefix(interpreter), target=home))
        request = {
            'python': f'{home}/{interpreter.path_below_prefix}',
            'libraries': None if is_system else f'{home}/lib',
            'module': place.module,
            'ids': [make_pytest_id(method) for method in methods],
        }
        return self._plain.ask(tree, request, mounts=mounts, environment={'PATH': '/usr/bin:/bin'})


def _write_versions(tree: Path, folder: str) -> None:
    files = [tree / folder / name for name in (*SETTINGS, 'setup.py')]
    texts = [file.read_bytes() for file in files if file.is_file()]
    for path, content in list_generated_modules(texts, folder):
        if not (tree / path).exists() and (tree / path).parent.is_dir():
            (tree / path).write_bytes(content)


def _write_metadata(tree: Path, repository: Repository, place: Place) -> None:
    """As `pip install --editable` would leave it: plugins and versions of the project itself are found by it."""
    for path, content in make_metadata_files(
        load_needs(repository, place.code_rev, place.module)
    ).items():
        file = tree / place.module / path
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(content)
