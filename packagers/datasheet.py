"""The datasheet of every snapshot, after Gebru et al. (2021): in the card, and `docs/datasheet.md` (`make docs`)."""

from __future__ import annotations

from pathlib import Path

FILE = Path('docs/datasheet.md')

QUESTIONS = {
    'For what was it made?': """\
To measure whether a program can keep tests in step with code: write the tests of a change, adapt tests that a
change broke, repair tests that were broken before. A snapshot is made each month, so that some of it is newer than a
model's training data. coevo is its maker; nobody is known to have paid for it.""",
    'What does a row stand for?': """\
A task: all test methods of one track in one test file of one pair of revisions. `methods` has every labelled test
method, be it in a task or not, `drops` everything that was looked at and left out, with the reason.""",
    'Is it a sample?': """\
Of public repositories, those that a profile of the crawl asks for: a language, stars, a licence, a build file. Of their
commits those of the walk until its cutoff. Of unchanged tests a seeded sample is run. It stands for no other
population: large and old repositories have more tasks, and what does not build any more has none.""",
    'How was a label found?': """\
By running. Old and new tests were run on old and new code, at least three times in each cell that decides, in fresh
processes; the runs agreed, or the method was dropped. No person labelled anything.""",
    'Is something missing, or noisy?': """\
A null is explained at its column. Dates before the first visible commit, and of code that came in by bulk imports, are
unknown, and never count as clean. Evidence is of one machine with few runtimes: a test that fails only elsewhere is
not seen. Tasks of one pair resemble each other.""",
    'Does it hold anything about people?': """\
Source code and patches as they were published, in which names of authors may stand in comments. There are no authors,
mail addresses or commit messages in columns. Code is neither executed nor changed in the snapshot itself.""",
    'For what should it not be used?': """\
To rank repositories or their developers: what fails here may be the sandbox. To train on what is to be measured with.
To claim a success rate without saying for which months, and since when its tasks were public.""",
    'Under which licence?': """\
Code stays under that of its repository, which each row names; what coevo adds is under CC BY 4.0. See the licences of
the card.""",
    'Who looks after it, and does it change?': """\
A snapshot never changes. Later ones add tasks, and say in `withdrawn` what is gone, with the reason: a label that no
longer holds, a licence, a wish of the repository. Whoever keeps a repository out tells those who publish the
snapshot; the next one leaves it out.""",
}


def sections(level: int) -> str:
    """The questions as headings of that level, each with its answer."""
    return '\n\n'.join(f'{"#" * level} {asked}\n\n{told}' for asked, told in QUESTIONS.items())


def page() -> str:
    """The whole of `docs/datasheet.md`."""
    note = '<!-- Made by `make docs` from packagers/datasheet.py; do not edit. -->'
    return f'# Datasheet\n\n{note}\n\n{sections(2)}\n'


def main() -> None:
    FILE.write_text(page())


if __name__ == '__main__':
    main()
