"""Compute the keys of segments from the code, the profile and the tools that they depend on.

A segment is due again once its key changes. `coevo pipeline status` compares the basis that a walk recorded
with the current basis, and says what differs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from importlib import metadata

from coevo.languages.code_digest import (
    CodeDigest,
    CodeRoots,
    compute_code_digest,
    list_differing_names,
    list_other_packages,
)
from coevo.languages.table import LANGUAGES
from coevo.model.errors import Fatal
from coevo.model.profiles import Profile, load_profile
from coevo.model.records import compute_short_hash
from coevo.storage.documents import SegmentBasis

# Parsers and counters whose results decide candidates, labels and columns.
_LIBRARIES = (
    'lizard',
    'packaging',
    'pydriller',
    'tree-sitter',
    'tree-sitter-go',
    'tree-sitter-java',
    'tree-sitter-python',
)


def make_mining_roots(language: str) -> CodeRoots:
    """Return the functions at which the code begins that mines pairs of a language."""
    modules = {name: module.__name__ for name, module in LANGUAGES.items()}
    return CodeRoots(
        names=(
            'flows.mining:mine_pair',
            'flows.pipeline:build_tools',
            'coevo.engine.workers:BuilderPool',
        ),
        language=modules[language],
        members=('make_refactoring_finder', 'make_runtimes'),
        left_out=list_other_packages(modules.values(), modules[language]),
    )


def compute_mining_code_digest(language: str) -> CodeDigest:
    """Return the digest of all code on which the rows of a mined pair of a language depend."""
    return compute_code_digest(make_mining_roots(language))


def compute_basis(profile: Profile, language: str) -> SegmentBasis:
    """Return the basis of a language's segments: code, thresholds and tools."""
    code = compute_mining_code_digest(language)
    tools = _list_tool_versions(language)
    return SegmentBasis(
        basis_id=compute_short_hash(code.digest, profile.fingerprint, *tools),
        language=language,
        code=code.digest,
        parts=tuple(sorted(code.parts.items())),
        profile=profile.name,
        thresholds=profile.fingerprint,
        named_thresholds=_find_profile_fingerprint(profile.name),
        tools=tools,
    )


def _list_tool_versions(language: str) -> tuple[str, ...]:
    return (*LANGUAGES[language].list_tool_versions(), *_list_library_versions())


@cache
def _list_library_versions() -> tuple[str, ...]:
    return tuple(f'{library} {metadata.version(library)}' for library in _LIBRARIES)


def make_measure_roots(language: str) -> CodeRoots:
    """Return the functions at which the code begins that measures tasks of a language."""
    return replace(
        make_mining_roots(language),
        names=('flows.measuring:measure_segment', 'coevo.engine.workers:BuilderPool'),
        members=('make_runtimes',),
    )


def compute_measure_basis(language: str) -> str:
    """Return a hash of all code and tools on which the measures of tasks of a language depend."""
    code = compute_code_digest(make_measure_roots(language))
    return compute_short_hash(code.digest, *_list_tool_versions(language))


def explain_stale(basis: SegmentBasis | None) -> str | None:
    """Return a clause that says why segments of a basis are due again; None if they are not.

    basis  None for a basis that the store does not have any more
    """
    if basis is None:
        return 'it is not known by which code they were mined'
    if basis.language not in LANGUAGES:
        return None
    return '; '.join(_list_differences(basis)) or None


def _list_differences(basis: SegmentBasis) -> Iterator[str]:
    code = compute_mining_code_digest(basis.language)
    if code.digest != basis.code:
        changed = list_differing_names(dict(basis.parts), code.parts)
        shown = ', '.join(changed[:3])
        more = f' and {len(changed) - 3} more' if len(changed) > 3 else ''
        yield f'the code of {shown}{more} changed'
    if basis.named_thresholds not in (None, _find_profile_fingerprint(basis.profile)):
        yield f'the thresholds of the profile {basis.profile} changed'
    tools = compute_basis(load_profile('default'), basis.language).tools
    if tools != basis.tools:
        changed_tools = sorted(set(tools) ^ set(basis.tools))
        yield f'tools changed: {", ".join(changed_tools)}'


def _find_profile_fingerprint(name: str) -> str | None:
    """Return the present fingerprint of the profile of this name; None if there is none."""
    try:
        return load_profile(name).fingerprint
    except Fatal:
        return None
