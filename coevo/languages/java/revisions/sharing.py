"""What Maven made of one revision serves another that differs in test sources alone; so does that it
failed, unless over tests.

Maven compiles no tests for us, so it never looks at them, but where another module uses them,
where a plugin writes test sources, or where they are resources as well: there each revision is
built for itself.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from coevo.git.repository import TreeEntry
from coevo.languages.java.building.build_outputs import BuildOutput
from coevo.languages.java.building.report import JavaModule

# Roots elsewhere may be main sources too.
_TESTS = 'src/test/'


def find_differing_paths(
    one: Mapping[str, TreeEntry], other: Mapping[str, TreeEntry]
) -> frozenset[str]:
    """Paths of files that two trees do not share."""
    return frozenset(path for path, _ in one.items() ^ other.items())


def can_share(donor: BuildOutput, changed: Collection[str]) -> bool:
    """Whether a build of the donor's revision is one of a revision with these changed files."""
    modules = donor.modules.values()
    roots = [root for module in modules for root in _list_pure_test_roots(module)]
    return (
        bool(roots)
        and not any(module.tests_compiled or _is_test_failure(module.failure) for module in modules)
        and not any((donor.built / str(module.index) / 'generated').is_dir() for module in modules)
        and all(path.endswith('.java') and path.startswith(tuple(roots)) for path in changed)
    )


def _is_test_failure(failure: str | None) -> bool:
    """Whether a goal failed that may have read test sources."""
    return failure is not None and 'test' in failure.lower()


def _list_pure_test_roots(module: JavaModule) -> Iterator[str]:
    """A module's folders of test sources that hold nothing but that, with a slash at the end."""
    others = set(module.test_folders) - set(module.test_source_roots)
    for root in module.test_source_roots:
        apart = not any(_are_overlapping(root, other) for other in others)
        if apart and f'{root}/'.startswith(_TESTS):
            yield os.path.normpath(f'{module.path}/{root}') + '/'


def _are_overlapping(one: str, other: str) -> bool:
    return f'{one}/'.startswith(f'{other}/') or f'{other}/'.startswith(f'{one}/')


def share_outputs(donor: BuildOutput, output: BuildOutput) -> None:
    """Give an output what the donor's builder sent, as links to files that nobody writes to."""
    for module in donor.modules.values():
        built = str(module.index)  # own name: a number
        for side in (donor.code, donor.sources):
            _link_tree(
                side / module.path / module.classes, output.built / built / 'classes'
            )  # own name: a number
        _link_tree(
            donor.built / built / 'test-classes', output.built / built / 'test-classes'
        )  # own name: a number


def _link_tree(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target, copy_function=os.link, dirs_exist_ok=True)
