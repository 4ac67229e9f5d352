"""The lists of a project by what they are for, whichever file they stand in."""

from __future__ import annotations

import re
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field

# Groups and extras that hold what tests need; the first of these kinds that a project has counts,
# since `dev` drags in linters, documents and tox.
_TEST_NAMES = (
    frozenset({'test', 'tests', 'testing', 'tests-mypy', 'hatch-test'})
    | {'unit', 'unittest', 'unittests', 'unit-test', 'unit-tests'},
    frozenset({'dev', 'develop', 'development', 'all', 'ci'}),
)

# What no test imports: left out by name.
_NOT_FOR_TESTS = re.compile(
    r'(ruff|black|mypy|pre-commit|tox(-.*)?|nox|sphinx.*|furo|flake8.*|pylint.*|isort|twine|build'
    r'|pyright|ty|towncrier|cogapp|check-manifest|bump2?version|wheel|coveralls|codecov|docutils'
    r'|readme-renderer|types-.*|pytest-xdist|pytest-randomly|pytest-cov|pytest-flake8|pytest-sugar'
    r'|pytest-codspeed|pytest-mypy-plugins|zest-releaser|ipython|jupyter|mkdocs.*|pip-tools|uv|hatch'
    r'|poetry|flit|pyupgrade|interrogate|bandit|safety|pydocstyle|pycodestyle|codespell|coverage|pip'
    r'|ipdb|gitlint|invoke|autopep8|yapf|autoflake|pyflakes|pytest-black|pytest-isort|pytest-pep8'
    r'|pytest-mypy|pytest-ruff|pytest-pylint|pytest-flakes|pytest-pycodestyle|pytest-pydocstyle'
    r'|pytest-checkdocs|pytest-enabler|pytest-html|pytest-instafail|pytest-clarity'
    r'|pytest-github-actions-annotate-failures)'
)

# A plain requirement: a name, extras, versions, a marker; neither a place nor an option.
_PLAIN = re.compile(
    r'(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)\s*(?P<extras>\[[^\]]*\])?\s*'
    r'(?P<versions>\(?[<>=!~][^;@]*)?(?P<marker>;.*)?'
)
_OWN_EXTRAS = re.compile(
    r'[\'"\s]*(?:(?:-e|--editable)[ =]+)?[\'"]?(?P<name>\.|[\w.-]+)\s*\[(?P<extras>[^\]]+)\]'
)
# Before the names of lists, with commas, that stand for a requirement, as setuptools has it in setup.cfg.
FILES = 'file:'

_BREAKS = re.compile('[\\r\\n\\0]')
_COMMENT = re.compile(r'(^|\s)#.*')


@dataclass(frozen=True, slots=True, kw_only=True)
class Stated:
    """What one file says.

    groups   lists of requirements by the name of the extra or group
    python   which interpreters it allows, as `requires-python` has it
    """

    name: str | None = None
    version: str | None = None
    python: str | None = None
    runtime: tuple[str, ...] = ()
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    entry_points: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """What a revision's tests need: requirement lines, sorted, each once.

    pins  of the pair's new commit, for both ends (`locks.py`)
    """

    runtime: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    pins: tuple[str, ...] = ()
    pythons: tuple[str, ...] = ()
    name: str | None = None
    version: str | None = None
    entry_points: tuple[tuple[str, tuple[str, ...]], ...] = ()


def normal(name: str) -> str:
    """A project's name as PEP 503 compares it."""
    return re.sub(r'[-_.]+', '-', name).lower()


def plain(line: str) -> str | None:
    """A line as one plain requirement; None for places, options, names alone of a path."""
    text = _COMMENT.sub('', line).strip().rstrip('\\').strip()
    if text[:1] in ('"', "'") and text[-1:] == text[:1]:
        text = text[1:-1]
    text = re.sub(r'\s+--hash=\S+', '', text)
    # A line is one line: uv would read a second one as a requirement, or as an option, of its own.
    return text if text and not _BREAKS.search(text) and _PLAIN.fullmatch(text) else None


def for_tests(lines: Iterable[str]) -> tuple[str, ...]:
    """The plain requirements among lines that a test may import."""
    found = (plain(line) for line in lines)
    return tuple(line for line in found if line and not _NOT_FOR_TESTS.fullmatch(name_of(line)))


def name_of(requirement: str) -> str:
    found = _PLAIN.fullmatch(requirement)
    assert found is not None, 'what `plain` let pass'
    return normal(found['name'])


def merged(stated: Iterable[Stated]) -> Needs:
    """The union of all files; the first that has a name, a version counts."""
    files = list(stated)
    name = next((one.name for one in files if one.name), None)
    own = {normal(name)} if name else set()
    runtime = sorted(_usable((line for one in files for line in one.runtime), own))
    extras: dict[str, tuple[str, ...]] = {}
    for one in files:
        for group, lines in one.groups.items():
            extras[normal(group)] = (*extras.get(normal(group), ()), *lines)
    tests: list[str] = []
    for one in files:
        found = sorted(_usable(_with_extras(_for_tests(one.groups), extras, own), own))
        known = {name_of(line) for line in tests}  # where files contradict, the first counts
        tests += [line for line in found if name_of(line) not in known]
    points: dict[str, list[str]] = {}
    for one in files:
        for group, lines in one.entry_points.items():
            points.setdefault(group, []).extend(line for line in lines)
    return Needs(
        runtime=tuple(runtime),
        tests=tuple(sorted(for_tests(tests))),
        pythons=tuple(sorted({one.python for one in files if one.python})),
        name=name,
        version=next((one.version for one in files if one.version), None),
        entry_points=tuple((group, tuple(sorted(set(lines)))) for group, lines in points.items()),
    )


def _usable(lines: Iterable[str], own: set[str]) -> set[str]:
    found = (plain(line) for line in lines)
    return {line for line in found if line is not None and name_of(line) not in own}


def _for_tests(groups: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    known = {normal(name): name for name in groups}
    for wanted in _TEST_NAMES:
        chosen = [known[name] for name in sorted(wanted & known.keys())]
        for name in chosen:
            yield from groups[name]
        if chosen:
            return


def _with_extras(
    lines: Iterable[str], extras: Mapping[str, tuple[str, ...]], own: set[str], depth: int = 8
) -> Iterator[str]:
    """Lines, and those of the project's own extras that they name: `.[doc]`, `-e .[x]`, `NAME[x]`."""
    for line in lines:
        yield line
        found = _OWN_EXTRAS.match(line)
        if found is None or not depth or normal(found['name'] or '.') not in {*own, '.', '-'}:
            continue
        for name in found['extras'].split(','):
            more = extras.get(normal(name.strip()), ())
            yield from _with_extras(more, extras, own, depth - 1)
