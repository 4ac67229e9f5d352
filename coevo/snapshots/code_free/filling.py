"""Fill an edition: restore the texts that it omits, as many as clones have, and find these clones
and files.

A filled folder is a valid snapshot at any time. With all texts it is the release itself, with the
SHA-256 of each file; with some of them it is a partial edition, whose manifest names the pairs that
have their texts. Filling it again goes on from there. The unit is a pair: all of its texts are
there, or none.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coevo.git.clones import (
    FetchFailure,
    FetchTrouble,
    RepositoryPool,
    fetch_into_cache,
    hold_or_init_cached_clone,
    is_address,
    list_local_clones,
    lock_if_shared,
)
from coevo.git.process import run_git
from coevo.git.repository import Repository
from coevo.model.errors import DamagedSnapshot, Fatal
from coevo.model.listener import SILENT, Listener
from coevo.snapshots.code_free.folders import choose_base, exchange_folder
from coevo.snapshots.code_free.hydration import (
    FilledFolder,
    describe_parquet_writer,
    write_filled_folder,
)
from coevo.snapshots.code_free.recipes import TextSource
from coevo.snapshots.code_free.texts import (
    EditionTexts,
    PairTexts,
    list_files_with_texts,
    load_pair_ids,
    load_rows,
)
from coevo.snapshots.local_copy import open_local_copy
from coevo.snapshots.manifests import has_withheld_texts, list_filled_pairs
from coevo.snapshots.snapshot import load_manifest
from coevo.snapshots.verification import verify_folder

# Find the files from which texts are restored: in a user's clones, in a store, or by fetching.


@dataclass(frozen=True, slots=True, kw_only=True)
class BlobSearch:
    """The result of a search for the files of one repository.

    folders  for each file that was found, by the id of its blob: a clone that has it
    why      what kept other files away, such as Git's words; empty if all were found
    """

    folders: dict[str, Path]
    why: str = ''


def find_or_fetch_blobs(
    clones: Path | None, repo: str, url: str | None, sources: Sequence[TextSource]
) -> BlobSearch:
    """Return which clones have the files of a repository; fetch the files that no clone has.

    What is missing is fetched from `url` into coevo's cache. The result says why files are still
    missing.

    clones  a store or a folder with clones, as for `list_local_clones`
    """
    folders: dict[str, Path] = {}
    whys: list[str] = []
    local_clones = [*list_local_clones(clones, repo)]
    for git_dir in local_clones:
        with lock_if_shared(git_dir):
            folders |= dict.fromkeys(_list_present_blobs(git_dir, sources), git_dir)
    missing = [source for source in sources if source.blob not in folders]
    shown = ' and '.join(map(str, dict.fromkeys(local_clones)))
    if missing and local_clones:
        whys.append(f'{shown} lacks {len(missing)} of {len(sources)} files')
    failure = None
    if missing:
        failure = _fetch_blobs(repo, url, missing, folders)
        whys += [str(failure)] if failure is not None else []
    lacking = next((source for source in missing if source.blob not in folders), None)
    if lacking is None:
        return BlobSearch(folders=folders)
    if failure is None or failure.trouble is FetchTrouble.LACKS_COMMIT:
        whys.append(f'first lacking is {lacking.path} of {lacking.rev[:12]}')
    return BlobSearch(folders=folders, why='; '.join(whys))


def _fetch_blobs(
    repo: str, url: str | None, missing: Sequence[TextSource], folders: dict[str, Path]
) -> FetchFailure | None:
    """Fetch the commits of missing files into the cache, and add the files that came to `folders`.

    Return what kept files away; None if all fetches succeeded.
    """
    if not is_address(url):
        return FetchFailure(trouble=FetchTrouble.NO_ADDRESS)
    with hold_or_init_cached_clone(repo, url) as git_dir:
        revs = sorted({source.rev for source in missing})
        failure = fetch_into_cache(git_dir, url, revs)
        folders |= dict.fromkeys(_list_present_blobs(git_dir, missing), git_dir)
    return failure


@contextmanager
def open_clone(git_dir: str) -> Iterator[Repository]:
    """Yield the repository at a path, and close it at the end of the block.

    Meanwhile the clone is locked, see `lock_if_shared`.
    """
    path = Path(git_dir)  # own name: of a clone that `find_or_fetch_blobs` named
    with lock_if_shared(path), closing(Repository(path)) as repository:
        yield repository


def _list_present_blobs(git_dir: Path, sources: Sequence[TextSource]) -> Iterator[str]:
    """Yield the ids of the wanted blobs that a clone has; none for a damaged clone."""
    wanted = sorted({source.blob for source in sources})
    request = ''.join(f'{blob}\n' for blob in wanted)
    try:
        answers = run_git(git_dir, 'cat-file', '--batch-check', stdin=request.encode())
    except Fatal:
        return  # a damaged clone has nothing; another one, or a fetch, may have it
    for blob, line in zip(wanted, answers.decode('utf-8', 'replace').splitlines(), strict=True):
        if line.split()[:2] == [blob, 'blob']:
            yield blob


# Fill an edition: restore from clones the texts that it omits, as many as clones have.


@dataclass(frozen=True, slots=True, kw_only=True)
class FillSelection:
    """The texts to fill: of some repositories and tasks, by name and id; of all if both are empty."""

    repositories: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RepositoryFilling:
    """The result of filling for one repository.

    texts   number of texts that were wanted
    filled  number of these whose files clones have
    why     what kept the others away
    """

    repo: str
    texts: int
    filled: int
    why: str = ''

    def __str__(self) -> str:
        if self.filled == self.texts:
            return f'{self.repo}: {self.texts} texts'
        return f'{self.repo}: {self.texts - self.filled} of {self.texts} texts cannot be had: {self.why}'


@dataclass(frozen=True, slots=True, kw_only=True)
class FillReport:
    """The result of filling an edition into the folder `out`.

    repositories  what became of each repository with wanted texts
    folder        what `out` holds now; None if it was not written, since nothing could be filled
    pairs         number of pairs with texts in the edition
    whole_pairs   number of these that have their texts in `out`
    written_by    the Parquet writer of the edition, such as `pyarrow 19.0.0`
    """

    out: Path
    repositories: tuple[RepositoryFilling, ...]
    folder: FilledFolder | None
    pairs: int
    whole_pairs: int
    written_by: str

    @property
    def lacking(self) -> tuple[RepositoryFilling, ...]:
        """The repositories of which some wanted text could not be had."""
        return tuple(each for each in self.repositories if each.filled < each.texts)

    @property
    def is_complete(self) -> bool:
        """True if no wanted text is lacking and the folder was not refused as damaged.

        A folder with all texts counts even if another version of the Parquet writer gave it other
        bytes. If nothing was written, true means that no text was wanted.
        """
        if self.folder is None:
            return not self.repositories  # nothing wanted was lacking
        return not self.folder.is_refused and not self.lacking

    @property
    def sentences(self) -> Iterator[str]:
        """Lines for the user: what is lacking and why, then what was done."""
        yield from map(str, self.lacking)
        folder = self.folder
        if folder is None and not self.repositories:
            yield f'these texts are in the edition already, so that {self.out} is not needed'
            return
        if folder is None:
            yield f'{self.out} was not written: no text could be filled in'
            return
        texts = sum(each.filled for each in self.repositories)
        if folder.is_refused:
            yield from (
                f'{name} came out with other bytes than the release' for name in folder.differs
            )
            yield f'{self.out} was not written: the edition or a clone is damaged; get it again'
        elif folder.is_release:
            yield f'{self.out}: {texts} texts filled in; all files have the SHA-256 of the release'
        else:
            yield (
                f'{self.out}: {texts} texts filled in; {self.whole_pairs} of {self.pairs} pairs have '
                'their texts, and what is there can be used'
            )
        if folder.differs and not folder.is_refused:
            yield (
                f'all texts are there, in other bytes than the release has: {self.written_by} wrote it, '
                f'here is {describe_parquet_writer()}; with that version the same command gives the SHA-256'
            )
        elif self.lacking:
            yield 'The same command goes on from here, once it can reach what is lacking.'


def fill_edition(
    place: Path | str,
    out: Path,
    clones: Path | None,
    selection: FillSelection = FillSelection(),
    listener: Listener = SILENT,
) -> FillReport:
    """Fill the texts of an edition into a folder, and return what was filled and what is lacking.

    The folder may hold what an earlier call filled. It is replaced as a whole, or left as it is.

    Raises: Fatal if the folder holds anything else, the place holds no edition, or nothing has a
    selected name; DamagedSnapshot if the edition is not valid.
    """
    with open_local_copy(place) as edition, exchange_folder(out) as exchange:
        content = load_manifest(edition)
        if not has_withheld_texts(content):
            raise Fatal(f'{place} is no edition to be filled: it has all of its texts')
        base = choose_base(edition, content, out)
        if base is None:
            return _report_existing_release(out, content)
        content = load_manifest(base)
        _refuse_damage(base, place if base is edition else out)
        texts = EditionTexts(base)
        plan = _FillPlan(base, texts, list_filled_pairs(content))
        wanted = plan.select_pairs(selection)
        repositories, folders = _search_and_locate_blobs(plan, texts, wanted, clones, listener)
        filled = plan.filled | {
            pair.pair_id for pair in wanted if plan.are_sources_available(pair, folders)
        }
        folder = None if base is edition else FilledFolder(is_release=False)
        if filled > plan.filled or filled >= plan.pairs.keys():
            with RepositoryPool(open_clone) as pool:
                texts.set_source_repositories(lambda source: pool.get(str(folders[source.blob])))
                folder = write_filled_folder(
                    base, exchange.new, texts, plan.complete(filled), plan.filled
                )
            if not folder.is_refused:
                exchange.accept()
        return FillReport(
            out=out,
            repositories=repositories,
            folder=folder,
            pairs=len(plan.pairs),
            whole_pairs=len(filled & plan.pairs.keys()),
            written_by=content['edition']['written_by'],
        )


def _report_existing_release(out: Path, content: Mapping[str, Any]) -> FillReport:
    """Return the report for a folder that holds the release already."""
    return FillReport(
        out=out,
        repositories=(),
        folder=FilledFolder(is_release=True),
        pairs=0,
        whole_pairs=0,
        written_by=content['edition']['written_by'],
    )


def _refuse_damage(folder: Path, place: Path | str) -> None:
    for finding in verify_folder(folder):
        raise DamagedSnapshot(
            f'{place} is not good ({finding.table}: {finding.rule}): get it again'
        )


class _FillPlan:
    """The pairs of an edition, with the files that their texts are cut from.

    pairs   the pairs that have texts in the recipes, by id
    filled  ids of pairs that have their texts already
    """

    def __init__(self, folder: Path, texts: EditionTexts, filled: Collection[str]) -> None:
        self._folder, self._texts = folder, texts
        names = list_files_with_texts(folder)
        by_file = {name: load_pair_ids(folder / name) for name in names}
        self.pairs = {pair.pair_id: pair for pair in texts.group_by_pair(by_file)}
        self.filled = frozenset(filled)
        self._all = {pair_id for pair_ids in by_file.values() for pair_id in pair_ids}
        self.repos = {row['pair_id']: row['repo'] for row in load_rows(folder, 'pairs')}
        self.urls: Mapping[str, str | None] = {
            row['repo']: row['url'] for row in load_rows(folder, 'repositories')
        }

    def select_pairs(self, selection: FillSelection) -> Sequence[PairTexts]:
        """Return the pairs of a selection that lack their texts, sorted by id.

        Raises: Fatal for a task or repository that the edition does not have.
        """
        wanted = self._find_selected_pairs(selection)
        return [
            pair
            for pair_id, pair in sorted(self.pairs.items())
            if pair_id not in self.filled and (wanted is None or pair_id in wanted)
        ]

    def _find_selected_pairs(self, selection: FillSelection) -> frozenset[str] | None:
        if not selection.repositories and not selection.tasks:
            return None
        tasks = {row['task_id']: row['pair_id'] for row in load_rows(self._folder, 'tasks')}
        for task in selection.tasks:
            if task not in tasks:
                raise Fatal(f'the edition has no task {task!r}; `coevo query` lists its tasks')
        for repo in selection.repositories:
            if repo not in self.urls:
                raise Fatal(
                    f'the edition has no repository {repo!r}; it has {_format_repository_names(self.urls)}'
                )
        of_tasks = {tasks[task] for task in selection.tasks}
        of_repositories = {
            pair_id for pair_id, repo in self.repos.items() if repo in selection.repositories
        }
        return frozenset(of_tasks | of_repositories)

    def are_sources_available(self, pair: PairTexts, folders: Mapping[str, Path]) -> bool:
        """Return whether clones have all files that the texts of a pair are cut from.

        folders  the clone that has a file, by the id of the file's blob
        """
        return all(self._texts.sources[number].blob in folders for number in pair.sources)

    def complete(self, filled: Collection[str]) -> Mapping[str, frozenset[str]] | None:
        """Return the pairs that have all their texts, by repository; None if all pairs do.

        A pair without any text counts as soon as all other pairs of its repository do.

        filled  ids of the pairs with texts that have them
        """
        whole = set(filled)
        lacking = {self.repos[pair_id] for pair_id in self.pairs.keys() - whole}
        whole |= {id_ for id_ in self._all - self.pairs.keys() if self.repos[id_] not in lacking}
        if whole >= self._all:
            return None
        by_repo: dict[str, set[str]] = defaultdict(set)
        for pair_id in whole:
            by_repo[self.repos[pair_id]].add(pair_id)
        return {repo: frozenset(pair_ids) for repo, pair_ids in by_repo.items()}


def _format_repository_names(urls: Mapping[str, str | None]) -> str:
    names = sorted(urls)
    return ', '.join(names[:5]) + (f' and {len(names) - 5} more' if len(names) > 5 else '')


def _search_and_locate_blobs(
    plan: _FillPlan,
    texts: EditionTexts,
    wanted: Sequence[PairTexts],
    clones: Path | None,
    listener: Listener,
) -> tuple[tuple[RepositoryFilling, ...], Mapping[str, Path]]:
    """Search the files of all wanted texts; return the result of each repository, and the clones.

    The clones are given by the id of the blob that each has.
    """
    numbers: dict[str, set[int]] = defaultdict(set)
    for pair in wanted:
        for number in pair.sources:
            numbers[texts.sources[number].repo].add(number)
    folders: dict[str, Path] = {}
    whys: dict[str, str] = {}
    for done, (repo, theirs) in enumerate(sorted(numbers.items()), 1):
        listener.step(f'repositories, now {repo}', done, len(numbers))
        sources = [texts.sources[number] for number in sorted(theirs)]
        search = find_or_fetch_blobs(clones, repo, plan.urls.get(repo), sources)
        folders |= search.folders
        whys[repo] = search.why
    counts, filled = Counter[str](), Counter[str]()
    for pair in wanted:
        repo = plan.repos[pair.pair_id]
        counts[repo] += pair.texts
        filled[repo] += pair.texts if plan.are_sources_available(pair, folders) else 0
    repositories = tuple(
        RepositoryFilling(
            repo=repo, texts=counts[repo], filled=filled[repo], why=whys.get(repo, '')
        )
        for repo in sorted(counts)
    )
    return repositories, folders
