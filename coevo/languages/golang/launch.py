"""Defines the sandbox jobs of coevo's program: what each sees of the host, and its limits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from coevo.languages.golang.standard_library import PreparedToolchain
from coevo.languages.golang.toolchains import (
    CACHES,
    MODULES,
    OVERLAY,
    OWN_CACHE,
    PROGRAM,
    TREE_FILE,
    GoToolchain,
    locate_module_cache,
)
from coevo.sandboxes.sandbox import Job, Limits, Mount

MEMORY_BYTES = 6 << 30
PROCESSES = 1024
FILE_BYTES = 512 << 20
DISK_BYTES = 1 << 30
# CPU seconds for one order to the compiler; a module with hundreds of dependencies takes half of it
# for the first order.
COMPILING_SECONDS, COMPILING_DISK_BYTES = 600.0, 6 << 30
LISTING_SECONDS = 600.0
# A go.mod and go.sum are completed where they lack something.
MODULE_FLAGS = '-mod=mod'
_SERVING_SECONDS = 30 * 86400.0  # for many orders, each of which has its own limit

# A compiler run is short and has little garbage to collect.
_COMPILING = {'GOMAXPROCS': '2', 'GOGC': 'off', 'GOMEMLIMIT': '1GiB'}

# The number of processors that the Go runtime assumes (GOMAXPROCS), whatever the machine has.
PROCESSORS, OTHER_PROCESSORS = 4, 1


def make_compiler_job(made: PreparedToolchain, caches: Sequence[Path]) -> Job:
    """Return the sandbox job of the compiler, which reads trees and runs nothing of them.

    It replies on standard output to one order after the other.

    caches  folders of compiled packages, which the job can only read
    """
    mounts = [*_list_common_mounts(made), Mount(source=made.overlay, target=OVERLAY)]
    for source, target in zip(caches, CACHES, strict=False):
        mounts.append(Mount(source=source, target=target))
    return Job(
        argv=(PROGRAM, 'compile'),
        limits=_make_limits(_SERVING_SECONDS, _SERVING_SECONDS, COMPILING_DISK_BYTES),
        mounts=tuple(mounts),
        environment={**make_variables(made.toolchain), **_COMPILING},
    )


def make_listing_job(made: PreparedToolchain) -> Job:
    """Return the sandbox job that lists the imports of a tree and runs nothing of it.

    It waits for its order, which contains the address of its proxy.
    """
    return Job(
        argv=(PROGRAM, 'list'),
        limits=_make_limits(LISTING_SECONDS, LISTING_SECONDS * 5, COMPILING_DISK_BYTES),
        mounts=tuple(_list_common_mounts(made)),
        environment={**make_variables(made.toolchain), **_COMPILING},
    )


def make_test_job(
    made: PreparedToolchain,
    mode: str,
    tree: Path,
    binary: tuple[Path, str] | None,
    cpu_seconds: float,
    wall_seconds: float,
    packages: Path | None = None,
) -> Job:
    """Return the sandbox job that runs a test binary, with its channel on standard output.

    mode      of coevo's program: `run` or `session`
    tree      the archive of the cell's files
    binary    its path on the host, and its path in the sandbox; None for one that `go test` makes
              within the job
    packages  compiled packages of the standard library; None if no test runs the go command. They
              are read only: coevo's program makes a cache with links to them, which is the job's
              own
    """
    mounts = [Mount(source=tree, target=TREE_FILE), *_list_common_mounts(made)]
    if binary is None:
        mounts.append(Mount(source=made.overlay, target=OVERLAY))
    else:
        mounts.append(Mount(source=binary[0], target=binary[1]))
    if packages is not None:
        mounts.append(Mount(source=packages, target=CACHES[1]))
    return Job(
        argv=(PROGRAM, mode),
        limits=_make_limits(cpu_seconds, wall_seconds, DISK_BYTES),
        mounts=tuple(mounts),
        environment={
            **make_variables(made.toolchain),
            'GOCACHE': '/tmp/go-cache' if packages is None else OWN_CACHE,
            'GOMAXPROCS': str(PROCESSORS),
        },
    )


def _list_common_mounts(made: PreparedToolchain) -> Iterator[Mount]:
    yield Mount(source=made.program, target=PROGRAM)
    locate_module_cache().mkdir(mode=0o755, parents=True, exist_ok=True)
    yield Mount(source=locate_module_cache(), target=MODULES)
    if not made.toolchain.home_in_sandbox.startswith('/usr/'):
        yield Mount(source=made.toolchain.home, target=made.toolchain.home_in_sandbox)


def make_variables(toolchain: GoToolchain) -> dict[str, str]:
    """Return the environment variables of a go command in the sandbox.

    They allow no network, no compiling of C, and no other toolchain.
    """
    return {
        'PATH': f'{toolchain.home_in_sandbox}/bin:/usr/bin:/bin',
        'GOROOT': toolchain.home_in_sandbox,
        'GOPATH': '/tmp/go',
        'GOMODCACHE': MODULES,
        'GOFLAGS': MODULE_FLAGS,
        'GOPROXY': 'off',
        'GOSUMDB': 'off',
        'GOENV': 'off',
        'GOWORK': 'off',
        'GOTOOLCHAIN': 'local',
        'GOTELEMETRY': 'off',
        'CGO_ENABLED': '0',
    }


def _make_limits(cpu_seconds: float, wall_seconds: float, disk_bytes: int) -> Limits:
    return Limits(
        cpu_seconds=cpu_seconds,
        wall_seconds=wall_seconds,
        memory_bytes=MEMORY_BYTES,
        processes=PROCESSES,
        file_bytes=FILE_BYTES,
        disk_bytes=disk_bytes,
        bounds_addresses=False,
    )
