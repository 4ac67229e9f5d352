"""The tests of a file by the names that results give them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from coevo.languages.declarations import DeclaredType, Member
from coevo.model.records import TestMethod


def index_methods_by_name(
    module: str, test_file: str, found: Iterable[tuple[DeclaredType, Member]]
) -> dict[str, TestMethod]:
    """Those found in a file, as `Class#method`; overloads have their parameters, too."""
    methods = [
        TestMethod(
            module=module,
            test_file=test_file,
            test_class=type_.name,
            test_method=member.name,
            parameters=member.parameters,
        )
        for type_, member in found
    ]
    names = [f'{method.test_class.rpartition(".")[2]}#{method.test_method}' for method in methods]
    counts = Counter(names)
    return {
        name if counts[name] == 1 else f'{name}({",".join(method.parameters)})': method
        for name, method in zip(names, methods, strict=True)
    }
