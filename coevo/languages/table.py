"""The languages that are known: the one table that names their modules."""

from __future__ import annotations

from collections.abc import Mapping

from coevo.git.repository import Repository
from coevo.languages.base import Language
from coevo.languages.capabilities import Capability
from coevo.languages.java import maven
from coevo.languages.reading import Reading
from coevo.languages.surgery import Surgery

LANGUAGES: Mapping[str, Language] = {language.NAME: language for language in (maven,)}
"""By the value of the `language` columns."""


def language_of(repository: Repository, rev: str) -> Language | None:
    """The first of the table whose tool builds a revision."""
    return next((one for one in LANGUAGES.values() if one.detect(repository, rev)), None)


def reading(language: str) -> Reading:
    """That of a language by its value in the `language` columns."""
    return LANGUAGES[language].READING


def surgery(language: str) -> Surgery:
    return LANGUAGES[language].SURGERY


def offers(language: str, capability: Capability) -> bool:
    return capability in LANGUAGES[language].OFFERS
