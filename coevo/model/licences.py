"""What is known of licences by their SPDX id: which the OSI approved, and how POMs call them."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

_NO_NAME = frozenset({'the', 'license', 'licence', 'licenses', 'licences', 'version', 'v', 'ver'})
_WORD = re.compile(r'[a-z0-9]+(?:\.[0-9]+)*')


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentences:
    """How the text of a licence is known: all of these stand in it, and none of those."""

    id: str
    all: tuple[str, ...]
    none: tuple[str, ...] = ()

    def met_by(self, text: str) -> bool:
        return all(one in text for one in self.all) and not any(one in text for one in self.none)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Table:
    version: str
    osi: frozenset[str]
    permissive: tuple[str, ...]
    names: dict[str, str]
    sentences: tuple[Sentences, ...]


def version() -> str:
    """Where the list of approved licences is from."""
    return _table().version


def approved(expression: str, accepted: Collection[str] = ()) -> bool:
    """Whether the OSI approved a licence, or it is one of those accepted beside.

    Of `A OR B` one has to be, of `A AND B` both.
    """
    known = _table().osi.union(accepted)
    return any(
        all(part.strip() in known for part in choice.split(' AND '))
        for choice in expression.split(' OR ')
    )


def permissive() -> tuple[str, ...]:
    """The SPDX ids of licences that ask for no more than to be named."""
    return _table().permissive


def named(name: str) -> str | None:
    """The SPDX id of a licence by the name that people give it; None where there is no telling."""
    found = _table().names.get(plain(name))
    if found is not None:
        return found
    return _by_small_letters().get(name.strip().lower())


def told(text: str) -> tuple[str, ...]:
    """The SPDX ids, sorted, of all licences of which sentences stand in a text."""
    flat = ' '.join(text.lower().split())
    return tuple(sorted({item.id for item in _table().sentences if item.met_by(flat)}))


def plain(name: str) -> str:
    """A name as the table has it: `The Apache License, Version 2.0` is `apache 2`."""
    return ' '.join(_words(name))


def _words(name: str) -> Iterator[str]:
    before = ''
    for word in _WORD.findall(re.sub(r'\bv(?:\.\s*)?(?=\d)', '', name.lower())):
        short = word.removesuffix('.0')
        if short not in _NO_NAME and short != before:
            yield short
            before = short


@cache
def _by_small_letters() -> dict[str, str]:
    known = {*_table().osi, *_table().names.values()}
    return {id_.lower(): id_ for id_ in sorted(known)}


@cache
def _table() -> _Table:
    read = tomllib.loads(files('coevo.model').joinpath('licences.toml').read_text(encoding='utf-8'))
    return _Table(
        version=read['osi']['version'],
        osi=frozenset(read['osi']['ids']),
        permissive=tuple(read['permissive']['ids']),
        names=read['names'],
        sentences=tuple(
            Sentences(id=one['id'], all=tuple(one['all']), none=tuple(one.get('none', ())))
            for one in read['sentences']
        ),
    )
