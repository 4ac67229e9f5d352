"""The datasheet of every snapshot, after Gebru et al. (2021).

It is part of the card, and `make docs` writes it to `docs/datasheet.md`.
"""

from __future__ import annotations

from pathlib import Path

FILE = Path('docs/datasheet.md')

QUESTIONS = {
    'For what was it made?': """\
To measure whether a program can keep tests in step with code: write the tests of a change, adapt tests that a
change broke, repair tests that were broken before. A snapshot is made each month, so that some of it is newer than a
model's training data. The maintainers of coevo make it; no funding is known.""",
    'What does a row stand for?': """\
A row of `tasks` stands for all test methods of one track in one test file of one pair of revisions, or for a whole test
file (see `family`). `methods` has every labelled test method, whether it is in a task or not. `drops` has everything that
was looked at and left out, with the reason.""",
    'Is it a sample?': """\
Repositories are those that whoever made the snapshot mined; a crawl takes all public ones that its profile asks for (a
language, stars, a licence, a build file). The walk takes their commits up to its cutoff. Of unchanged tests it runs a
sample drawn by seed; how many of how many stands below the limits. The data stand for no other population: large and old repositories have more tasks, and what does
not build any more has none.""",
    'How was a label found?': """\
By running. Old and new tests were run on old and new code, at least three times in each cell that decides, in fresh
processes. Either the runs agreed, or the method was dropped. No person labelled anything.""",
    'Is something missing, or noisy?': """\
The description of a column says what a null means there. Dates before the first visible commit are unknown, and so are
those of code that came in by bulk imports; unknown dates never count as clean. Evidence comes from one machine with few
runtimes: a test that fails only elsewhere is not seen. Tasks of one pair resemble each other.""",
    'Does it hold anything about people?': """\
It holds source code and patches as they were published; comments in them may name authors. No column holds authors,
mail addresses or commit messages.""",
    'For what should it not be used?': """\
Do not rank repositories or their developers by it: what fails here may be the sandbox. Do not train on what you want to
measure with. Do not claim a success rate without saying which months it is of, and since when its tasks were public.""",
    'Under which licence?': """\
Code stays under the licence of its repository, which each row names. What coevo adds is under CC BY 4.0. The card has a
section on licences.""",
    'Who looks after it, and does it change?': """\
A snapshot never changes. Later ones add tasks, and their table `withdrawn` says what is gone and why: a label that no
longer holds, a licence, a wish of the repository. To keep a repository out, tell those who publish the snapshot; the next
one leaves it out.""",
}


def render_sections(level: int) -> str:
    """Return the questions as headings of that level, each with its answer."""
    return '\n\n'.join(
        f'{"#" * level} {question}\n\n{answer}' for question, answer in QUESTIONS.items()
    )


def render_page() -> str:
    """Return the text of `docs/datasheet.md`."""
    note = '<!-- Made by `make docs` from packagers/datasheet.py; do not edit. -->'
    return f'# Datasheet\n\n{note}\n\n{render_sections(2)}\n'


def main() -> None:
    """Write `docs/datasheet.md`."""
    FILE.write_text(render_page())


if __name__ == '__main__':
    main()
