"""Rows that left the funnel, with stage and reason."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Protocol

from coevo.model.column import Column, RepoName
from coevo.model.words import MethodChange, Stage, Walk, WalkOfRow


class MethodIdentity(Protocol):
    """The identity of a test method: its file, declaring class, name and erased parameter types."""

    @property
    def test_file(self) -> str:
        """The path of the test file in the repository."""

    @property
    def test_class(self) -> str:
        """The binary name of the declaring class."""

    @property
    def test_method(self) -> str:
        """The name of the method."""

    @property
    def parameters(self) -> tuple[str, ...]:
        """The erased types of the parameters, in order."""


class DropLocation(Protocol):
    """The location of a drop in a walk: a pair, or the walk itself."""

    @property
    def repo(self) -> str:
        """The repository, such as `owner/name`."""

    @property
    def walk(self) -> Walk:
        """The walk."""

    @property
    def pair_id(self) -> str | None:
        """The pair; None for a commit that belongs to no pair."""


class LanguageDropLocation(DropLocation, Protocol):
    """A drop location that also knows the language."""

    @property
    def language(self) -> str:
        """The language of the walk."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drop:
    """An item that left the funnel. `key` names it in the stage's unit and is unique within the
    stage.

    The key is a commit (walk), a pair_id (pair), a method_id (filter, label, publish, track), a
    suite_id (single_revision) or a task_id (task).
    """

    repo: RepoName
    walk: WalkOfRow
    pair_id: Annotated[
        str | None, Column('The pair that it belongs to. Null for a commit that ends none.')
    ]
    stage: Annotated[Stage, Column('Where it left the funnel.')]
    unit: Annotated[
        str, Column('What the stage counts: `commit`, `pair`, `method`, `test_file` or `task`.')
    ]
    key: Annotated[
        str,
        Column(
            'What left: a commit, `pair_id`, `method_id`, `suite_id` or `task_id`, by the unit.'
        ),
    ]
    reason: Annotated[
        str,
        Column(
            'The code of the reason, such as `flaky`. Each has a sentence in the list of reasons.'
        ),
    ]
    detail: Annotated[
        str, Column("What the reason leaves open, such as the name of a library; `''` if nothing.")
    ] = ''
    test_file: Annotated[
        str | None,
        Column(
            'The path of the test file in the repository, of a method or task that left. Null for a'
            ' commit or pair, and in what was mined before schema 2.1.'
        ),
    ] = None
    test_class: Annotated[
        str | None,
        Column('The binary name of the class that declares the method. Null if no method left.'),
    ] = None
    test_method: Annotated[
        str | None, Column('The name of the method. Null if no method left.')
    ] = None
    parameters: Annotated[
        tuple[str, ...] | None,
        Column('The erased types of its parameters, in order. Null if no method left.'),
    ] = None
    change: Annotated[
        MethodChange | None,
        Column('What became of the method between old and new. Null if no method left.'),
    ] = None
    language: Annotated[
        str | None,
        Column(
            'The programming language of the walk; a commit can leave the walks of several. Null in'
            ' snapshots of before schema 2.2.'
        ),
    ] = None

    @classmethod
    def make_drop_at_stage(
        cls,
        stage: Stage,
        place: LanguageDropLocation,
        key: str,
        reason: str,
        detail: str = '',
        *,
        test_file: str | None = None,
    ) -> Drop:
        """Return a drop at a stage; its unit is the one that the stage counts.

        Repository, walk, pair and language are those of `place`.
        """
        return cls(
            repo=place.repo,
            walk=place.walk,
            pair_id=place.pair_id,
            stage=stage,
            unit=stage.unit,
            key=key,
            reason=reason,
            detail=detail,
            test_file=test_file,
            language=place.language,
        )

    def with_method(self, method: MethodIdentity, change: MethodChange) -> Drop:
        """Return a copy that also names the dropped test method."""
        return replace(
            self,
            test_file=method.test_file,
            test_class=method.test_class,
            test_method=method.test_method,
            parameters=method.parameters,
            change=change,
        )
