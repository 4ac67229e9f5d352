"""Facts about licences by SPDX id: OSI approval, the names used in POMs, and typical sentences."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

_NO_NAME = frozenset({'the', 'license', 'licence', 'licenses', 'licences', 'version', 'v', 'ver'})
_WORD = re.compile(r'[a-z0-9]+(?:\.[0-9]+)*')


@dataclass(frozen=True, slots=True, kw_only=True)
class LicenceSentences:
    """A rule that recognises a licence: its text has all sentences of `all` and none of `none`."""

    id: str
    all: tuple[str, ...]
    none: tuple[str, ...] = ()

    def are_met_by(self, text: str) -> bool:
        """Return whether the rule recognises a text (lower case, single spaces)."""
        return all(sentence in text for sentence in self.all) and not any(
            sentence in text for sentence in self.none
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _LicenceTable:
    version: str
    osi: frozenset[str]
    permissive: tuple[str, ...]
    names: dict[str, str]
    sentences: tuple[LicenceSentences, ...]


def load_approved_list_version() -> str:
    """Return the version of the list of OSI-approved licences."""
    return _load_table().version


def is_approved(expression: str, accepted: Collection[str] = ()) -> bool:
    """Return whether each licence required by an SPDX expression is OSI-approved or in `accepted`.

    `A OR B` needs one of the two, `A AND B` needs both.
    """
    return _is_met(expression, _load_table().osi.union(accepted))


def is_permissive(expression: str) -> bool:
    """Return whether text under an SPDX expression may be handed on with attribution alone.

    `A OR B` needs one of the two, `A AND B` needs both.
    """
    return _is_met(expression, frozenset(_load_table().permissive))


def _is_met(expression: str, known: Collection[str]) -> bool:
    return any(
        all(part.strip() in known for part in choice.split(' AND '))
        for choice in expression.split(' OR ')
    )


def list_recognised_unapproved_ids() -> tuple[str, ...]:
    """Return the ids of licences that coevo recognises and that the OSI has not approved."""
    table = _load_table()
    known = {*table.names.values(), *(item.id for item in table.sentences)}
    return tuple(sorted(known - table.osi))


def is_known(spdx_id: str) -> bool:
    """Return whether an id is one of those that the OSI approved, or that coevo recognises."""
    return spdx_id in _load_table().osi or spdx_id in list_recognised_unapproved_ids()


def list_permissive() -> tuple[str, ...]:
    """Return the SPDX ids of permissive licences, which require attribution only."""
    return _load_table().permissive


def find_id_by_name(name: str) -> str | None:
    """Return the SPDX id for a licence's common name or id; None if it is unknown."""
    spdx_id = _load_table().names.get(normalise_name(name))
    if spdx_id is not None:
        return spdx_id
    return _map_lower_case_ids().get(name.strip().lower())


def recognise_licences_of_text(text: str) -> tuple[str, ...]:
    """Return the sorted SPDX ids of all licences that a text is recognised as."""
    flat = ' '.join(text.lower().split())
    return tuple(sorted({item.id for item in _load_table().sentences if item.are_met_by(flat)}))


def normalise_name(name: str) -> str:
    """Return a name in the table's form: `The Apache License, Version 2.0` is `apache 2`."""
    return ' '.join(_normalise_words(name))


def _normalise_words(name: str) -> Iterator[str]:
    before = ''
    for word in _WORD.findall(re.sub(r'\bv(?:\.\s*)?(?=\d)', '', name.lower())):
        short = word.removesuffix('.0')
        if short not in _NO_NAME and short != before:
            yield short
            before = short


@cache
def _map_lower_case_ids() -> dict[str, str]:
    known = {*_load_table().osi, *_load_table().names.values()}
    return {id_.lower(): id_ for id_ in sorted(known)}


@cache
def _load_table() -> _LicenceTable:
    read = tomllib.loads(files('coevo.model').joinpath('licences.toml').read_text(encoding='utf-8'))
    return _LicenceTable(
        version=read['osi']['version'],
        osi=frozenset(read['osi']['ids']),
        permissive=tuple(read['permissive']['ids']),
        names=read['names'],
        sentences=tuple(
            LicenceSentences(
                id=entry['id'], all=tuple(entry['all']), none=tuple(entry.get('none', ()))
            )
            for entry in read['sentences']
        ),
    )
