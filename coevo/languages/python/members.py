"""Projects of one repository that need each other: what they take of one another is the tree's code.

The index has them, too, of some other day; installed from there they would hide what the pair changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import replace

from coevo.languages.python.requirements.stated import Needs
from coevo.languages.python.requirements.stated import name_of
from coevo.languages.python.requirements.stated import normal


def joined(folder: str, members: Mapping[str, Needs]) -> tuple[Needs, tuple[str, ...]]:
    """What a project needs of the index, and the folders of the projects beside it that it needs, the
    nearest first.

    members  what each project of a revision needs, by its folder
    """
    named = {normal(one.name): place for place, one in members.items() if one.name}
    found: list[str] = []
    runtime = set(members[folder].runtime)
    tests = {*members[folder].tests, *_of_all(folder, members)}
    left: list[str] = []
    for lines in (runtime, tests):
        left += _named(sorted(lines), named)
        while left:
            other = left.pop(0)
            if other != folder and other not in found:
                found.append(other)
                left += _named(members[other].runtime, named)
            lines.update(members[other].runtime)
    return (
        replace(
            members[folder],
            runtime=tuple(sorted(line for line in runtime if name_of(line) not in named)),
            tests=tuple(sorted(line for line in tests if name_of(line) not in named)),
        ),
        tuple(found),
    )


def _of_all(folder: str, members: Mapping[str, Needs]) -> Sequence[str]:
    """What the root says that tests need; one that is no project itself says so of all below it."""
    root = members.get('.')
    if folder == '.' or root is None:
        return ()
    return root.tests if root.name else (*root.tests, *root.runtime)


def _named(lines: Sequence[str], members: Mapping[str, str]) -> list[str]:
    """The folders of those projects that are asked for."""
    return [members[name] for line in lines if (name := name_of(line)) in members]
