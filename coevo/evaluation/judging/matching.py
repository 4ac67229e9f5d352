"""Which method of a submitted file answers which target, where a target has two names.

A target that its developers renamed stands in the start file under its old name, and a fix may keep
that or take the new one. What the start file has beside the targets answers none of them.
"""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import replace

from coevo.evaluation.assignments import Target
from coevo.languages.declarations import SourceFile
from coevo.languages.table import reading_at
from coevo.model.records import TestMethod

Declared = tuple[str, str, tuple[str, ...]]
"""Class, name and parameters."""


def matched(
    file: SourceFile, targets: Sequence[Target], start: bytes | None
) -> dict[str, TestMethod]:
    """By the names of targets, what answers them: as many as can be, each by a method of its own.

    The new name goes first, unless another target needs that method: two that a pair renamed in a
    chain (a to b, b to c) are both answered by a file that keeps a and b.
    """
    others, olds = _at_start(start, targets)
    wanted = {
        target.name: _answers(file, target, olds.get(target.name), others) for target in targets
    }
    taken: dict[Declared, str] = {}
    for target in targets:
        _take(target.name, wanted, taken, set())
    answers = {name: key for key, name in taken.items()}
    return {
        target.name: _method(target, answers[target.name])
        for target in targets
        if target.name in answers
    }


def _take(
    name: str,
    wanted: Mapping[str, Sequence[Declared]],
    taken: dict[Declared, str],
    asked: set[Declared],
) -> bool:
    """Give a target a method, another one to who has it if need be (augmenting paths)."""
    for key in wanted[name]:
        if key not in asked:
            asked.add(key)
            if key not in taken or _take(taken[key], wanted, taken, asked):
                taken[key] = name
                return True
    return False


def _answers(
    file: SourceFile, target: Target, old: Declared | None, others: Collection[Declared]
) -> list[Declared]:
    new = _key(target.method)
    names = [new] if old is None else [new, old]
    found = (_declared(file, name, others) for name in names)
    return list(dict.fromkeys(key for key in found if key is not None))


def _declared(file: SourceFile, wanted: Declared, others: Collection[Declared]) -> Declared | None:
    """With these parameters, or the only one of its name that is nobody else's."""
    owner, name, _ = wanted
    alike = [key for key in _keys(file) if key[:2] == (owner, name) and key not in others]
    if wanted in alike:
        return wanted
    return alike[0] if len(alike) == 1 else None


def _at_start(
    start: bytes | None, targets: Sequence[Target]
) -> tuple[frozenset[Declared], Mapping[str, Declared]]:
    """What the start file declares beside the targets, and where targets stand in it."""
    if start is None:
        return frozenset(), {}
    path = targets[0].method.test_file
    file = reading_at(path).parse(start, path)
    olds: dict[str, Declared] = {}
    for target in targets:
        if target.is_at_start:
            wanted = replace(target.method, test_method=target.method_at_start)
            found = _declared(file, _key(wanted), ())
            if found is not None:
                olds[target.name] = found
    return frozenset(_keys(file)) - frozenset(olds.values()), olds


def _keys(file: SourceFile) -> list[Declared]:
    return [
        (type_.name, member.name, member.parameters)
        for type_ in file.types
        for member in type_.members
        if member.kind == 'method'
    ]


def _key(method: TestMethod) -> Declared:
    return method.test_class, method.test_method, method.parameters


def _method(target: Target, key: Declared) -> TestMethod:
    return replace(target.method, test_method=key[1], parameters=key[2])
