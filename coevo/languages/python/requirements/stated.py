"""Combine the requirement lines of a project by purpose, whichever file they are in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from packaging.utils import canonicalize_name

# Groups and extras with test requirements. The first of these kinds that a project has counts,
# since `dev` adds linters, documentation tools and tox.
_TEST_NAMES = (
    frozenset({'test', 'tests', 'testing', 'tests-mypy', 'hatch-test', 'test-min', 'qa'})
    | {'unit', 'unittest', 'unittests', 'unit-test', 'unit-tests'},
    frozenset({'dev', 'develop', 'development', 'all', 'ci'}),
)

# Packages that no test imports; they are left out by name.
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

# A plain requirement: a name, extras, versions and a marker; neither a path nor an option.
_PLAIN = re.compile(
    r'(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)\s*(?P<extras>\[[^\]]*\])?\s*'
    r'(?P<versions>\(?[<>=!~][^;@]*)?(?P<marker>;.*)?'
)
_OWN_EXTRAS = re.compile(
    r'[\'"\s]*(?:(?:-e|--editable)[ =]+)?[\'"]?(?P<name>\.|[\w.-]+)\s*\[(?P<extras>[^\]]+)\]'
)
# Prefix of a line that refers to lists, separated by commas, as setuptools writes it in setup.cfg.
FILES = 'file:'

_BREAKS = re.compile('[\\r\\n\\0]')
_COMMENT = re.compile(r'(^|\s)#.*')


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedRequirements:
    """The requirements that one file states, as it spells them.

    runtime  lines for the project itself
    groups   lists of lines by the name of the extra or group
    python   the interpreters it allows, in the syntax of `requires-python`
    """

    name: str | None = None
    version: str | None = None
    python: str | None = None
    runtime: tuple[str, ...] = ()
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    entry_points: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """The requirements of a project and its tests, merged from all files: lines, sorted, each once.

    runtime  requirements of the project itself
    tests    requirements of its tests
    pins     pins of the new commit of the pair, used for both revisions (`locks.py`)
    pythons  each `requires-python` that a file states
    groups   all groups, extras and lists, by name, from which missing modules are brought
    """

    runtime: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    pins: tuple[str, ...] = ()
    pythons: tuple[str, ...] = ()
    name: str | None = None
    version: str | None = None
    entry_points: tuple[tuple[str, tuple[str, ...]], ...] = ()
    groups: tuple[tuple[str, tuple[str, ...]], ...] = ()


def clean_requirement(line: str) -> str | None:
    """Return a line as one plain requirement (PEP 508); None for a path, URL, option or none.

    Comments, quotes and hashes are removed.
    """
    text = _COMMENT.sub('', line).strip().rstrip('\\').strip()
    if text[:1] in ('"', "'") and text[-1:] == text[:1]:
        text = text[1:-1]
    text = re.sub(r'\s+--hash=\S+', '', text)
    # A line must stay one line: uv would read a second one as a further requirement or option.
    return text if text and not _BREAKS.search(text) and _PLAIN.fullmatch(text) else None


def drop_non_test_tools(lines: Iterable[str]) -> tuple[str, ...]:
    """Return the plain requirements among lines, without tools that no test imports (`ruff`)."""
    requirements = (clean_requirement(line) for line in lines)
    return tuple(
        line
        for line in requirements
        if line and not _NOT_FOR_TESTS.fullmatch(get_requirement_name(line))
    )


def is_for_tests(group: str) -> bool:
    """Return whether the name of a group or extra is one for tests or developers: `test`, `dev`."""
    return any(canonicalize_name(group) in names for names in _TEST_NAMES)


def get_requirement_name(requirement: str) -> str:
    """Return the canonical name of a requirement that `clean_requirement` accepted."""
    match = _PLAIN.fullmatch(requirement)
    assert match is not None, 'what `clean_requirement` let pass'
    return canonicalize_name(match['name'])


def merge_requirements(stated: Iterable[StatedRequirements]) -> Needs:
    """Merge the requirements of all files into the needs of a project.

    The first name and the first version count. The project itself is removed from the lines. If
    files contradict each other about a test requirement, the first file counts.

    stated  in order of precedence
    """
    files = list(stated)
    name = next((statement.name for statement in files if statement.name), None)
    own: set[str] = {canonicalize_name(name)} if name else set()
    runtime = sorted(
        _filter_usable((line for statement in files for line in statement.runtime), own)
    )
    extras: dict[str, tuple[str, ...]] = {}
    for statement in files:
        for group, lines in statement.groups.items():
            extras[canonicalize_name(group)] = (*extras.get(canonicalize_name(group), ()), *lines)
    tests: list[str] = []
    for statement in files:
        test_lines = sorted(
            _filter_usable(_expand_extras(_list_test_lines(statement.groups), extras, own), own)
        )
        known = {
            get_requirement_name(line) for line in tests
        }  # where files contradict each other, the first counts
        tests += [line for line in test_lines if get_requirement_name(line) not in known]
    points: dict[str, list[str]] = {}
    for statement in files:
        for group, lines in statement.entry_points.items():
            points.setdefault(group, []).extend(line for line in lines)
    return Needs(
        runtime=tuple(runtime),
        tests=tuple(sorted(drop_non_test_tools(tests))),
        pythons=tuple(sorted({statement.python for statement in files if statement.python})),
        name=name,
        version=next((statement.version for statement in files if statement.version), None),
        entry_points=tuple((group, tuple(sorted(set(lines)))) for group, lines in points.items()),
        groups=tuple(
            (group, usable)
            for group, lines in sorted(extras.items())
            if (usable := tuple(sorted(_filter_usable(_expand_extras(lines, extras, own), own))))
        ),
    )


def _filter_usable(lines: Iterable[str], own: set[str]) -> set[str]:
    requirements = (clean_requirement(line) for line in lines)
    return {
        line for line in requirements if line is not None and get_requirement_name(line) not in own
    }


def _list_test_lines(groups: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    known: dict[str, str] = {canonicalize_name(name): name for name in groups}
    for wanted in _TEST_NAMES:
        chosen = [known[name] for name in sorted(wanted & known.keys())]
        for name in chosen:
            yield from groups[name]
        if chosen:
            return


def _expand_extras(
    lines: Iterable[str], extras: Mapping[str, tuple[str, ...]], own: set[str], depth: int = 8
) -> Iterator[str]:
    """Yield the lines, each followed by those of the project's own extras that it names.

    Such a line is `.[doc]`, `-e .[x]` or `NAME[x]`.

    extras  lines by the name of the extra
    own     the project's name, if known
    """
    for line in lines:
        yield line
        match = _OWN_EXTRAS.match(line)
        if (
            match is None
            or not depth
            or canonicalize_name(match['name'] or '.') not in {*own, '.', '-'}
        ):
            continue
        for name in match['extras'].split(','):
            more = extras.get(canonicalize_name(name.strip()), ())
            yield from _expand_extras(more, extras, own, depth - 1)
