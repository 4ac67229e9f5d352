"""`--format harbor`: a data set of task folders for Harbor, and the image of its verifiers.

tasks/TASK_ID/  the folder of a task (`task_folders`), for `harbor run -p DIR/tasks`
verifier/       the context of the image on which the verifiers are made (`verifier_image`)

An agent's container gets nothing but `environment/`, which holds neither gold nor the snapshot. Its
test file is all that is carried into the verifier's container, which is made from an image of its
own. So no reward can be written, and no grader be changed, by an agent.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from coevo.evaluation.judging.start_states import StartStates
from coevo.evaluation.reporting.cells import pluralise
from coevo.exports.harbor.task_folders import TaskFolders
from coevo.exports.harbor.verifier_image import name_image, write_clone, write_verifier
from coevo.exports.selection import (
    Omissions,
    Selection,
    iterate_repositories,
    load_task_texts,
    refuse_empty_export,
    select_tasks,
)
from coevo.model.task_rows import TaskRow


def write_dataset(
    folder: Path,
    selection: Selection,
    release: Mapping[str, str | None],
    omissions: Omissions,
    images: Mapping[str, str] | None = None,
) -> Iterator[str]:
    """Write the data set into a folder, and yield sentences about it.

    images  names of the images of agents by task; None if Harbor builds them

    Raises: Fatal if no task is left.
    """
    tasks, verifier = folder / 'tasks', folder / 'verifier'
    image = name_image(str(release['snapshot_sha256']))
    count = 0
    for path in (tasks, verifier):
        path.mkdir()
    for repository, of_repository in iterate_repositories(
        select_tasks(selection), selection.clones, omissions
    ):
        with tempfile.TemporaryDirectory(prefix='coevo-export-') as scratch:
            states = StartStates(repository, Path(scratch) / 'states')
            folders = TaskFolders(
                root=tasks,
                scratch=Path(scratch) / 'trees',
                verifier=image,
                release=release,
                omissions=omissions,
                images=images,
            )
            written: list[TaskRow] = []
            for assignment in of_repository:
                texts = load_task_texts(repository, assignment, omissions)
                if texts is not None and folders.write(states, texts):
                    written.append(assignment.task)
        if written:
            revs = [rev for task in written for rev in (task.old_rev, task.new_rev)]
            write_clone(verifier / 'store', written[0].repo, repository, revs)
        count += len(written)
    refuse_empty_export(count, omissions)
    write_verifier(verifier, selection.snapshot)
    yield f'tasks: {pluralise(count, "folder")}'
    yield f'verifier: build it first, with the name {image}'
