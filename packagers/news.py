"""Count what a snapshot changes for each repository compared with the one before it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from packagers.rows import Rows
from packagers.withdrawal import EarlierSnapshot, align_tasks


@dataclass(frozen=True, slots=True, kw_only=True)
class RepositoryNews:
    """The changes of the tasks of one repository.

    changed  tasks that existed before, with another date or without some of their tests
    """

    repo: str
    new: int
    changed: int
    withdrawn: int


def count_news(
    earlier: EarlierSnapshot | None, rows: Rows, month: str
) -> tuple[RepositoryNews, ...]:
    """Return the changes of each repository's tasks since the earlier snapshot, by name.

    Repositories without changes are left out. `rows` must have been compared with `earlier` already
    (`apply_earlier_snapshot`).
    """
    now = [row for row in rows.withdrawn if (row.table, row.month) == ('tasks', month)]
    anew = {row.id for row in now if row.reissued}
    new, changed, withdrawn = Counter[str](), Counter[str](), Counter[str]()
    for before, task in align_tasks(earlier, rows):
        if task is None:
            assert before is not None
            withdrawn[before.repo] += 1
        elif task.released == month:
            new[task.repo] += 1
        elif task.task_id in anew:
            changed[task.repo] += 1
    return tuple(
        RepositoryNews(repo=repo, new=new[repo], changed=changed[repo], withdrawn=withdrawn[repo])
        for repo in sorted({*new, *changed, *withdrawn})
    )


def format_news(news: Sequence[RepositoryNews]) -> list[dict[str, str | int]]:
    """Return the news as plain dictionaries for the manifest."""
    return [
        {
            'repository': entry.repo,
            'new': entry.new,
            'changed': entry.changed,
            'withdrawn': entry.withdrawn,
        }
        for entry in news
    ]
