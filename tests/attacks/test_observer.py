"""What an observer outside of the JVM says of honest passes, and of forged ones."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace

import pytest

from coevo.languages.java.building.report import SurefireSettings
from coevo.languages.java.processes.runner import RunTarget, run_observed
from coevo.languages.verdicts import Verdict
from coevo.model.words import Outcome
from coevo.sandboxes.sandbox import Sandbox
from tests.attacks.arena import Project, compiled, target
from tests.attacks.forgeries import FORGERIES, JUNIT5
from tests.attacks.test_forgery import projects
from tests.folders import open_folder

__all__ = ['projects']

pytestmark = pytest.mark.jvm

HONEST = {
    'p.Base': """package p;
        import org.junit.*;
        public abstract class Base { @Test public void inherited() { Assert.assertTrue(true); } }""",
    'p.WithDefault': """package p;
        public interface WithDefault {
            @org.junit.jupiter.api.Test default void byDefault() {
                for (int i = 0; i < 3; i++) { if (i > 5) { return; } }
            }
        }""",
    'p.OldTest': """package p;
        import org.junit.*; import static org.junit.Assert.*;
        public class OldTest extends Base {
            @Rule public org.junit.rules.ExpectedException thrown =
                org.junit.rules.ExpectedException.none();
            @Test public void empty() { }
            @Test public void passes() { assertEquals(2, 1 + 1); }
            @Test public void catches() {
                for (int i = 0; i < 50; i++) {
                    try { Integer.parseInt("x"); } catch (NumberFormatException e) { continue; }
                    finally { assertTrue(true); }
                }
                try { deep(); fail(); } catch (IllegalStateException e) { assertNotNull(e); }
            }
            private void deep() { try { throw new IllegalStateException(); } finally { hash(); } }
            private void hash() { hashCode(); }
            @Test(expected = RuntimeException.class) public void expects() {
                throw new IllegalArgumentException(); }
            @Test public void expectsByRule() {
                thrown.expect(IllegalStateException.class); throw new IllegalStateException(); }
            @Test(timeout = 20000) public void inAThread() { assertTrue(true); }
            @Test public void switches() { int n = 0; for (int i = 0; i < 9; i++) { switch (i) {
                case 1: case 2: case 3: n++; break; case 1000: return; default: n += 2; }
                switch ("" + i) { case "a": return; default: } n += 200 + i; long l = n; l++; }
                assertTrue(n > 0); }
            @Test public void fails() { fail(); }
            @Test public void loops() { while (true) { if (hashCode() != 0) { return; } } }
        }""",
    'p.RowsTest': """package p;
        import java.util.*; import org.junit.*; import org.junit.runner.RunWith;
        import org.junit.runners.Parameterized;
        @RunWith(Parameterized.class) public class RowsTest {
            @Parameterized.Parameters public static Collection<Object[]> rows() {
                return Arrays.asList(new Object[] {1}, new Object[] {2}); }
            public RowsTest(int n) { }
            @Test public void rows2() { Assert.assertTrue(true); } }""",
    'p.NewTest': """package p;
        import java.util.stream.*; import org.junit.jupiter.api.*;
        import org.junit.jupiter.params.ParameterizedTest;
        import org.junit.jupiter.params.provider.ValueSource;
        import static org.junit.jupiter.api.Assertions.*;
        class NewTest implements WithDefault {
            @Test void passes() { assertThrows(IllegalStateException.class,
                () -> { throw new IllegalStateException(); }); }
            @ParameterizedTest @ValueSource(ints = {1, 2, 3}) void rows(int n) {
                assertTrue(n > 0); }
            @TestFactory Stream<DynamicTest> made() {
                return Stream.of(DynamicTest.dynamicTest("a", () -> assertTrue(true))); }
            @RepeatedTest(3) void again() { assertTrue(true); }
        }""",
}


@pytest.fixture(scope='session')
def honest() -> Iterator[Project]:
    with ExitStack() as stack:
        root = stack.enter_context(open_folder())
        yield Project(root=root, layers=(compiled(root / 'honest', HONEST),))


def observed(
    sandbox: Sandbox,
    found: Project,
    targets: list[RunTarget],
    surefire: SurefireSettings | None = None,
) -> list[Verdict | None]:
    plan = found.plan(targets, surefire or SurefireSettings())
    plan = replace(found.launcher.arrange_class_path(plan), observed=True)
    return list(run_observed(sandbox, found.launcher.make_job(plan), targets).verdicts)


OLD = ('empty', 'passes', 'catches', 'inAThread', 'switches', 'inherited', 'loops')


def test_observer_confirms_honest_passes(sandbox: Sandbox, honest: Project) -> None:
    targets = [
        *(target('p.OldTest', name) for name in OLD),
        replace(target('p.OldTest', 'expects'), expects=('RuntimeException',)),
        replace(target('p.OldTest', 'expectsByRule'), expects=('IllegalStateException',)),
        target('p.RowsTest', 'rows2'),
        *(target('p.NewTest', name) for name in ('passes', 'byDefault', 'made', 'again')),
        target('p.NewTest', 'rows', parameters=('int',)),
    ]
    found = observed(sandbox, honest, targets)
    assert [
        (one.outcome, one.tampered, wanted.method)
        for one, wanted in zip(found, targets, strict=True)
        if one is not None and (one.outcome is not Outcome.PASS or one.tampered)
    ] == []
    assert None not in found


def test_pass_with_an_unexpected_exception_is_tampered(sandbox: Sandbox, honest: Project) -> None:
    targets = [target('p.OldTest', name) for name in ('expects', 'fails')]
    expects, fails = observed(sandbox, honest, targets)
    assert expects is not None
    assert fails is not None
    assert (expects.outcome, expects.tampered) == (Outcome.PASS, 'thrown')
    assert (fails.outcome, fails.tampered) == (Outcome.FAIL, None)


REASONS = {
    'edits_the_listener': ('thrown',),
    'own_launcher': ('not_entered',),
    'own_memory': ('not_left',),
    'retransforms_the_worker': ('thrown',),
    'writes_to_the_debugger': ('not_left', 'unobserved'),
}

# What it writes may leave the JVM and its debugger's agent waiting for each other: no pass is told.
MAY_HANG = 'writes_to_the_debugger'


@pytest.mark.parametrize('name', [one.name for one in FORGERIES if one.stopped is None])
def test_observer_marks_forged_passes_as_tampered(
    sandbox: Sandbox, projects: dict[str, Project], name: str
) -> None:
    (forgery,) = (one for one in FORGERIES if one.name == name)
    parameters = ('TestInfo',) if forgery.template == JUNIT5 else ()
    wanted = target(forgery.class_name, parameters=parameters, seconds=10)
    (verdict,) = observed(sandbox, projects[name], [wanted], forgery.surefire)
    assert verdict is not None
    if name == MAY_HANG and verdict.outcome is Outcome.TIMEOUT:
        return
    assert verdict.outcome is Outcome.PASS
    assert verdict.tampered in REASONS[name]
