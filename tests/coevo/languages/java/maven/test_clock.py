"""A test process under another clock: dates are other, time passes as ever, and no clock is told."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from coevo.languages.java import built_pair
from coevo.languages.java.tools.jdks import Jdk, find_jdks
from coevo.languages.verdicts import PLAIN, RunConditions
from coevo.model.records import TestMethod
from coevo.model.words import Outcome
from coevo.sandboxes import clock
from coevo.sandboxes.clock import ProcessClock
from tests.coevo.languages.place import Place, opened
from tests.projects import junit, pom, source

pytestmark = pytest.mark.jvm

OF_2019 = RunConditions(clock=datetime(2019, 5, 6, 7, 8, 9, tzinfo=UTC))
TOOK = 'long took = (System.nanoTime() - start) / 1000000; assertTrue("" + took, took >= 295);'
START = 'long start = System.nanoTime();'

TESTS = {
    'dates': """
        java.time.LocalDateTime expected = java.time.LocalDateTime.of(2019, 5, 6, 7, 8);
        assertEquals(expected.toLocalDate(), java.time.LocalDate.now());
        long millis = System.currentTimeMillis() - java.time.Instant.parse(
            "2019-05-06T07:08:09Z").toEpochMilli();
        assertTrue("" + millis, millis >= 0 && millis < 600000);
        assertEquals(119, new java.util.Date().getYear());
        assertEquals(2019, java.util.Calendar.getInstance().get(java.util.Calendar.YEAR));""",
    'asksItsChild': """
        Process date = new ProcessBuilder("date", "+%Y").start();
        assertEquals("2019", new java.util.Scanner(date.getInputStream()).next());""",
    'waits': f'Object o = new Object(); {START} synchronized (o) {{ o.wait(300); }} {TOOK}',
    'sleeps': f'{START} Thread.sleep(300); {TOOK}',
    'joins': f'{START} Thread.currentThread().join(300); {TOOK}',
    'schedules': f"""
        {START}
        java.util.concurrent.ScheduledExecutorService s =
            java.util.concurrent.Executors.newScheduledThreadPool(1);
        s.schedule(() -> 1, 300, java.util.concurrent.TimeUnit.MILLISECONDS).get();
        s.shutdownNow(); {TOOK}""",
    'timesOut': f"""
        {START}
        try {{
            new java.util.concurrent.CompletableFuture<String>().get(
                300, java.util.concurrent.TimeUnit.MILLISECONDS);
            fail();
        }} catch (java.util.concurrent.TimeoutException expected) {{ }}
        {TOOK}""",
    'parksUntil': f"""
        {START}
        java.util.concurrent.locks.LockSupport.parkUntil(System.currentTimeMillis() + 301);
        {TOOK}""",
    'writesFiles': """
        java.io.File file = java.io.File.createTempFile("clock", null);
        assertTrue(file.setLastModified(1600000000000L));
        assertEquals(1600000000000L, file.lastModified());
        assertEquals(1600000000000L,
            java.nio.file.Files.getLastModifiedTime(file.toPath()).toMillis());""",
}
SPINS = {'ok': '', 'spins': 'while (Till.last() > 0) { }', 'after': ''}
METHODS = [
    TestMethod(
        module='.',
        test_file=f'src/test/java/shop/{name}.java',
        test_class=f'shop.{name}',
        test_method=method,
    )
    for name, tests in (('ClockTest', TESTS), ('SpinTest', SPINS))
    for method in tests
]
STEP = {
    'pom.xml': pom(),
    **source('Till', '    public static int last() { return 1; }\n'),
    **junit('ClockTest', *(f'{name}: {body}' for name, body in TESTS.items())),
    **junit('SpinTest', *(f'{name}: {body}' for name, body in SPINS.items())),
}
CLOCKED, SPINNING = METHODS[: len(TESTS)], METHODS[len(TESTS) :]


@pytest.fixture(scope='module')
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with opened(tmp_path_factory.mktemp('clock'), [STEP]) as found:
        yield found


def outcomes(
    place: Place, methods: list[TestMethod], conditions: RunConditions
) -> dict[str, Outcome | None]:
    compiled = place.built.compile(place.rev, place.rev, '.')
    batch = place.built.run(compiled, methods, conditions)
    return {
        method.test_method: verdict and verdict.outcome
        for method, verdict in zip(methods, batch.verdicts, strict=True)
    }


def test_dates_follow_the_set_clock_and_durations_stay_real(
    place: Place,
) -> None:
    assert outcomes(place, CLOCKED, OF_2019) == dict.fromkeys(TESTS, Outcome.PASS)


def test_process_without_a_set_clock_has_the_machines_dates(place: Place) -> None:
    found = outcomes(place, CLOCKED, PLAIN)
    failing = [name for name, outcome in found.items() if outcome is Outcome.FAIL]
    assert failing == ['dates', 'asksItsChild']


@pytest.mark.slow
@pytest.mark.parametrize('jdk', find_jdks(), ids=lambda jdk: jdk.version)
def test_clock_is_set_on_every_jdk(tmp_path: Path, jdk: Jdk) -> None:
    with opened(tmp_path, [STEP], jdk=jdk) as place:
        assert outcomes(place, CLOCKED, OF_2019) == dict.fromkeys(TESTS, Outcome.PASS)


def test_clock_may_be_set_to_the_future(place: Place) -> None:
    later = RunConditions(clock=datetime(2061, 1, 1, tzinfo=UTC))
    found = outcomes(place, CLOCKED, later)
    assert found == {**dict.fromkeys(TESTS, Outcome.PASS), 'dates': 'fail', 'asksItsChild': 'fail'}


def enough(place: Place) -> float:
    """CPU seconds that are plenty for a process of one quick test, on this machine as it is now."""
    compiled = place.built.compile(place.rev, place.rev, '.')
    return 2 + 5 * place.built.run(compiled, SPINNING[:1], PLAIN).cpu_seconds


def test_cpu_limit_of_a_method_holds_under_a_set_clock(place: Place) -> None:
    limited = RunConditions(clock=OF_2019.clock, cpu_limit=enough(place))
    found = outcomes(place, SPINNING, limited)
    assert found == {'ok': Outcome.PASS, 'spins': Outcome.TIMEOUT, 'after': None}


def test_method_that_has_passed_gets_a_lower_cpu_limit(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What passes is remembered by the pair; one that passed and spins now ends by the lower limit."""
    assert outcomes(place, SPINNING[:1], PLAIN) == {'ok': Outcome.PASS}
    assert SPINNING[0] in place.built.passing
    monkeypatch.setattr(built_pair, 'LEAST_ONCE_PASSED', enough(place))
    monkeypatch.setitem(place.built.passing, SPINNING[1], 0.1)
    compiled = place.built.compile(place.rev, place.rev, '.')

    batch = place.built.run(compiled, SPINNING[1:2], PLAIN)

    assert [verdict and verdict.outcome for verdict in batch.verdicts] == [Outcome.TIMEOUT]
    assert batch.cpu_seconds < built_pair.LEAST_CPU_LIMIT


