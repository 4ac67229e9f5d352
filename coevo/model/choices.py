"""Closed choices whose members say themselves what they mean."""

from __future__ import annotations

from enum import StrEnum
from typing import Self


class Choice(StrEnum):
    """A choice, each of whose members is written as its value and a clause that explains it."""

    _value_: str
    clause: str

    def __new__(cls, value: str, clause: str = '') -> Self:
        member = str.__new__(cls, value)
        member._value_ = value
        member.clause = clause
        return member
