"""The assignment of submitted methods to targets, where a target may have two names.

If the developers renamed a target, the start file has it under its old name, and a submission may
keep that name or take the new one. Other tests of the start file never count as an answer.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from coevo.evaluation.assignments import Target
from coevo.languages.declarations import SourceFile
from coevo.languages.table import get_reading_of_file
from coevo.model.records import TestMethod

Declared = tuple[str, str, tuple[str, ...]]
"""Class, name and parameters."""


def match_targets(
    file: SourceFile, targets: Sequence[Target], start: bytes | None
) -> dict[str, TestMethod]:
    """Return the submitted methods by target name: as many as possible, and no method twice.

    The new name comes first, unless another target needs that method. Example: a pair renames a to
    b and b to c. A file that keeps a and b answers both targets.
    """
    others, olds = _split_start_methods_by_target(start, targets)
    wanted = {
        target.name: _list_candidates(file, target, olds.get(target.name), others)
        for target in targets
    }
    taken: dict[Declared, str] = {}
    for target in targets:
        _assign_method(target.name, wanted, taken, set())
    answers = {name: key for key, name in taken.items()}
    return {
        target.name: _make_method(target, answers[target.name])
        for target in targets
        if target.name in answers
    }


def _assign_method(
    name: str,
    wanted: Mapping[str, Sequence[Declared]],
    taken: dict[Declared, str],
    asked: set[Declared],
) -> bool:
    """Assign a method to a target, moving its present owner to another method if necessary.

    This is the search for augmenting paths in a bipartite matching.
    """
    for key in wanted[name]:
        if key not in asked:
            asked.add(key)
            if key not in taken or _assign_method(taken[key], wanted, taken, asked):
                taken[key] = name
                return True
    return False


def _list_candidates(
    file: SourceFile, target: Target, old: Declared | None, others: Collection[Declared]
) -> list[Declared]:
    new = _make_key(target.method)
    names = [new] if old is None else [new, old]
    candidates = (_find_declared(file, name, others) for name in names)
    return list(dict.fromkeys(key for key in candidates if key is not None))


def _find_declared(
    file: SourceFile, wanted: Declared, others: Collection[Declared]
) -> Declared | None:
    """Return the method with these parameters, or else the only one of its name; else None.

    A method in `others` is never returned.
    """
    owner, name, _ = wanted
    alike = [key for key in _list_keys(file) if key[:2] == (owner, name) and key not in others]
    if wanted in alike:
        return wanted
    return alike[0] if len(alike) == 1 else None


def _split_start_methods_by_target(
    start: bytes | None, targets: Sequence[Target]
) -> tuple[frozenset[Declared], Mapping[str, Declared]]:
    """Return the start file's methods that are no targets, and those of targets by name."""
    if start is None:
        return frozenset(), {}
    path = targets[0].method.test_file
    file = get_reading_of_file(path).parse(start, path)
    olds: dict[str, Declared] = {}
    for target in targets:
        if target.is_at_start:
            wanted = replace(target.method, test_method=target.method_at_start)
            old_key = _find_declared(file, _make_key(wanted), ())
            if old_key is not None:
                olds[target.name] = old_key
    return frozenset(_list_keys(file)) - frozenset(olds.values()), olds


def _list_keys(file: SourceFile) -> list[Declared]:
    return [
        (type_.name, member.name, member.parameters)
        for type_ in file.types
        for member in type_.members
        if member.kind == 'method'
    ]


def _make_key(method: TestMethod) -> Declared:
    return method.test_class, method.test_method, method.parameters


def _make_method(target: Target, key: Declared) -> TestMethod:
    return replace(target.method, test_method=key[1], parameters=key[2])
