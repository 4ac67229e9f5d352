"""The table of all supported languages."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Collection, Mapping
from functools import cache
from importlib import metadata

from coevo.git.repository import Repository
from coevo.languages.base import Language
from coevo.languages.capabilities import EVERYTHING, Capability, list_lacking
from coevo.languages.code_digest import CodeRoots, compute_code_digest, list_other_packages
from coevo.languages.fixes import MechanicalFixer, NoFixes
from coevo.languages.golang import fixes as golang_fixes, language as golang
from coevo.languages.java import fixes as java_fixes, language as java
from coevo.languages.java.gradle import BUILD_FILES as GRADLE_FILES
from coevo.languages.measures import Measures
from coevo.languages.python import fixes as python_fixes, language as python
from coevo.languages.python.requirements.reading import BUILD_FILES
from coevo.languages.reading import LanguageReading
from coevo.languages.surgery import FileSurgery

_JAVA: Language = java
_PYTHON: Language = python
_GO: Language = golang

LANGUAGES: Mapping[str, Language] = {language.NAME: language for language in (_JAVA, _PYTHON, _GO)}
"""The languages by their values in the `language` columns."""

_FIXERS: Mapping[str, MechanicalFixer] = {
    java.NAME: java_fixes,
    python.NAME: python_fixes,
    golang.NAME: golang_fixes,
}

# Files at the root of a repository that show another build tool, with the tool's own name.
_OTHER_BUILDS = {
    'build.gradle': 'Gradle',
    'build.gradle.kts': 'Gradle',
    'build.sbt': 'sbt',
    'build.xml': 'Ant',
    'CMakeLists.txt': 'CMake',
    'Cargo.toml': 'Cargo',
    'package.json': 'npm',
}

# Those of folders that are named if the root has none.
_BUILDS = frozenset({'pom.xml', 'go.mod', *BUILD_FILES, *GRADLE_FILES})
_MOST_NAMED = 5

# What no part of a branch's name may contain, or end in (git check-ref-format).
_NOT_IN_BRANCHES = re.compile(r'[\x00-\x20\x7f~^:?*\[\\]+|\.{2,}|@\{|\.(?=(lock)?$)')


def detect_languages(repository: Repository, rev: str) -> tuple[Language, ...]:
    """Return the languages whose build tools build a revision, in the order of the table."""
    return tuple(
        language for language in LANGUAGES.values() if language.looks_buildable(repository, rev)
    )


def explain_no_language(repository: Repository, rev: str) -> str:
    """Return a clause on why no supported language builds a revision, with the files that it lacks.

    If a file at the root shows another build tool, the tool is named. Example: `has neither a
    pom.xml at its root nor …; it is built by npm, which coevo cannot run`.
    """
    there = repository.tree(rev)
    others = sorted({name for file, name in _OTHER_BUILDS.items() if file in there})
    why = 'has neither ' + ' nor '.join(language.REVISION_NEEDS for language in LANGUAGES.values())
    if others == ['Gradle']:
        return f'{why}; it is built by Gradle, of which none was found (set GRADLE_HOME)'
    if others:
        why += f'; it is built by {" and ".join(others)}, which coevo cannot run'
    return why


def suggest_project_folders(repository: Repository, rev: str) -> str:
    """Return a sentence on how folders with build files are mined; empty if there are none."""
    folders = _list_project_folders(repository.tree(rev))
    if not folders:
        return ''
    more = f' and {len(folders) - _MOST_NAMED} more' if len(folders) > _MOST_NAMED else ''
    return (
        f'There are build files in {", ".join(folders[:_MOST_NAMED])}{more}; '
        f'{suggest_split(folders[0])}'
    )


def _list_project_folders(paths: Collection[str]) -> tuple[str, ...]:
    """Return the topmost folders with a build file of a language, sorted.

    Hidden folders and those of test data hold no projects. Scripts of Gradle below a root that has
    one are of the same build.
    """
    files = _BUILDS.difference(GRADLE_FILES if any(name in paths for name in GRADLE_FILES) else ())
    topmost: list[str] = []
    for folder in sorted({posixpath.dirname(p) for p in paths if posixpath.basename(p) in files}):
        inside = any(folder.startswith(f'{above}/') for above in topmost)
        if folder and not inside and not _holds_no_project(folder):
            topmost.append(folder)
    return tuple(topmost)


def _holds_no_project(folder: str) -> bool:
    return any(part == 'testdata' or part.startswith('.') for part in folder.split('/'))


def suggest_split(folder: str) -> str:
    """Return a clause that says how a folder of a repository is mined."""
    branch = _NOT_IN_BRANCHES.sub('-', f'only-{posixpath.basename(folder)}')
    split = shlex.join(['git', 'subtree', 'split', f'--prefix={folder}', '--branch', branch])
    return (
        f'coevo mines a repository from its root, and no folder by itself: `{split}` makes a branch '
        f'of the folder, and `{shlex.join(["--ref", branch])} --name OWNER/NAME` mines that'
    )


def get_reading(language: str) -> LanguageReading:
    """Return the reading of a language by its value in the `language` columns."""
    return LANGUAGES[language].READING


def get_surgery(language: str) -> FileSurgery:
    """Return the surgery of a language by its value in the `language` columns."""
    return LANGUAGES[language].SURGERY


def get_measures(language: str) -> Measures:
    """Return the measures of a language by its value in the `language` columns."""
    return LANGUAGES[language].MEASURES


def get_fixer(language: str) -> MechanicalFixer:
    """Return the fixer of test files of a language by its value in the `language` columns.

    A language of the table that has none fixes nothing.
    """
    return _FIXERS.get(LANGUAGES[language].NAME, NoFixes())


def offers_capability(language: str, capability: Capability) -> bool:
    """Return whether the pairs of a language have an optional capability."""
    return capability in LANGUAGES[language].OFFERS


def list_lacking_capabilities(language: str) -> tuple[str, ...]:
    """Return the capabilities and measures that a language does not offer, sorted."""
    known = LANGUAGES[language]
    return tuple(
        sorted((*list_lacking(EVERYTHING, known.OFFERS), *known.MEASURES.lacking_measures))
    )


@cache
def name_parser_version(language: str) -> str:
    """Return the version of the code that makes hashes and prints of bodies.

    Results of another version cannot be used. A change of other code keeps the version, since a
    search of long histories takes hours.
    """
    digest = compute_code_digest(make_parser_roots(language)).digest
    parsers = (f'{name} {metadata.version(name)}' for name in get_reading(language).PARSERS)
    return ' '.join((digest, *parsers))


def make_parser_roots(language: str) -> CodeRoots:
    """Return the functions at which the code begins that makes hashes and prints of bodies."""
    modules = {name: each.READING.__name__ for name, each in LANGUAGES.items()}
    return CodeRoots(
        names=(
            'miners.dates.scanning:parse_bodies',
            'coevo.languages.prints:make_body_prints_by_hash',
        ),
        language=modules[language],
        members=('LEXIS',),
        left_out=list_other_packages(modules.values(), modules[language]),
    )


def get_reading_of_file(path: str) -> LanguageReading:
    """Return the reading of the language in which a file is written, by the file's name.

    Raises:
        ValueError: the file is of no supported language.
    """
    return get_reading(detect_file_language(path))


def detect_file_language(path: str) -> str:
    """Return the value in the `language` columns for a file, by the ending of its name.

    Raises:
        ValueError: the file is of no supported language.
    """
    for name, language in LANGUAGES.items():
        if path.endswith(language.READING.SUFFIXES):
            return name
    raise ValueError(f'{path} is written in no language that coevo knows')


def get_engine_version(language: str) -> str:
    """Return a digest of coevo's own code that builds and runs revisions of a language.

    It changes when that code changes.
    """
    modules = {name: module.__name__ for name, module in LANGUAGES.items()}
    roots = CodeRoots(
        names=('coevo.engine.workers:BuilderPool', 'coevo.engine.execution:evaluate_pair'),
        language=modules[language],
        members=('make_runtimes',),
        left_out=list_other_packages(modules.values(), modules[language]),
    )
    return compute_code_digest(roots).digest


def list_engine_versions() -> dict[str, str]:
    """Return the engine version of every language, by language.

    A run records them, and its worker must have the same ones.
    """
    return {name: get_engine_version(name) for name in sorted(LANGUAGES)}
