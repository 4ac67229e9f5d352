"""What every language says of itself, for which nothing of it has to run."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from coevo.languages.base import Language
from coevo.languages.capabilities import Capability, NotOfferedError
from coevo.languages.table import LANGUAGES
from coevo.model.records import TestMethod
from tests.languages.specimens import SPECIMENS
from tests.languages.table import known_toy

with known_toy():
    ALL = dict(LANGUAGES)


@pytest.fixture(params=sorted(ALL))
def language(request: pytest.FixtureRequest) -> Iterator[Language]:
    with known_toy():
        yield LANGUAGES[request.param]


def test_every_language_has_a_project_in_the_conformance_suite(language: Language) -> None:
    assert language in [one.language for one in SPECIMENS.values()]


def test_a_bad_machine_finding_comes_with_advice(language: Language) -> None:
    for finding in language.inspect_machine():
        assert (finding.advice is None) == finding.good, finding


def test_tool_versions_are_listed_in_order(language: Language) -> None:
    versions = language.list_tool_versions()
    assert list(versions) == sorted(versions)
    assert all(len(one.split(' ')) == 2 for one in versions)


def test_a_runtime_known_on_the_machine_can_be_provided(language: Language) -> None:
    runtimes = language.make_runtimes()
    assert language.RUNTIME
    for known in runtimes.known:
        assert runtimes.try_to_provide(known.version)
        assert runtimes.try_to_provide(known.release)
        like = language.make_runtimes(like=known.version)
        assert {one.version for one in like.known} == {known.version}


def test_mutants_come_from_a_mutation_tool_or_are_not_offered(language: Language) -> None:
    if Capability.MUTATE in language.OFFERS:
        assert language.get_mutation_tool().find_version()
    else:
        with pytest.raises(NotOfferedError):
            language.get_mutation_tool()


def test_the_prompt_words_say_how_to_run_the_tests(language: Language) -> None:
    method = TestMethod(
        module='till', test_file='till/any', test_class='shop.TillTest', test_method='sells'
    )
    words = language.make_prompt_words('till', method.test_file, [method])
    assert any('sells' in step for step in words.running)
    assert all((words.framework, words.new_file, words.side_effects))
