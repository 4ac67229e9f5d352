"""Share a build between revisions that differ in test sources alone, including its failure.

Maven compiles no tests for coevo and so does not read them, except where another module uses them,
where a plugin generates test sources, or where they are also resources. In these cases, and if a
goal for tests failed, each revision is built by itself.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from coevo.git.repository import TreeEntry
from coevo.languages.java.building.build_outputs import BuildOutput
from coevo.languages.java.building.report import JavaModule

# Only roots below this folder count; roots elsewhere may also contain main sources.
_TESTS = 'src/test/'


def find_differing_paths(
    one: Mapping[str, TreeEntry], other: Mapping[str, TreeEntry]
) -> frozenset[str]:
    """Return the paths whose entries differ between two trees, or that only one tree has."""
    return frozenset(path for path, _ in one.items() ^ other.items())


def can_share(donor: BuildOutput, changed: Collection[str]) -> bool:
    """Return whether a build is also valid for a revision that differs from it in `changed` files.

    This is so if all these files are test sources that the build did not read.
    """
    modules = donor.modules.values()
    roots = [root for module in modules for root in _list_pure_test_roots(module)]
    return (
        bool(roots)
        and not any(module.tests_compiled or _is_test_failure(module.failure) for module in modules)
        and not any(
            (donor.built_test_files / str(module.index) / 'generated').is_dir()
            for module in modules
        )
        and all(path.endswith('.java') and path.startswith(tuple(roots)) for path in changed)
    )


def _is_test_failure(failure: str | None) -> bool:
    """Return whether a failure's name contains `test`; its goal may have read test sources."""
    return failure is not None and 'test' in failure.lower()


def _list_pure_test_roots(module: JavaModule) -> Iterator[str]:
    """Yield a module's folders below `src/test` that hold test sources and no resources.

    They are relative to the tree and end with a slash.
    """
    others = set(module.test_folders) - set(module.test_source_roots)
    for root in module.test_source_roots:
        apart = not any(_are_overlapping(root, other) for other in others)
        if apart and f'{root}/'.startswith(_TESTS):
            yield os.path.normpath(f'{module.path}/{root}') + '/'


def _are_overlapping(one: str, other: str) -> bool:
    return f'{one}/'.startswith(f'{other}/') or f'{other}/'.startswith(f'{one}/')


def share_outputs(donor: BuildOutput, output: BuildOutput) -> None:
    """Hard-link the class files and resources that a donor's build made into another output.

    These files are never modified later.
    """
    for module in donor.modules.values():
        built = str(module.index)  # own name: a number
        for side in (donor.code, donor.sources):
            _link_tree(
                side / module.path / module.classes, output.built_test_files / built / 'classes'
            )  # own name: a number
        _link_tree(
            donor.built_test_files / built / 'test-classes',
            output.built_test_files / built / 'test-classes',
        )  # own name: a number


def _link_tree(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target, copy_function=os.link, dirs_exist_ok=True)
