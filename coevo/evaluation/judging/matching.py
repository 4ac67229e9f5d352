"""Which method of a submitted file answers which target, where a target has two names.

A target that its developers renamed stands in the start file under its old name, and a fix may keep
that or take the new one. What the start file has beside the targets answers none of them.
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
    """By the names of targets, what answers them: as many as can be, each by a method of its own.

    The new name goes first, unless another target needs that method: two that a pair renamed in a
    chain (a to b, b to c) are both answered by a file that keeps a and b.
    """
    others, olds = _parse_start_methods(start, targets)
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
    """Give a target a method, another one to who has it if need be (augmenting paths)."""
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
    """With these parameters, or the only one of its name that is nobody else's."""
    owner, name, _ = wanted
    alike = [key for key in _list_keys(file) if key[:2] == (owner, name) and key not in others]
    if wanted in alike:
        return wanted
    return alike[0] if len(alike) == 1 else None


def _parse_start_methods(
    start: bytes | None, targets: Sequence[Target]
) -> tuple[frozenset[Declared], Mapping[str, Declared]]:
    """What the start file declares beside the targets, and where targets stand in it."""
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
