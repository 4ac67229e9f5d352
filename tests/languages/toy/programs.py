"""Tests of a module linked against code: for each a program of plain steps, or what is wrong with it.

is Type.name VALUE   what the code has of that name is that value
call Type.name       the code is asked, its value does not matter
use _name            the steps of a helper of the same type; `use Type._name` of another one
library VALUE        the module's library, as its build file has it, is that one; `setting` likewise
sh COMMAND           a program of its own, that has to end with 0
dial                 the network is asked for something, which the sandbox withholds
fail, throw NAME, skip, wait SECONDS, hang, exit STATUS, kill SIGNAL, pass

A value of the code that names another one is what that is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from coevo.languages.declarations import SourceFile
from tests.languages.toy.reading import FIXTURE

PLAIN = ('fail', 'throw', 'skip', 'wait', 'hang', 'exit', 'kill', 'pass', 'dial', 'sh')
SETTINGS = ('library', 'setting')
# A program that uses itself has no end.
_DEPTH = 20

Key = tuple[str, str]  # a type's name and a member's


class Wrong(Exception):
    """Why a test cannot be linked; `syntax` where it cannot even be read."""

    def __init__(self, signature: str, *, syntax: bool = False) -> None:
        super().__init__(signature)
        self.signature, self.syntax = signature, syntax


@dataclass(frozen=True, slots=True, kw_only=True)
class Linked:
    """By type and name of all tests and helpers: the steps of a program, or what is wrong.

    asked  of the code, as `Type.name`
    """

    programs: Mapping[Key, tuple[str, ...]]
    wrong: Mapping[Key, Wrong]
    asked: Mapping[Key, frozenset[str]]


def link(
    tests: Sequence[SourceFile], code: Sequence[SourceFile], settings: Mapping[str, str]
) -> Linked:
    bodies = {
        (type_.name, member.name): member.source.partition(':')[2].strip()
        for file in tests
        for type_ in file.types
        for member in type_.members
    }
    values = {
        f'{type_.simple}.{member.name}': member.source.partition(':')[2].strip()
        for file in code
        for type_ in file.types
        for member in type_.members
    }
    programs: dict[Key, tuple[str, ...]] = {}
    wrong: dict[Key, Wrong] = {}
    asked: dict[Key, frozenset[str]] = {}
    for key in bodies:
        before = [] if key[1].startswith('_') else [(key[0], FIXTURE)]
        linker = _Linker(bodies, values, settings)
        try:
            steps = [step for one in (*before, key) for step in linker.steps(one, _DEPTH)]
        except Wrong as why:
            wrong[key] = why
        else:
            programs[key] = tuple(steps)
            asked[key] = frozenset(linker.asked)
    return Linked(programs=programs, wrong=wrong, asked=asked)


class _Linker:
    def __init__(
        self, bodies: Mapping[Key, str], values: Mapping[str, str], settings: Mapping[str, str]
    ) -> None:
        self._bodies, self._values, self._settings = bodies, values, settings
        self.asked: set[str] = set()

    def steps(self, key: Key, depth: int) -> Iterator[str]:
        if key not in self._bodies and key[1] == FIXTURE:
            return
        if key not in self._bodies or not depth:
            raise Wrong(f'unknown {key[1]}')
        body = self._bodies[key]
        if body.count('"') % 2:
            raise Wrong('unclosed "', syntax=True)
        for step in re.split(r'\s+then\s+', body):
            yield from self._step(key[0], step, depth)

    def _step(self, owner: str, step: str, depth: int) -> Iterator[str]:
        verb, _, rest = step.partition(' ')
        rest = rest if verb == 'sh' else rest.replace('"', '')
        match verb:
            case 'is':
                name, _, expected = rest.partition(' ')
                yield from self._value(name, lambda value: f'is {value} {expected}')
            case 'call':
                yield from self._value(rest, lambda _: 'pass')
            case 'use':
                yield from self.steps(self._named(owner, rest), depth - 1)
            case _ if verb in SETTINGS:
                yield f'is {self._settings.get(verb, "none")} {rest}'
            case _ if verb in PLAIN:
                yield f'{verb} {rest}'.strip()
            case _:
                raise Wrong(f'unknown {verb}')

    def _value(self, name: str, plain: Callable[[str], str]) -> Iterator[str]:
        if name not in self._values:
            raise Wrong(f'unknown {name}')
        value = self._values[name]
        self.asked.add(name)
        if value in self._values and value not in self.asked:
            yield from self._value(value, plain)
            return
        yield value[1:] if value.startswith('!') else plain(value)

    def _named(self, owner: str, name: str) -> Key:
        simple, _, member = name.rpartition('.')
        if not simple:
            return owner, member
        owners = [type_ for type_, _ in self._bodies if type_.rpartition('.')[2] == simple]
        return (owners[0] if owners else simple), member
