"""The ways in which the start state of a task may show its answer, beside text that is nearly equal."""

from __future__ import annotations

from coevo.model.choices import Choice


class ShownBy(Choice):
    """The part of the start state that shows how a new test has to look."""

    SAME_NAME = (
        'same_name',
        'a test of the same name and of similar form is in another file, such as behind a build tag',
    )
    FORM = (
        'form',
        'a method that the pair added has the form of a target, with other names and values',
    )
    CALL = (
        'call',
        'a test that the pair changed calls what is new to a target, and an older test is its template',
    )
