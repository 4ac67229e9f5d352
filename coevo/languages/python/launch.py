"""Make the jobs that run Python in the sandbox: their files, interpreter, variables and limits.

Nothing is started here.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from coevo.languages.python.interpreters import (
    ENVIRONMENT,
    PACKAGES,
    PROGRAMS,
    TOOLS,
    TREE,
    TREE_FILE,
    Interpreter,
    get_library_variables,
    get_sandbox_program,
    list_interpreter_mounts,
)
from coevo.languages.python.resolution import InstalledPackages
from coevo.sandboxes.sandbox import Job, Limits, Mount

MEMORY_BYTES = 4 << 30
PROCESSES = 256
FILE_BYTES = 256 << 20
DISK_BYTES = 1 << 30

# The packages are added by `site.addsitedir`, so that their .pth files are processed.
_ADD_PACKAGES = f"""printf '%s%s%s\\n' "import site; site.addsitedir('" {PACKAGES} "')\""""

# The PATH of the commands that lay out a tree: the one for tests does not lead to them yet.
_OWN_PATH = 'PATH=/usr/bin:/bin'

_BUILDING_SECONDS = 900.0
_CHECKING_SECONDS = 120.0

# For builds that ask Git for a version, which is missing there (setuptools_scm, pbr).
_NO_VERSION = dict.fromkeys(
    ('SETUPTOOLS_SCM_PRETEND_VERSION', 'PBR_VERSION', 'PDM_BUILD_SCM_VERSION'), '0'
)

# The path of an untrusted archive; its own name is not used.
_SOURCE = '/in/source'

# Sets and dictionaries of strings have one order if several tests run, another if one runs alone.
_SEED_TOGETHER, _SEED_ALONE = '0', '1'


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonSetup:
    """The read-only files of a test process besides its tree.

    installed  the packages and their interpreter
    programs   the folder with coevo's programs
    """

    installed: InstalledPackages
    programs: Path

    @property
    def interpreter(self) -> Interpreter:
        """The interpreter of the packages."""
        return self.installed.interpreter

    @property
    def python(self) -> str:
        """The path of the interpreter's program in the sandbox."""
        return get_sandbox_program(self.interpreter)

    @property
    def library_variables(self) -> dict[str, str]:
        """The environment variables for the interpreter's shared libraries."""
        return get_library_variables(self.interpreter)

    def list_mounts(self, tree: Path) -> Iterator[Mount]:
        """Yield the mounts: the packed tree, coevo's programs, the packages, the interpreter.

        tree  the path of the archive
        """
        yield Mount(source=tree, target=TREE_FILE)
        yield Mount(source=self.programs, target=PROGRAMS)
        yield Mount(source=self.installed.site, target=PACKAGES)
        yield from list_interpreter_mounts(self.interpreter)


def make_test_job(
    setup: PythonSetup,
    tree: Path,
    folder: str,
    roots: Sequence[str],
    *,
    alone: bool,
    cpu_seconds: float,
    wall_seconds: float,
    clock: Mapping[str, str] | None = None,
) -> Job:
    """Return the job in which a controller runs one test process.

    The job unpacks the tree first. Its standard output is the channel.

    folder  of the module, in which the tests run
    roots   folders of the tree on `sys.path`, see `layout.find_import_roots`
    alone   whether the process has one target: it then has another hash seed
    clock   environment variables of a faked clock
    """
    steps = (_format_unpack_command(TREE_FILE), *_list_layout_commands(setup, folder, roots))
    return Job(
        argv=('/bin/sh', '-c', _format_start_script('controller.py', setup, steps)),
        limits=_make_limits(cpu_seconds, wall_seconds),
        mounts=tuple(setup.list_mounts(tree)),
        environment={**(clock or {}), **_make_variables(setup, alone=alone)},
    )


def make_session_job(
    setup: PythonSetup, folder: str, roots: Sequence[str], *, alone: bool, seconds: float
) -> Job:
    """Return the job of a session, which runs many test processes one after the other.

    Its standard output is the channel. Its tree is empty at first: each run may bring one.

    alone    whether each process has one target: it then has another hash seed
    seconds  limit of CPU and wall time for all runs together
    """
    folders = ' '.join(shlex.quote(f'{TREE}/{root}') for root in roots)
    steps = (f'mkdir -p {folders}', *_list_layout_commands(setup, folder, roots))
    return Job(
        argv=('/bin/sh', '-c', _format_start_script('session.py', setup, steps)),
        limits=_make_limits(seconds, seconds),
        mounts=tuple(
            mount for mount in setup.list_mounts(setup.programs) if mount.target != TREE_FILE
        ),
        environment=_make_variables(setup, alone=alone),
    )


def make_layout_script(setup: PythonSetup, folder: str, roots: Sequence[str]) -> str:
    """Return the lines of sh that unpack the archive on standard input and make its environment."""
    return '\n'.join(
        (
            'set -e',
            _OWN_PATH,
            _format_unpack_command('-'),
            *_list_layout_commands(setup, folder, roots),
        )
    )


