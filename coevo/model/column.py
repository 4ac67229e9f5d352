"""The `Column` annotation, which describes a field, and the columns that several tables share."""

from __future__ import annotations

import types
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Self, Union, get_args, get_origin


class Choice(StrEnum):
    """A string enumeration whose members are declared as (value, explaining clause)."""

    _value_: str
    clause: str

    def __new__(cls, value: str, clause: str = '') -> Self:
        member = str.__new__(cls, value)
        member._value_ = value
        member.clause = clause
        return member


@dataclass(frozen=True, slots=True)
class Column:
    """The description of a field, placed in its `Annotated` type.

    sentence  what the field holds, when it is null, and an example if a rule is hard; Markdown
    unit      the unit of a number, such as `hours`; `0 to 1` for a share
    """

    sentence: str
    unit: str | None = None


# Columns that several tables share.
RepoName = Annotated[
    str,
    Column(
        'The repository, `owner/name`; `local/NAME` for one without a host. It never '
        'changes, even if the repository is renamed.'
    ),
]
PairId = Annotated[
    str,
    Column(
        'The pair: a hash of repository, language, old and new revision. The walk is no part of it.'
    ),
]
MethodId = Annotated[
    str, Column('The test method in its pair: a hash that is the same under every walk.')
]
LanguageName = Annotated[str, Column('The programming language, such as `java` or `python`.')]
OldRev = Annotated[str, Column('The hash of the old commit.')]
NewRev = Annotated[str, Column('The hash of the new commit.')]
SandboxName = Annotated[
    str, Column('What isolated the runs from the machine: `bubblewrap` or `docker`.')
]
ModuleFolder = Annotated[
    str,
    Column(
        'The folder of the module, `.` for the root. What a module is depends on the '
        'language: what its tool compiles or loads as one.'
    ),
]
TestFile = Annotated[
    str, Column('The path of the test file in the repository, with forward slashes.')
]
TextsWithheld = Annotated[
    bool,
    Column(
        'Whether the texts of the row are withheld here: its columns with text of the repository '
        'are null. False before schema 3, but for editions.'
    ),
]
Override = Annotated[
    str | None,
    Column(
        'A workaround that was applied to all cells alike so that the tests could run, such'
        ' as a newer library. Null if there was none.'
    ),
]
FocalMethod = Annotated[
    str | None,
    Column(
        'The qualified name of the method that the test is most likely about, the '
        'first of its dependencies. Null if there is none.'
    ),
]
Licence = Annotated[
    str | None,
    Column('The SPDX expression of the licence at the new revision. Null if it is unknown.'),
]
IsAncestor = Annotated[
    bool | None,
    Column(
        'Whether the old commit is an ancestor of the new one. False means that the '
        'two lie on different branches, so that nobody made this change as such. Null'
        ' in data that does not say.'
    ),
]
DateBasis = Annotated[
    str | None,
    Column(
        'What was searched for the contamination date: `with_pulls` (all branches, '
        'tags and pull requests), `branches_only` or `shallow`. Null before it was '
        'asked.'
    ),
]
CodeFirstSeen = Annotated[
    datetime | None,
    Column(
        'The same as `contamination_date`, for the changed source code that the test depends on.'
    ),
]
OldAuthorDate = Annotated[
    datetime | None, Column('Author date of the old commit. Null if it cannot be read.')
]
OldCommitterDate = Annotated[
    datetime | None, Column('Committer date of the old commit. Null if it cannot be read.')
]
NewAuthorDate = Annotated[
    datetime | None, Column('Author date of the new commit. Null if it cannot be read.')
]
NewCommitterDate = Annotated[
    datetime | None, Column('Committer date of the new commit. Null if it cannot be read.')
]


def split_optional(hint: Any) -> tuple[Any, bool]:
    """Return a type hint without None, and whether it allowed None.

    Example: `int | None` gives (int, True), `int` gives (int, False). A union of several other
    types is not supported.
    """
    if get_origin(hint) not in (Union, types.UnionType):
        return hint, False
    (inner,) = (choice for choice in get_args(hint) if choice is not type(None))
    return inner, True
