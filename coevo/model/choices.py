"""Enumerations whose members carry an explanation."""

from __future__ import annotations

from enum import StrEnum
from typing import Self


class Choice(StrEnum):
    """A string enumeration whose members are declared as (value, explaining clause)."""

    _value_: str
    clause: str

    def __new__(cls, value: str, clause: str = '') -> Self:
        member = str.__new__(cls, value)
        member._value_ = value
        member.clause = clause
        return member