def _make_variables(setup: PythonSetup, *, alone: bool) -> dict[str, str]:
    return {
        **setup.library_variables,
        'PATH': f'{ENVIRONMENT}/bin:{TOOLS}',
        'PYTHONDONTWRITEBYTECODE': '1',
        'PYTHONHASHSEED': _SEED_ALONE if alone else _SEED_TOGETHER,
        'VIRTUAL_ENV': ENVIRONMENT,
    }


def _format_unpack_command(archive: str) -> str:
    return f'tar -x -p --no-same-owner -f {archive} -C /w'


def _format_start_script(program: str, setup: PythonSetup, before: Sequence[str]) -> str:
    words = f'{setup.python} -I -S -B {PROGRAMS}/{program}'
    return '\n'.join(
        (
            *('set -e', 'theirs=$PATH', _OWN_PATH, *before),
            *('PATH=$theirs', f'exec {words} 3>&1 1>&2'),
        )
    )


def _list_layout_commands(setup: PythonSetup, folder: str, roots: Sequence[str]) -> tuple[str, ...]:
    """Return the lines of sh that make an environment for a tree and go to the module's folder."""
    python = setup.python
    major, minor = setup.interpreter.feature
    site = f'{ENVIRONMENT}/lib/python{major}.{minor}/site-packages'
    lines = [TREE if root == '.' else f'{TREE}/{root}' for root in roots]
    return (
        f'mkdir -p {ENVIRONMENT}/bin {site} {shlex.quote(f"{TREE}/{folder}")}',
        f'for name in python python3 python{major}.{minor}; do',
        f'  ln -s {python} {ENVIRONMENT}/bin/$name; done',
        f'echo home = {python.rpartition("/")[0]} > {ENVIRONMENT}/pyvenv.cfg',
        f'echo include-system-site-packages = false >> {ENVIRONMENT}/pyvenv.cfg',
        *(f'echo {shlex.quote(line)} >> {site}/coevo.pth' for line in lines),
        f'{_ADD_PACKAGES} >> {site}/coevo.pth',
        f'cd {shlex.quote(f"{TREE}/{folder}")}',
    )


def make_source_check_job(setup: PythonSetup) -> Job:
    """Return a job that reads sources from standard input and writes the errors and digests.

    See `inside/checker.py`.
    """
    return _make_program_job(setup, 'checker.py')


def make_compiler_job(setup: PythonSetup) -> Job:
    """Return a job that reads sources from standard input and writes their byte code.

    See `inside/compiler.py`.
    """
    return _make_program_job(setup, 'compiler.py')


def make_assertion_rewriter_job(setup: PythonSetup) -> Job:
    """Return a job that rewrites the assertions of test files as the environment's pytest does.

    It reads and writes as `inside/rewriter.py` says.
    """
    return _make_program_job(setup, 'rewriter.py', words=(PACKAGES,))


def make_plugin_rewriter_job(setup: PythonSetup, date: int) -> Job:
    """Return a job that writes an archive of pytest's byte code for the modules of its plugins.

    See `inside/plugin_rewriter.py`.

    date  of the modules' sources, in seconds since 1970
    """
    job = _make_program_job(setup, 'plugin_rewriter.py', words=(PACKAGES, str(date)))
    return replace(job, argv=('/bin/sh', '-c', 'exec "$@" 3>&1 1>&2', 'sh', *job.argv))


def make_clock_probe_job(setup: PythonSetup, clock: Mapping[str, str]) -> Job:
    """Return a job that prints the measurements of a faked clock; see `inside/clock_probe.py`."""
    return _make_program_job(setup, 'clock_probe.py', clock)


def _make_program_job(
    setup: PythonSetup,
    program: str,
    variables: Mapping[str, str] | None = None,
    words: Sequence[str] = (),
) -> Job:
    mounts = list(setup.list_mounts(setup.programs))
    return Job(
        argv=(setup.python, '-I', '-S', '-B', f'{PROGRAMS}/{program}', *words),
        limits=_make_limits(_CHECKING_SECONDS, _CHECKING_SECONDS * 10),
        mounts=tuple(mount for mount in mounts if mount.target != TREE_FILE),
        environment={**setup.library_variables, **(variables or {})},
    )


def make_source_archive_reader_job(
    interpreter: Interpreter, programs: Path, source: Path, kind: str, names: Sequence[str]
) -> Job:
    """Return a job that writes top-level files of a source distribution to standard output.

    source  the archive on the host
    kind    `.zip` or `.tar.gz`
    names   of the files
    """
    source_path = f'{_SOURCE}{kind}'
    words = ('-I', '-S', '-B', f'{PROGRAMS}/source_reader.py', source_path, *names)
    mounts = (Mount(source=programs, target=PROGRAMS), Mount(source=source, target=source_path))
    return Job(
        argv=(get_sandbox_program(interpreter), *words),
        limits=_make_limits(_CHECKING_SECONDS, _CHECKING_SECONDS * 10),
        mounts=(*mounts, *list_interpreter_mounts(interpreter)),
        environment=get_library_variables(interpreter),
    )


