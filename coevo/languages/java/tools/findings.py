"""Check which tools for Java this machine has."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec

from coevo.languages.findings import DoctorFinding, read_first_output_line
from coevo.languages.java.tools import toolchain
from coevo.languages.java.tools.gradles import find_gradles
from coevo.languages.java.tools.jdks import choose_jdk_for_tools, find_jdks
from coevo.model.errors import Fatal
from coevo.storage.disk import find_cache_folder


def inspect_machine() -> Iterator[DoctorFinding]:
    """Check the machine; yield what was found for each tool that Java needs, present or not.

    They are JDKs, Maven, Gradle, the tool cache and RefactoringMiner.
    """
    yield from _check_jdks()
    yield _check_maven()
    yield from _check_gradles()
    yield _check_tool_cache()
    yield _check_refactoring_miner()


def _check_jdks() -> Iterator[DoctorFinding]:
    jdks = find_jdks()
    try:
        chosen = choose_jdk_for_tools(jdks)
    except Fatal as error:
        yield DoctorFinding(
            name='JDK', good=False, state='none is 17 or newer', advice=str(error).split('; ')[-1]
        )
        chosen = None
    for jdk in jdks:
        note = ", which runs coevo's own programs" if jdk == chosen else ''
        yield DoctorFinding(name='JDK', good=True, state=f'{jdk.version} in {jdk.home}{note}')


def _check_maven() -> DoctorFinding:
    version = read_first_output_line('mvn', '--batch-mode', '--version')
    if version is None:
        return DoctorFinding(
            name='Maven', good=False, state='not found', advice='install it (apt install maven)'
        )
    return DoctorFinding(name='Maven', good=True, state=version.removeprefix('Apache Maven '))


def _check_gradles() -> Iterator[DoctorFinding]:
    gradles = find_gradles()
    if not gradles:
        yield DoctorFinding(
            name='Gradle',
            good=False,
            needed=False,
            state='none was found',
            advice='without it, no project built by Gradle is mined: set GRADLE_HOME, or put `gradle` on PATH',
        )
    for gradle in gradles:
        yield DoctorFinding(name='Gradle', good=True, state=f'{gradle.version} in {gradle.home}')


def _check_tool_cache() -> DoctorFinding:
    tools = find_cache_folder() / 'tools'
    filled = any(tools.glob('programs-*/worker.jar'))
    return DoctorFinding(
        name='tool cache',
        good=filled,
        needed=False,
        state=f'{"filled" if filled else "still empty"}: {tools}',
        advice=None if filled else 'the first run of `coevo mine` fills it',
    )


def _check_refactoring_miner() -> DoctorFinding:
    """Return the finding on RefactoringMiner; it needs its jars, JPype and a JDK 17 or newer."""
    name = f'RefactoringMiner {toolchain.get_refactoring_miner_version()}'
    lacking = list(_list_missing_miner_parts())
    return DoctorFinding(
        name=name,
        good=not lacking,
        needed=False,
        state=f'no {" and no ".join(lacking)}'
        if lacking
        else 'its jars, JPype and a JDK are there',
        advice='without it, refactorings are unknown and tracks are withheld; the first run of'
        ' `coevo mine` fetches the jars, `make setup` installs the rest'
        if lacking
        else None,
    )


def _list_missing_miner_parts() -> Iterator[str]:
    if not toolchain.is_refactoring_miner_fetched():
        yield 'jars in the tool cache'
    if find_spec('jpype') is None:
        yield 'JPype'
    if not any(jdk.can_run_tools for jdk in find_jdks()):
        yield 'JDK 17 or newer'
