"""Find the type that a test class is named after."""

from __future__ import annotations

from coevo.git.repository import Repository
from coevo.languages.declarations import DeclaredType
from coevo.languages.layout import Side
from coevo.languages.reading import LanguageReading
from coevo.model.records import TestMethod


def find_type_under_test(
    reading: LanguageReading, repository: Repository, rev: str, test: TestMethod
) -> DeclaredType | None:
    """Return the production type that a test is named after, such as `Fare` for `FareTest`.

    If several types have the name, the first one by path counts. None if there is none.
    """
    tree, name = reading.open_tree(repository, rev), reading.guess_class_under_test(test)
    types = (
        type_ for path in tree.list_paths(Side.SOURCE) for type_ in tree.parse_file(path).types
    )
    return next((type_ for type_ in types if type_.simple == name), None)
