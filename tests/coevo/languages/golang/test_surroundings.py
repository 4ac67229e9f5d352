"""Labels of Go tests whose text stays as it is, while what they use of the test side changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from coevo.languages.golang.toolchains import find_toolchains
from tests import projects
from tests.coevo.languages.golang.histories import LICENCE
from tests.coevo.languages.golang.place import GO_MOD
from tests.projects import write

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not find_toolchains(), reason='there is no Go here'),
]

HEAD = 'package shop_test\n\nimport (\n\t"os"\n\t"testing"\n\n\t"example.com/shop"\n)\n\n'
TESTS = {
    'calls_test.go': 'package shop_test\n\nimport "testing"\n\nfunc TestCalls(t *testing.T) { if !good() { t.Fatal() } }\n',
    'main_user_test.go': 'package shop_test\n\nimport "testing"\n\nfunc TestRest(t *testing.T) { if rest != 0 { t.Fatal() } }\n',
    'card_test.go': 'package shop_test\n\nimport (\n\t"testing"\n\n\t"example.com/shop"\n)\n\nfunc TestCard(t *testing.T) { if shop.Card != "GREETING" { t.Fatal(shop.Card) } }\n',
    'fuzz_test.go': 'package shop_test\n\nimport (\n\t"testing"\n\n\t"example.com/shop"\n)\n\nfunc FuzzPrice(f *testing.F) {\n\tf.Fuzz(func(t *testing.T, n int) { if shop.Price() != n { t.Fatal(n) } })\n}\n',
}
CARD = 'package shop\n\nimport _ "embed"\n\n//go:embed card.txt\nvar Card string\n'


def shop(price: int, greeting: str = 'Dear') -> dict[str, str]:
    helper = f'func good() bool {{ return shop.Price() == {price} }}\n\nvar rest int\n\nfunc TestMain(m *testing.M) {{ rest = shop.Price() - {price}; os.Exit(m.Run()) }}\n'
    return {
        'shop.go': f'package shop\n\nfunc Price() int {{ return {price} }}\n',
        'helper_test.go': HEAD + helper,
        'testdata/fuzz/FuzzPrice/one': f'go test fuzz v1\nint({price})\n',
        'card.txt': greeting,
        'card_test.go': TESTS['card_test.go'].replace('GREETING', greeting),
    }


def test_unchanged_test_that_its_surroundings_follow_the_code_for_is_a_fixture_update(
    tmp_path: Path,
) -> None:
    start = {**GO_MOD, 'LICENSE': LICENCE, 'card.go': CARD, **TESTS, **shop(1)}
    repository = write(tmp_path / 'repository', [start, shop(2), shop(2, 'Hello')])
    found = projects.mined(repository, tmp_path / 'store')
    labels = {(row.test_method, str(row.label)) for row in found.methods}
    assert labels >= {
        ('TestCalls', 'fixture_update'),
        ('TestRest', 'fixture_update'),
        ('FuzzPrice', 'fixture_update'),
        ('TestCard', 'update'),
    }, labels
    by_template = [pair for pair in found.pairs if pair.source_changed and not pair.test_only]
    assert len(by_template) == 2
