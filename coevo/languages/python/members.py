"""Projects of one repository that need each other: what they take of one another is the tree's code.

The index has them, too, of some other day; installed from there they would hide what the pair changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from coevo.languages.python.requirements.stated import Needs, get_requirement_name, normalise_name


def join_members(folder: str, members: Mapping[str, Needs]) -> tuple[Needs, tuple[str, ...]]:
    """What a project needs of the index, and the folders of the projects beside it that it needs, the
    nearest first.

    members  what each project of a revision needs, by its folder
    """
    named = {
        normalise_name(needs.name): member_folder
        for member_folder, needs in members.items()
        if needs.name
    }
    neighbours: list[str] = []
    runtime = set(members[folder].runtime)
    tests = {*members[folder].tests, *_list_shared_test_needs(folder, members)}
    left: list[str] = []
    for lines in (runtime, tests):
        left += _find_member_folders(sorted(lines), named)
        while left:
            other = left.pop(0)
            if other != folder and other not in neighbours:
                neighbours.append(other)
                left += _find_member_folders(members[other].runtime, named)
            lines.update(members[other].runtime)
    return (
        replace(
            members[folder],
            runtime=tuple(
                sorted(line for line in runtime if get_requirement_name(line) not in named)
            ),
            tests=tuple(sorted(line for line in tests if get_requirement_name(line) not in named)),
        ),
        tuple(neighbours),
    )


def _list_shared_test_needs(folder: str, members: Mapping[str, Needs]) -> Sequence[str]:
    """What the root says that tests need; one that is no project itself says so of all below it."""
    root = members.get('.')
    if folder == '.' or root is None:
        return ()
    return root.tests if root.name else (*root.tests, *root.runtime)


def _find_member_folders(lines: Sequence[str], members: Mapping[str, str]) -> list[str]:
    """The folders of those projects that are asked for."""
    return [members[name] for line in lines if (name := get_requirement_name(line)) in members]
