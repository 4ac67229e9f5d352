"""What is found out of tests of Go beside their outcomes: what they execute, dates, variants of sources."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from coevo.languages.cells import BorrowedSettings, SettingsScope
from coevo.languages.golang.toolchains import find_toolchains
from coevo.languages.verdicts import MainSources, RunConditions
from coevo.model.words import Outcome
from tests.coevo.languages.golang.place import GO_MOD, GoPlace, opened

pytestmark = pytest.mark.skipif(not find_toolchains(), reason='there is no Go here')

STARTS = 'package coins\n\nvar begun int\n\nfunc init() { begun++ }\n\nfunc init() { begun++ }\n'
SHOP = """\
package shop

import "example.com/shop/coins"

type Till struct{ sum int }

func (t *Till) Add(n int) int {
	if n < 0 {
		return t.refuse()
	} else if n > 99 {
		return t.refuse()
	}
	t.sum += n; t.sum += coins.None()
	return t.sum
}

func (t *Till) refuse() int { return 0 }
"""
COINS = 'package coins\n\nfunc None() int { return 0 }\n\nfunc Unused() {}\n'
TESTS = """\
package shop

import (
	"os"
	"runtime"
	"testing"
	"time"
)

func TestAdds(t *testing.T) {
	if (&Till{}).Add(2) != 2 {
		t.Fatal()
	}
}

func TestIsLongAgo(t *testing.T) {
	begun := time.Now()
	time.Sleep(time.Millisecond)
	if took := time.Since(begun); begun.Year() != 2001 || took < 0 || took > time.Minute {
		t.Fatal(begun, took)
	}
}

func TestReadsItsSource(t *testing.T) {
	text, err := os.ReadFile("shop.go")
	if err != nil || len(text) != 18 {
		t.Fatal(err, len(text))
	}
}

func TestHasOneProcessor(t *testing.T) {
	if n := runtime.GOMAXPROCS(0); n != 1 {
		t.Fatal(n)
	}
}
"""


@pytest.fixture(scope='module')
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GoPlace]:
    old = {
        **GO_MOD,
        'shop.go': 'package shop // 18\n'[:18],
        'coins/coins.go': COINS,
        'coins/start.go': STARTS,
    }
    new = {'shop.go': SHOP, 'shop_test.go': TESTS}
    with opened(tmp_path_factory.mktemp('measured'), [old, new]) as found:
        yield found


def test_trace_lists_the_executed_functions_and_lines_of_a_test(place: GoPlace) -> None:
    traced = place.built.trace(place.compiled(), [place.method('TestAdds')], ['shop.go'])
    (trace,) = traced.traces
    assert trace is not None
    executed = {(one.file, one.method, one.first_line, one.last_line) for one in trace.executed}
    assert executed == {
        ('shop.go', '(*Till).Add', 7, 15),
        ('coins/coins.go', 'None', 3, 3),
        ('coins/start.go', 'init', 5, 5),
        ('coins/start.go', 'init', 7, 7),
    }
    assert sorted((one.type, one.descriptor) for one in trace.executed) == [
        ('coins', 'coins/coins.go:3'),
        ('coins', 'coins/start.go:5'),
        ('coins', 'coins/start.go:7'),
        ('shop$Till', 'shop.go:7'),
    ]
    lines = {
        one.line: (one.missed_instructions, one.covered_instructions)
        for one in trace.lines['shop.go']
    }
    assert lines == {
        8: (0, 1),
        9: (1, 0),
        10: (0, 1),
        11: (1, 0),
        13: (0, 2),
        14: (0, 1),
        17: (1, 0),
    }


def test_failing_test_is_not_traced(place: GoPlace) -> None:
    method = place.method('TestIsLongAgo')
    assert place.built.trace(place.compiled(), [method], ['shop.go']).traces == (None,)


def test_clock_of_a_run_starts_at_the_given_date_and_runs_on(place: GoPlace) -> None:
    then = RunConditions(clock=datetime(2001, 2, 3, tzinfo=UTC))
    assert place.verdict('TestIsLongAgo', conditions=then).outcome is Outcome.PASS
    assert place.verdict('TestIsLongAgo').outcome is Outcome.FAIL


def test_source_files_shown_to_a_test_can_be_of_another_revision(place: GoPlace) -> None:
    shown = RunConditions(sources=MainSources(rev=place.built.old.rev))
    assert place.verdict('TestReadsItsSource', conditions=shown).outcome is Outcome.PASS
    assert place.verdict('TestReadsItsSource').outcome is Outcome.FAIL


@pytest.mark.slow
def test_every_second_run_alone_has_one_processor(place: GoPlace) -> None:
    told = [place.verdict('TestHasOneProcessor').outcome for _ in range(3)]
    assert told == [Outcome.FAIL, Outcome.PASS, Outcome.FAIL]


@pytest.mark.slow
def test_variants_of_a_source_are_compiled_separately(place: GoPlace) -> None:
    text = SHOP.encode()
    variants = (
        text,
        text.replace(b't.sum += n; ', b'// a comment\n\tt.sum += n\n\t'),
        text.replace(b'n < 0', b'n <= 0'),
        text.replace(b'return t.sum', b'return "sum"'),
        text.replace(b'refuse', b'decline'),
    )
    rev = place.built.new.rev
    same, laid_out, mutant, broken, renamed = place.built.check_main_sources(
        rev, '.', 'shop.go', variants
    )
    assert same.digest == laid_out.digest != mutant.digest
    assert same.outside == mutant.outside != renamed.outside
    assert broken.digest is None
    assert broken.signature is not None
    assert 'return statement' in broken.signature
    assert (same.signature, renamed.signature) == (None, None)


@pytest.mark.slow
def test_equal_settings_of_two_revisions_do_not_differ(place: GoPlace) -> None:
    for scope in SettingsScope:
        borrowed = BorrowedSettings(rev=place.built.old.rev, scope=scope)
        assert not place.built.do_settings_differ(place.built.new.rev, '.', borrowed)
