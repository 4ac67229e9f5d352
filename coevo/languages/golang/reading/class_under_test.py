"""Guesses what a test is about: the type after which it is named, or else its package."""

from __future__ import annotations

import re

from coevo.model.records import TestMethod

# `ExampleRouter_Walk` shows a method of Router (https://pkg.go.dev/testing#hdr-Examples); tests are
# often named in the same way.
_OF_TYPE = re.compile(r'(?:Test|Fuzz|Example)_?([A-Z]\w*?)_\w+')
_EXTERNAL = '_test'


def guess_class_under_test(test: TestMethod) -> str:
    """Return the type after which a test is named: `Router` for `TestRouter_Walk`.

    For a test without such a name, return its package, such as `mux` for packages mux and mux_test.
    """
    match = _OF_TYPE.fullmatch(test.test_method)
    return match[1] if match else test.test_class.removesuffix(_EXTERNAL)
