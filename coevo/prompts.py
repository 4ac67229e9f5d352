"""What prompts say of a task (TestEvo-Bench, A.3)."""

from __future__ import annotations

from collections.abc import Iterable

from coevo.records import Dependency


def dependency_lines(dependencies: Iterable[Dependency]) -> tuple[str, ...]:
    """The bullet list of changed production methods: without doubles, in a stable order.

    One line each: "- modified `public String toString()` in `core/src/main/java/p/Status.java`".
    """
    return tuple(
        sorted(
            {
                f'- {dependency.revised} `{dependency.declaration}` in `{dependency.file}`'
                for dependency in dependencies
                if dependency.is_method
            }
        )
    )
