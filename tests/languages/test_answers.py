"""What every language says of itself, for which nothing of it has to run."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from coevo.languages.base import Language
from coevo.languages.capabilities import Capability
from coevo.languages.capabilities import NotOffered
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


def test_the_conformance_suite_has_a_project_of_it(language: Language) -> None:
    assert language in [one.language for one in SPECIMENS.values()]


def test_what_is_missing_comes_with_advice(language: Language) -> None:
    for finding in language.findings():
        assert (finding.advice is None) == finding.good, finding


def test_its_tools_are_told_in_order(language: Language) -> None:
    versions = language.tool_versions()
    assert list(versions) == sorted(versions)
    assert all(len(one.split(' ')) == 2 for one in versions)


def test_a_runtime_of_the_machine_can_be_had(language: Language) -> None:
    runtimes = language.runtimes()
    assert language.RUNTIME
    for known in runtimes.known:
        assert runtimes.has(known.version)
        assert runtimes.has(known.release)
        like = language.runtimes(like=known.version)
        assert {one.version for one in like.known} == {known.version}


def test_mutants_come_of_a_tool_or_are_not_offered(language: Language) -> None:
    if Capability.MUTATE in language.OFFERS:
        assert language.mutation_tool().version()
    else:
        with pytest.raises(NotOffered):
            language.mutation_tool()


def test_a_prompt_is_told_how_to_run_its_tests(language: Language) -> None:
    method = TestMethod(
        module='till', test_file='till/any', test_class='shop.TillTest', test_method='sells'
    )
    words = language.prompt_words('till', method.test_file, [method])
    assert any('sells' in step for step in words.running)
    assert all((words.framework, words.new_file, words.side_effects))
