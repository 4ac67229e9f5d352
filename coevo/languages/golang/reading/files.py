"""A Go file, with what its path tells."""

from __future__ import annotations

from dataclasses import dataclass

from coevo.languages.declarations import SourceFile

TEST_SUFFIX = '_test.go'


@dataclass(frozen=True, slots=True, kw_only=True)
class GoFile(SourceFile):
    """runs: whether `go test` looks for tests in it; of a text without a path it is taken for granted."""

    runs: bool = True


def may_declare_tests(path: str) -> bool:
    """Whether the go tool runs what a file declares (https://pkg.go.dev/cmd/go#hdr-Test_packages)."""
    return not path or path.endswith(TEST_SUFFIX)
