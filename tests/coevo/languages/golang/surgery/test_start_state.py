from __future__ import annotations

import pytest

from coevo.languages.golang import surgery
from coevo.languages.surgery import FileSurgery, Graft, OriginalTest, StartStateInvalid, StartTarget
from coevo.model.records import TestMethod

# mypy holds it against what is asked of a language.
SURGERY: FileSurgery = surgery

NEW = b"""package toll

import (
	"fmt"
	"strings"
	"testing"

	"github.com/a/b/v2"
)

// limits of all.
var (
	// low is the least.
	low  = 1
	high = 2
)

type fake struct{}

var _ fmt.Stringer = fake{}

func (f fake) String() string { return strings.Repeat("a", low) }

func helper(t *testing.T) { t.Helper() }

func TestMain(m *testing.M) { m.Run() }

// TestFake is about fakes.
func TestFake(t *testing.T) { // why
	helper(t)
	b.Check(fake{}, high)
}

func TestPlain(t *testing.T) {
	helper(t)
}
"""
OLD = b"""package toll

import (
	"os"
	"testing"
)

const limit, other = 3, 4

func setUp(t *testing.T) { t.Log(limit) }

func TestFake(t *testing.T) {
	setUp(t)
	os.Exit(1)
}
"""


def method(name: str) -> TestMethod:
    return TestMethod(module='.', test_file='toll_test.go', test_class='toll', test_method=name)


def removed(*names: str) -> list[StartTarget]:
    return [StartTarget(method=method(name)) for name in names]


def reverted(name: str, old: bytes = OLD, old_name: str = '') -> StartTarget:
    original = OriginalTest(method=method(old_name or name), source=old)
    return StartTarget(method=method(name), original=original)


def test_removed_test_takes_along_declarations_that_only_it_uses() -> None:
    start = SURGERY.make_start_file(NEW, OLD, removed('TestFake'))
    assert (
        start
        == b"""package toll

import (
	"testing"
)

func helper(t *testing.T) { t.Helper() }

func TestMain(m *testing.M) { m.Run() }

func TestPlain(t *testing.T) {
	helper(t)
}
"""
    )


def test_declaration_that_other_files_use_stays_in_the_start_file() -> None:
    start = SURGERY.make_start_file(
        NEW, OLD, removed('TestFake'), used_elsewhere=frozenset({'fake', 'high'})
    )
    assert start is not None
    assert b'high = 2' in start
    assert b'func (f fake) String()' in start
    assert b'"strings"' in start
    assert b'low  = 1' in start
    assert b'a/b/v2' not in start


def test_start_file_of_a_new_test_file_is_absent() -> None:
    assert SURGERY.make_start_file(NEW, None, removed('TestFake', 'TestPlain')) is None


def test_reverted_test_brings_the_old_declarations_and_imports_it_needs() -> None:
    start = SURGERY.make_start_file(NEW, OLD, [reverted('TestFake')])
    assert (
        start
        == b"""package toll

import (
	"os"
	"testing"
)

func helper(t *testing.T) { t.Helper() }

func TestMain(m *testing.M) { m.Run() }

const limit, other = 3, 4

func setUp(t *testing.T) { t.Log(limit) }

func TestFake(t *testing.T) {
	setUp(t)
	os.Exit(1)
}

func TestPlain(t *testing.T) {
	helper(t)
}
"""
    )


def test_helper_declared_in_another_file_of_the_package_is_not_brought() -> None:
    start = SURGERY.make_start_file(
        NEW, OLD, [reverted('TestFake')], used_elsewhere=frozenset({'=setUp'})
    )
    assert start is not None
    assert b'func setUp' not in start


def test_old_helper_replaces_its_new_version() -> None:
    new = OLD.replace(b'limit, other = 3, 4', b'limit, other = 5, 6').replace(
        b'Exit(1)', b'Exit(2)'
    )
    assert SURGERY.make_start_file(new, OLD, [reverted('TestFake')]) == OLD


def test_reverted_test_uses_the_import_of_the_new_file_for_the_same_name() -> None:
    new = b"""package a

import "testing"
import yaml "gopkg.in/yaml.v3"

func TestA(t *testing.T) { yaml.Get() }
"""
    old = b"""package a

import "testing"
import "gopkg.in/yaml.v2"

func TestA(t *testing.T) { yaml.Put() }
"""
    start = SURGERY.make_start_file(new, old, [reverted('TestA', old)])
    # The old test stands on the new code, and so does what the name means.
    assert start == new.replace(b'Get', b'Put')


