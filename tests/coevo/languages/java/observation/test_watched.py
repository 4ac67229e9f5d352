"""Lines that an observer sees reached, beside those that JaCoCo's agent counts as covered."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from coevo.languages.verdicts import PLAIN, Trace
from coevo.model.records import TestMethod
from tests.coevo.languages.place import Place, opened
from tests.projects import junit, pom

pytestmark = pytest.mark.jvm

PATH = 'src/main/java/shop/Forms.java'
FORMS = """\
package shop;

import java.io.StringReader;
import java.util.*;
import java.util.function.*;

public class Forms {
    static final Map<String, Integer> KNOWN = new HashMap<>();
    static {
        KNOWN.put("a", 1);
    }
    private int state = 3;
    {
        state++;
    }

    int loops(int n) {
        int sum = 0;
        for (int i = 0;
                i < n;
                i++) {
            if (i == 2) continue;
            sum += i;
        }
        outer:
        for (String each : KNOWN.keySet()) {
            do {
                if (sum > 1) break outer;
                sum++;
            } while (sum < 10);
        }
        while (sum > 5) sum--;
        return sum;
    }

    String chooses(Object one, int n) {
        String found = n > 3
                && one != null
                || n < -3
                ? "large"
                : "small";
        switch (found) {
            case "large":
                found += one;
                break;
            case "small":
            default:
                found += "s";
        }
        return n == 0 ? "zero" : found;
    }

    int tries(boolean fails) throws Exception {
        int n = 0;
        try (StringReader reader = new StringReader("ab")) {
            n += reader.read();
            if (fails) throw new IllegalStateException(
                    "fails");
        } catch (IllegalStateException expected) {
            n = -n;
        } finally {
            n++;
        }
        synchronized (this) {
            n += state;
        }
        return n;
    }

    int nested() {
        Function<Integer, Integer> twice = n ->
                n * 2;
        Supplier<Integer> inner = new Supplier<Integer>() {
            int kept = 4;
            @Override public Integer get() {
                return kept;
            }
        };
        class Local {
            int own() {
                return twice.apply(3);
            }
        }
        return new Local().own()
                + inner.get()
                + Arrays.asList(1, 2).stream()
                        .map(twice)
                        .mapToInt(Integer::intValue)
                        .sum();
    }

    void throwing() {
        Integer.parseInt("none");
        state = 0;
    }

    int untouched() {
        return 9;
    }

    static class Other {
        long value = System.nanoTime();
    }
}

interface Beside {
    default int beside() {
        return 7;
    }
}
"""
BODY = """
    Forms forms = new Forms();
    assertEquals(6, forms.loops(4) + forms.loops(1));
    forms.chooses("b", 5); forms.chooses(null, 5); forms.chooses("b", 0); forms.chooses("b", -5);
    forms.tries(true); forms.tries(false); forms.nested();
    try { forms.throwing(); fail(); } catch (NumberFormatException expected) { }
    new Forms.Other(); new Beside() { }.beside();
"""
STEPS = ({'pom.xml': pom(), PATH: FORMS, **junit('FormsTest', f'forms: {BODY}', 'fails: fail();')},)
EVERYTHING = range(1, FORMS.count('\n') + 1)


@pytest.fixture(scope='module')
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with opened(tmp_path_factory.mktemp('watched'), STEPS) as found:
        yield found


def watched(place: Place, name: str) -> Trace | None:
    built, rev = place.built, place.rev
    method = TestMethod(
        module='.',
        test_file='src/test/java/shop/FormsTest.java',
        test_class='shop.FormsTest',
        test_method=name,
    )
    lines = dict.fromkeys(('shop.Forms', 'shop.Beside', 'shop.FormsTest'), EVERYTHING)
    compiled = built.compile(rev, rev, '.')
    traced = built.trace(compiled, [method], [PATH], replace(PLAIN, observed=True), watched=lines)
    return traced.traces[0]


def line_of(text: str) -> int:
    (found,) = (n for n, line in enumerate(FORMS.splitlines(), 1) if text in line)
    return found


def test_lines_covered_by_a_test_are_observed_as_reached(place: Place) -> None:
    trace = watched(place, 'forms')

    assert trace is not None
    assert trace.reached is not None
    seen = trace.reached['shop.Forms'] | trace.reached['shop.Beside']
    lines = trace.lines[PATH]
    covered = {line.line for line in lines if line.covered_instructions}
    assert covered - seen == set()
    assert len(covered) > 50
    missed = {line.line for line in lines if not line.covered_instructions}
    # What an exception leaves is reached, though JaCoCo does not count it.
    assert missed & seen == {line_of('Integer.parseInt("none")')}
    assert {line_of('state = 0;'), line_of('return 9;')} <= missed
    assert line_of('return 7;') in trace.reached['shop.Beside']
    assert trace.reached['shop.FormsTest']


def test_failing_test_has_no_watched_trace(place: Place) -> None:
    assert watched(place, 'fails') is None