def make_wheel_job(setup: PythonSetup, source: Path, kind: str, words: Sequence[str]) -> Job:
    """Return a job that builds a wheel from a source archive and writes it to standard output.

    kind   `.zip` or `.tar.gz`
    words  the name of its backend, and the folders of the backend for `sys.path`
    """
    source_path = f'{_SOURCE}{kind}'
    mounts = [mount for mount in setup.list_mounts(source) if mount.target != TREE_FILE]
    program = (setup.python, '-I', '-S', '-B', f'{PROGRAMS}/wheel_builder.py')
    return Job(
        argv=(
            *('/bin/sh', '-c', 'exec "$@" 3>&1 1>&2', 'sh', *program),
            *(source_path, PACKAGES, *words),
        ),
        limits=_make_limits(_BUILDING_SECONDS, _BUILDING_SECONDS * 4),
        mounts=(*mounts, Mount(source=source, target=source_path)),
        environment={**setup.library_variables, 'SOURCE_DATE_EPOCH': '946684800'},
    )


def make_extension_job(setup: PythonSetup, tree: Path, folder: str) -> Job:
    """Return a job that builds C extensions in a fresh tree and writes them to standard output."""
    lines = (
        'set -e',
        f'tar -x -p --no-same-owner -f {TREE_FILE} -C /w',
        f'cd {shlex.quote(f"{TREE}/{folder}")}',
        f'exec {setup.python} -I -S -B {PROGRAMS}/extension_builder.py {PACKAGES} 3>&1 1>&2',
    )
    return Job(
        argv=('/bin/sh', '-c', '\n'.join(lines)),
        limits=_make_limits(_BUILDING_SECONDS, _BUILDING_SECONDS * 4),
        mounts=tuple(setup.list_mounts(tree)),
        environment={
            **setup.library_variables,
            **_NO_VERSION,
            'PATH': '/usr/bin:/bin',
            'SOURCE_DATE_EPOCH': '946684800',
        },
    )


def make_metadata_job(
    setup: PythonSetup, tree: Path, folder: str, words: Sequence[str], version: str
) -> Job:
    """Return a job in which a build backend writes metadata of a fresh tree to standard output.

    words    the name of the backend, and its folders for `sys.path`
    version  for a backend that asks Git
    """
    return _make_backend_job('metadata', setup, tree, folder, words, version)


def make_module_job(
    setup: PythonSetup, tree: Path, folder: str, words: Sequence[str], version: str
) -> Job:
    """Return a job in which a build backend makes a wheel of a fresh tree and writes its modules.

    Builds that generate modules may start Java, as the host has it. For the arguments see
    `make_metadata_job`.
    """
    return _make_backend_job('modules', setup, tree, folder, words, version)


# The folders of this machine's JDKs, where Debian puts them; not all are on its PATH.
_ADD_JAVA = 'for folder in /usr/lib/jvm/*/bin; do PATH=$PATH:$folder; done'


def _make_backend_job(
    wanted: str,
    setup: PythonSetup,
    tree: Path,
    folder: str,
    words: Sequence[str],
    version: str,
) -> Job:
    lines = (
        'set -e',
        _format_unpack_command(TREE_FILE),
        f'cd {shlex.quote(f"{TREE}/{folder}")}',
        _ADD_JAVA,
        f'exec {setup.python} -I -S -B {PROGRAMS}/project_builder.py "$@" 3>&1 1>&2',
    )
    return Job(
        argv=('/bin/sh', '-c', '\n'.join(lines), 'sh', wanted, PACKAGES, *words),
        limits=_make_limits(_CHECKING_SECONDS, _CHECKING_SECONDS * 10),
        mounts=tuple(setup.list_mounts(tree)),
        environment={
            **setup.library_variables,
            **dict.fromkeys(_NO_VERSION, version),
            'PATH': '/usr/bin:/bin',
            'SOURCE_DATE_EPOCH': '946684800',
        },
    )


def _make_limits(cpu_seconds: float, wall_seconds: float) -> Limits:
    return Limits(
        cpu_seconds=cpu_seconds,
        wall_seconds=wall_seconds,
        memory_bytes=MEMORY_BYTES,
        processes=PROCESSES,
        file_bytes=FILE_BYTES,
        disk_bytes=DISK_BYTES,
    )


def make_worker_command() -> list[str]:
    """Return the command by which the controller, or a zygote, runs as a test process."""
    return [f'{ENVIRONMENT}/bin/python', '-B', f'{PROGRAMS}/worker.py']
