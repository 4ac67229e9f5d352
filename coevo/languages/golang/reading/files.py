"""A parsed Go file, with what follows from its path."""

from __future__ import annotations

from dataclasses import dataclass

from coevo.languages.declarations import SourceFile

TEST_SUFFIX = '_test.go'


@dataclass(frozen=True, slots=True, kw_only=True)
class GoFile(SourceFile):
    """A parsed Go file.

    runs  whether `go test` looks for tests in it; True for a text without a path
    """

    runs: bool = True


def may_declare_tests(path: str) -> bool:
    """Return whether the go tool looks for tests in a file: only if its name ends in `_test.go`.

    True, too, for ''. See https://pkg.go.dev/cmd/go#hdr-Test_packages.
    """
    return not path or path.endswith(TEST_SUFFIX)
