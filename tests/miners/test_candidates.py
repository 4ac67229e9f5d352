"""Profiles of candidates: ours, a user's, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from coevo.languages.table import LANGUAGES
from coevo.model.errors import Fatal
from miners.discovery.candidates import (
    REASONS,
    CandidateProfile,
    CandidateReason,
    Presence,
    RepositoryFacts,
    RepositoryMetadata,
    RootContent,
    find_reason_against,
    load_candidate_profile,
    load_candidate_profiles,
)

BUILT_IN = (
    *('testevo', 'testevo-python', 'testevo-go'),
    *('tam-eval', 'tam-eval-python', 'tam-eval-go'),
)
OWN = """
version = 1
[scala]
language = "Scala"
stars = 10
licences = ["MIT", "BSD-3-Clause"]
build_file = false
contributors = 0
forks = true
archived = false
pushed_since = 2024-05-06
"""


def seen(**others: object) -> RepositoryMetadata:
    known = {
        'github_id': 1,
        'full_name': 'ada/a',
        'clone_url': 'x',
        'default_branch': 'main',
        'stars': 1000,
        'license': 'MIT',
        'language': 'Java',
        'archived': False,
        'disabled': False,
        'fork': False,
        'created_at': datetime(2020, 1, 1, tzinfo=UTC),
        'pushed_at': datetime(2024, 1, 1, tzinfo=UTC),
    }
    return RepositoryMetadata(**{**known, **others})


def test_the_built_in_profiles_match_the_papers() -> None:
    testevo, tam_eval = load_candidate_profile('testevo'), load_candidate_profile('tam-eval')
    assert (testevo.stars, testevo.licences, testevo.build_file) == (500, None, True)
    assert testevo.search_queries == ('is:public language:Java',)
    assert (tam_eval.stars, tam_eval.contributors) == (40, 2)
    assert tam_eval.pushed_since == date(2021, 1, 1)
    assert tam_eval.search_queries == (
        'is:public language:Java pushed:>=2021-01-01 license:apache-2.0',
        'is:public language:Java pushed:>=2021-01-01 license:mit',
    )


@pytest.mark.parametrize('rules', ['testevo', 'tam-eval'])
def test_python_and_go_have_the_rules_of_java(rules: str) -> None:
    java, python, go = (
        load_candidate_profile(f'{rules}{ending}') for ending in ('', '-python', '-go')
    )
    assert python == replace(java, name=f'{rules}-python', language='Python')
    assert go == replace(java, name=f'{rules}-go', language='Go')
    assert java.build_files == ('pom.xml',)
    assert 'pyproject.toml' in python.build_files
    assert 'go.mod' in go.build_files


def test_a_user_can_add_profiles(tmp_path: Path) -> None:
    file = tmp_path / 'own.toml'
    file.write_text(OWN)
    assert list(load_candidate_profiles(file)) == [*BUILT_IN, 'scala']
    found = load_candidate_profile('scala', file)
    assert found.search_queries[1] == (
        'is:public language:Scala fork:true archived:false pushed:>=2024-05-06 license:mit'
    )
    with pytest.raises(Fatal, match='there are testevo, testevo-python'):
        load_candidate_profile('scala')


@pytest.mark.parametrize(
    ('line', 'instead', 'sentence'),
    [
        ('stars = 10', '', "lacks 'stars'"),
        ('stars = 10', 'stars = "10"', 'wrong kind'),
        ('stars = 10', 'stars = true', 'wrong kind'),
        ('stars = 10', 'stars = 10\nstarz = 1', "'starz', which means nothing"),
        ('version = 1', 'version = 2', 'reads version 1'),
        ('version = 1', 'version = ', 'no file of profiles'),
        ('[scala]', '["a/b"]', 'a name is made of'),
        ('"Scala"', '"Scala stars:1"', 'one word'),
        ('contributors = 0', 'contributors = 101', 'up to 100'),
        ('["MIT", "BSD-3-Clause"]', '"all"', '"osi" or a list'),
        ('["MIT", "BSD-3-Clause"]', '["MIT", 3]', '"osi" or a list'),
    ],
)
def test_an_invalid_profile_is_refused(
    tmp_path: Path, line: str, instead: str, sentence: str
) -> None:
    file = tmp_path / 'own.toml'
    file.write_text(OWN.replace(line, instead))
    with pytest.raises(Fatal, match=sentence):
        load_candidate_profiles(file)


def test_every_candidate_reason_has_an_explanation() -> None:
    assert set(REASONS) == set(CandidateReason)
    assert all(sentence and not sentence.endswith('.') for sentence in REASONS.values())


STRICT = CandidateProfile(
    name='strict',
    language='Java',
    stars=500,
    licences=None,
    build_file=True,
    contributors=2,
    forks=False,
    archived=False,
    pushed_since=date(2021, 1, 1),
)
GOOD = RepositoryFacts(root=RootContent.BUILD_FILE, at_least_contributors=2)


@pytest.mark.parametrize(
    ('metadata', 'presence', 'facts', 'reason'),
    [
        (seen(), Presence.SEARCH, GOOD, None),
        (seen(), Presence.LOOKUP, GOOD, None),
        (seen(license='MIT OR Apache-2.0'), Presence.SEARCH, GOOD, None),
        (seen(), Presence.DELETED, GOOD, CandidateReason.DELETED),
        (seen(), Presence.BLOCKED, GOOD, CandidateReason.BLOCKED),
        (seen(disabled=True), Presence.SEARCH, GOOD, CandidateReason.DISABLED),
        (seen(fork=True), Presence.SEARCH, GOOD, CandidateReason.FORK),
        (seen(archived=True), Presence.SEARCH, GOOD, CandidateReason.ARCHIVED),
        (seen(language=None), Presence.SEARCH, GOOD, CandidateReason.WRONG_LANGUAGE),
        (seen(stars=499), Presence.SEARCH, GOOD, CandidateReason.TOO_FEW_STARS),
        (seen(pushed_at=None), Presence.SEARCH, GOOD, CandidateReason.PUSHED_TOO_LONG_AGO),
        (seen(), Presence.SEARCH, RepositoryFacts(), CandidateReason.UNKNOWN),
        (
            seen(),
            Presence.SEARCH,
            RepositoryFacts(root=RootContent.BUILD_FILE),
            CandidateReason.UNKNOWN,
        ),
        (
            seen(),
            Presence.SEARCH,
            RepositoryFacts(root=RootContent.NO_BUILD_FILE),
            CandidateReason.NO_BUILD_FILE,
        ),
        (
            seen(),
            Presence.SEARCH,
            RepositoryFacts(at_least_contributors=9),
            CandidateReason.UNKNOWN,
        ),
        (
            seen(),
            Presence.SEARCH,
            RepositoryFacts(root=RootContent.BUILD_FILE, at_least_contributors=1),
            CandidateReason.TOO_FEW_CONTRIBUTORS,
        ),
    ],
)
def test_the_first_reason_against_a_candidate_comes_before_unknown(
    metadata: RepositoryMetadata,
    presence: Presence,
    facts: RepositoryFacts,
    reason: CandidateReason | None,
) -> None:
    assert find_reason_against(STRICT, metadata, presence, facts) is reason


def test_the_language_of_a_profile_decides_the_required_build_file(tmp_path: Path) -> None:
    file = tmp_path / 'own.toml'
    file.write_text(
        OWN.replace('Scala', 'Python').replace('build_file = false', 'build_file = true')
    )
    assert load_candidate_profile('scala', file).build_files == LANGUAGES['python'].BUILD_FILES
    assert load_candidate_profile('testevo').build_files == ('pom.xml',)
    file.write_text(OWN.replace('build_file = false', 'build_file = true'))
    with pytest.raises(Fatal, match='does not know by which file Scala is built; set build_file'):
        load_candidate_profile('scala', file)
