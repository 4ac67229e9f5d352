"""Which licences the metadata of a Python project name, wherever they stand."""

from __future__ import annotations

import pytest

from coevo.languages.python.reading import parse_licences

OSI = 'License :: OSI Approved :: '


@pytest.mark.parametrize(
    ('text', 'names'),
    [
        ('[project]\nlicense = "BSD-3-Clause"\nclassifiers = ["License :: OSI Approved :: BSD License"]', ['BSD-3-Clause']),
        ('[project]\nlicense = {text = "MIT"}', ['MIT']),
        ('[project]\nlicense = "(MIT OR Apache-2.0)"', ['MIT', 'Apache-2.0']),
        (f'[project]\nlicense = {{file = "COPYING"}}\nclassifiers = ["{OSI}MIT License", "Topic :: Text"]', ['MIT License']),
        ('[tool.poetry]\nlicense = "MIT"', ['MIT']),
        ('[metadata]\nname = shop\nlicense = Apache 2.0\n', ['Apache 2.0']),
        (f'[metadata]\nname = shop\nclassifiers =\n    Topic :: Text\n    {OSI}MIT License\n', ['MIT License']),
        ('from setuptools import setup\nsetup(name="shop", license="MIT")', ['MIT']),
        (f'import setuptools\nsetuptools.setup(license=TEXT, classifiers=["{OSI}MIT License"])', ['MIT License']),
        ('[project]\nname = "shop"', []),
        ('[project]\nlicense = "' + 'Permission is granted ' * 20 + '"', []),
        ('exit(', []),
        ('\0', []),
    ],
)  # fmt: skip
def test_licence_field_precedes_the_licence_classifiers(text: str, names: list[str]) -> None:
    assert [one.name for one in parse_licences(text.encode())] == names


def test_undecodable_metadata_declares_no_licence() -> None:
    assert parse_licences(b'\xff\xfe[project]') == ()