def test_local_name_equal_to_a_package_does_not_keep_its_import() -> None:
    new = b"""package a

import (
	"net/url"
	"testing"
)

func TestA(t *testing.T) { url.Parse("a") }

func TestB(t *testing.T) {
	url := get()
	url.Close()
}
"""
    start = SURGERY.make_start_file(new, b'package a\n', removed('TestA'))
    assert start is not None
    assert b'net/url' not in start
    start = SURGERY.make_start_file(new, b'package a\n', removed('TestB'))
    assert start is not None
    assert b'net/url' in start


def test_iota_constants_are_kept_or_removed_together() -> None:
    new = b"""package a

import "testing"

const (
	one = iota
	two
)

func TestA(t *testing.T) { f(two) }

func TestB(t *testing.T) { f(one) }
"""
    start = SURGERY.make_start_file(new, b'package a\n', removed('TestA'))
    assert start is not None
    assert b'\tone = iota\n\ttwo\n' in start
    start = SURGERY.make_start_file(new, b'package a\n', removed('TestA', 'TestB'))
    assert start == b'package a\n'


def test_embedded_file_variable_comes_with_the_embed_import() -> None:
    old = b"""package a

import (
	_ "embed"
	"testing"
)

//go:embed testdata/a.txt
var text string

func TestA(t *testing.T) { f(text) }
"""
    new = b'package a\n\nimport "testing"\n\nfunc TestA(t *testing.T) { g() }\n'
    start = SURGERY.make_start_file(new, old, [reverted('TestA', old)])
    assert start is not None
    assert b'_ "embed"' in start
    assert b'//go:embed testdata/a.txt\nvar text string' in start
    made = SURGERY.transplant_tests_into_old(
        old, new, [Graft(new=method('TestA'), old=method('TestA'))]
    )
    assert made == new.replace(b'import "testing"', b'import (\n\t"testing"\n)')


def test_target_missing_from_the_new_file_is_refused() -> None:
    with pytest.raises(StartStateInvalid, match='toll#TestOther is not in the file at new'):
        SURGERY.make_start_file(NEW, OLD, removed('TestOther'))


def test_start_file_that_would_declare_a_name_twice_is_refused() -> None:
    old = OLD.replace(b'TestFake', b'TestPlain')
    with pytest.raises(StartStateInvalid, match='would declare TestPlain twice'):
        SURGERY.make_start_file(NEW, old, [reverted('TestFake', old, 'TestPlain')])


def test_start_file_equal_to_the_new_file_is_refused() -> None:
    with pytest.raises(StartStateInvalid, match='is the file at new'):
        SURGERY.make_start_file(NEW, NEW, [reverted('TestPlain', NEW)])


def test_inserted_test_is_transplanted_into_the_old_file() -> None:
    made = SURGERY.transplant_tests_into_old(OLD, NEW, [Graft(new=method('TestPlain'))])
    assert (
        made
        == b"""package toll

import (
	"os"
	"testing"
)

const limit, other = 3, 4

func setUp(t *testing.T) { t.Log(limit) }

func helper(t *testing.T) { t.Helper() }

func TestFake(t *testing.T) {
	setUp(t)
	os.Exit(1)
}

func TestPlain(t *testing.T) {
	helper(t)
}
"""
    )


def test_transplant_brings_types_with_methods_and_group_lines_with_a_keyword() -> None:
    made = SURGERY.transplant_tests_into_old(
        OLD, NEW, [Graft(new=method('TestFake'), old=method('TestFake'))]
    )
    assert b'type fake struct{}\n\nfunc (f fake) String() string' in made
    assert b'var (\n\t// low is the least.\n\tlow  = 1\n)' in made
    assert b'\t"strings"\n' in made
    assert b'"github.com/a/b/v2"' in made
    assert b'"os"' not in made
    assert b'setUp' not in made


def test_other_tests_are_all_tests_of_the_file_but_the_given() -> None:
    others = SURGERY.list_other_tests(NEW, [], 'toll_test.go')
    assert [member.name for member in others] == ['TestFake', 'TestPlain']
    assert SURGERY.list_other_tests(NEW, others[:1], 'toll_test.go') == others[1:]