@pytest.mark.parametrize(
    ('passing', 'comparable', 'seconds'),
    [(None, True, 60), (None, False, 60), (0.1, True, 15), (0.1, False, 60), (8.0, True, 80)],
)
def test_cpu_limit_depends_on_the_time_of_the_passing_run(
    passing: float | None, comparable: bool, seconds: float
) -> None:
    assert built_pair.compute_cpu_limit(passing, comparable=comparable) == seconds


def test_cpu_limit_of_a_whole_process_ends_it(place: Place) -> None:
    found = outcomes(place, SPINNING, RunConditions(process_cpu_limit=enough(place)))
    assert found == {'ok': Outcome.PASS, 'spins': Outcome.TIMEOUT, 'after': None}


def test_missing_clock_library_gives_infra_outcomes(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_libraries((), place, monkeypatch)
    assert outcomes(place, CLOCKED, OF_2019) == dict.fromkeys(TESTS, Outcome.INFRA)


def test_library_that_sets_no_clock_gives_infra_outcomes(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The loader goes on without a library that it cannot use, and says so on standard error."""
    places = ('/usr/lib/*/libz.so.1', '/usr/share/perl/*/strict.pm')
    with_libraries(places, place, monkeypatch)
    assert outcomes(place, CLOCKED[:1], OF_2019) == {'dates': Outcome.INFRA}


def with_libraries(places: tuple[str, ...], place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Look for the library elsewhere, with a clock that was not found right before."""
    monkeypatch.setattr(clock, 'PLACES', places)
    process_clock = ProcessClock(place.builds.sandbox, place.builds.launcher.make_clock_probe)
    monkeypatch.setattr(place.builds, 'clock', process_clock)


@pytest.mark.docker
@pytest.mark.usefixtures('daemon')
def test_dates_follow_the_set_clock_in_docker(tmp_path: Path) -> None:
    with opened(tmp_path, [STEP], sandbox='docker') as place:
        assert outcomes(place, CLOCKED, OF_2019) == dict.fromkeys(TESTS, Outcome.PASS)
