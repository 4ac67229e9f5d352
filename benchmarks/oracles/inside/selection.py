"""From a test method as the miner names it to the selectors of the console launcher."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from .classfile import ClassFile


def list_runners(classes: Mapping[str, ClassFile], name: str) -> list[str]:
    """List the concrete classes on which a class's methods run: itself and all below it."""
    return [
        other
        for other in sorted(classes)
        if not classes[other].abstract and name in _list_ancestors(classes, other)
    ]


def list_selectors(
    classes: Mapping[str, ClassFile], name: str, method: str, parameters: Sequence[str]
) -> list[str]:
    """Write `Class#method(types)` for each concrete class; by the bare name where nothing was compiled."""
    return [
        f'{runner}#{method}{_write_signature(classes, runner, method, parameters)}'
        for runner in list_runners(classes, name) or [name]
    ]


def _list_ancestors(classes: Mapping[str, ClassFile], name: str) -> list[str]:
    """List a class and all above it, nearest first."""
    line, todo = [], [name]
    while todo:
        current = todo.pop(0)
        if current not in line:
            line.append(current)
            todo += classes[current].parents if current in classes else ()
    return line


def _write_signature(
    classes: Mapping[str, ClassFile], name: str, method: str, parameters: Sequence[str]
) -> str:
    named = [
        types
        for above in _list_ancestors(classes, name)
        if above in classes
        for own_name, types in classes[above].methods
        if own_name == method
    ]
    equal = [t for t in named if [re.split(r'[.$]', one)[-1] for one in t] == list(parameters)]
    chosen = equal or named
    return f'({",".join(chosen[0])})' if chosen and chosen[0] else ''
