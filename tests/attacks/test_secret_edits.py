"""Nothing but what code does tells a test that it runs on edited code."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from coevo.languages.cells import CellEdits, CompiledTests
from coevo.languages.verdicts import RunConditions
from coevo.model.records import TestMethod
from coevo.model.words import Outcome
from tests.coevo.languages.place import Place, opened
from tests.projects import junit, pom, source

pytestmark = [pytest.mark.jvm, pytest.mark.timeout(900)]

TILL = 'src/main/java/shop/Till.java'
PRICE = '    public static int price(int n) { int sum = %d; return sum * n; }\n'

# The environment of process 1 can be read by no test (test_first_process.py).
SPY = r"""
    StringBuilder found = new StringBuilder();
    for (String name : "1/cmdline self/cmdline self/environ self/limits self/mountinfo"
            .split(" ")) {
        found.append(new String(java.nio.file.Files.readAllBytes(
            java.nio.file.Paths.get("/proc/" + name)), "ISO-8859-1").replace('\0', '\n'));
    }
    found.append("pid " + java.nio.file.Paths.get("/proc/self").toRealPath() + "\n");
    found.append(java.lang.management.ManagementFactory.getRuntimeMXBean().getInputArguments());
    java.util.ArrayDeque<java.io.File> todo = new java.util.ArrayDeque<>();
    for (String top : "/in /w /tools /repo /archives /run /tmp".split(" ")) {
        todo.add(new java.io.File(top));
    }
    long first = (Long) java.nio.file.Files.getAttribute(
        java.nio.file.Paths.get("/w/pom.xml"), "unix:ino");
    while (!todo.isEmpty()) {
        java.io.File at = todo.poll();
        if (!at.exists()) continue;
        java.util.Map<String, Object> all =
            java.nio.file.Files.readAttributes(at.toPath(), "unix:*");
        boolean ours = at.getPath().startsWith("/w/");
        found.append("\n" + at + " " + all.get("size") + " " + all.get("mode") + " "
            + all.get("nlink") + " " + (ours ? at.lastModified() : 0) + " "
            + (ours ? (Long) all.get("ino") - first : 0));
        java.io.File[] inside = at.listFiles();
        if (inside != null) todo.addAll(java.util.Arrays.asList(inside));
    }
    System.out.println(found);
"""


@pytest.fixture(scope='module')
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    tests = junit('TillTest', f'spies: {SPY}', 'costs: assertEquals(4, Till.price(2));')
    steps = [{'pom.xml': pom(), **source('Till', PRICE % 2), **tests}]
    with opened(tmp_path_factory.mktemp('secret'), steps) as found:
        yield found


def ran(place: Place, name: str, edits: CellEdits | None) -> tuple[Outcome, str]:
    """The outcome of a test, and what it wrote."""
    compiled: CompiledTests = place.built.compile(place.rev, place.rev, '.', edits=edits)
    method = TestMethod(
        module='.',
        test_file='src/test/java/shop/TillTest.java',
        test_class='shop.TillTest',
        test_method=name,
    )
    batch = place.built.run(compiled, [method], RunConditions(cpu_limit=20.0 if edits else None))
    (verdict,) = batch.verdicts
    assert verdict is not None
    return verdict.outcome, batch.output


def alike(text: str) -> list[str]:
    """Without what is another one in each process: ids of mounts, devices, names drawn by lot; and
    without the links of what is shared, which grow with each run on this machine that uses it."""
    text = re.sub(r'(?m)^(/(?:archives|repo|tools)/\S+ \d+ \d+) \d+ ', r'\1 N ', text)
    text = re.sub(r'(?m)^\d+ \d+ \d+:\d+ ', '', text)
    text = re.sub(r'(?m)^(/w/target/classes/shop/Till\.class) \d+ ', r'\1 N ', text)
    text = re.sub(r'\b[0-9a-f]{32}\b|bindfile\w+|[ug]id=\d+', 'DRAWN', text)
    return re.sub(r'hsperfdata_\w+|/tmp/\S+', 'OWN', text).splitlines()


@pytest.mark.slow
def test_environment_seen_by_a_test_is_the_same_with_and_without_code_edits(place: Place) -> None:
    """But for the size of the edited class, which placebos change as well."""
    (text,) = source('Till', PRICE % 3).values()
    edits = CellEdits(code=((TILL, text.encode()),))
    assert ran(place, 'costs', None)[0] is Outcome.PASS
    assert ran(place, 'costs', edits)[0] is Outcome.FAIL
    plain, edited = (ran(place, 'spies', one) for one in (None, edits))
    assert plain[0] is edited[0] is Outcome.PASS, plain[1] + edited[1]
    assert '/w/target/classes/shop/Till.class' in plain[1]
    assert alike(plain[1]) == alike(edited[1])
