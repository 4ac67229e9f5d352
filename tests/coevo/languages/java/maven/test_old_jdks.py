"""Code that only an old JDK compiles: built in a warm JVM on it, and all that is asked of a test."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from coevo.languages.cells import CompiledTests
from coevo.languages.java.maven.attempts import LOOP
from coevo.languages.java.tools.jdks import locate_installed_jdks
from coevo.languages.verdicts import PLAIN, RunConditions
from coevo.model.records import TestMethod
from coevo.model.words import Outcome
from tests.coevo.languages.java.jvm import jdk_of
from tests.coevo.languages.place import Place, opened
from tests.projects import junit, pom, source

pytestmark = [pytest.mark.jvm, pytest.mark.slow, pytest.mark.timeout(1500)]

# `Pack200` left the JDK with 14, and javac 17 compiles nothing that names it without `--release`.
STEP = {
    'pom.xml': pom(),
    **source(
        'Till',
        '    public static Object packer() { return java.util.jar.Pack200.newPacker(); }\n'
        '    static int made = 0;\n'
        '    public static int make() { return ++made; }\n',
    ),
    **junit(
        'TillTest',
        'packs: assertNotNull(Till.packer()); java.util.jar.Pack200.newUnpacker();',
        'makes: assertEquals(1, Till.make());',
        'makesToo: assertEquals(1, Till.make());',
        'dates: assertEquals(2019, java.time.LocalDate.now().getYear());',
        'breaks: Missing.call();',
        'says: assertEquals("{release}", System.getProperty("java.specification.version"));',
    ),
}
TESTS = 'src/test/java/shop/TillTest.java'
SPECIFIED = {8: '1.8', 11: '11'}


@pytest.fixture(scope='module', params=[8, 11])
def place(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Place]:
    step = {
        name: text.replace('{release}', SPECIFIED[request.param]) for name, text in STEP.items()
    }
    jdk = jdk_of(request.param)
    with opened(tmp_path_factory.mktemp('old'), [step], jdk=jdk) as found:
        yield found


@pytest.fixture(scope='module')
def compiled(place: Place) -> CompiledTests:
    return place.built.compile(place.rev, place.rev, '.')


def named(name: str) -> TestMethod:
    return TestMethod(
        module='.', test_file=TESTS, test_class='shop.TillTest', test_method=name, parameters=()
    )


def outcome(place: Place, compiled: CompiledTests, name: str, conditions: RunConditions) -> Outcome:
    batch = place.built.run(compiled, [named(name)], conditions)
    assert batch.verdicts[0] is not None
    return batch.verdicts[0].outcome


def test_old_jdk_code_is_built_in_the_loop_and_compiled_by_its_own_javac(
    place: Place, compiled: CompiledTests
) -> None:
    build = place.built.new
    assert (build.built_or_first_failure, build.builder) == ('built', LOOP)
    assert not compiled.unit_ok
    broken = place.built.find_compile_verdict(compiled, named('breaks'))
    assert broken is not None
    assert (broken.outcome, broken.signature) == (
        Outcome.COMPILE_ERROR,
        'cant.resolve.location variable Missing',
    )
    for name in ('packs', 'makes', 'says'):
        assert place.built.find_compile_verdict(compiled, named(name)) is None
        assert outcome(place, compiled, name, PLAIN) is Outcome.PASS


def test_build_on_an_old_jdk_names_the_packages_of_an_installed_jdk(place: Place) -> None:
    home = place.builds.toolchain.java_home
    named_packages = [line.partition(' ')[0] for line in place.built.new.runtime_packages]
    brought = home.is_relative_to(locate_installed_jdks())
    assert (f'openjdk-{place.builds.toolchain.feature}-jdk-headless' in named_packages) == brought


def test_observed_test_passes_on_an_old_jdk(place: Place, compiled: CompiledTests) -> None:
    assert outcome(place, compiled, 'packs', RunConditions(observed=True)) is Outcome.PASS


def test_clock_can_be_set_on_an_old_jdk(place: Place, compiled: CompiledTests) -> None:
    of_2019 = RunConditions(clock=datetime(2019, 5, 6, tzinfo=UTC))
    assert outcome(place, compiled, 'dates', of_2019) is Outcome.PASS
    assert outcome(place, compiled, 'dates', PLAIN) is Outcome.FAIL


def test_shared_trace_on_an_old_jdk_reloads_the_project_for_each_test(
    place: Place, compiled: CompiledTests
) -> None:
    """Each finds that nothing was made before; alone and observed it says the same."""
    methods = [named('makes'), named('makesToo'), named('packs')]
    files = [TESTS.replace('test', 'main', 1).replace('TillTest', 'Till')]
    shared = place.built.trace(compiled, methods, files, shared=True).traces
    alone = place.built.trace(compiled, methods, files).traces
    assert None not in shared
    assert shared == alone
    lines = {'shop.Till': [4, 6]}
    conditions = replace(PLAIN, observed=True)
    (watched,) = place.built.trace(compiled, methods[:1], files, conditions, watched=lines).traces
    assert watched is not None
    assert watched.reached == {'shop.Till': frozenset({6})}
