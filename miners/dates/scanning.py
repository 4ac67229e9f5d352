"""Find which files contain which bodies.

Each file is scanned once, and parsed only if necessary.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass
from functools import lru_cache

from coevo.git.objects import FOLDER, SUBMODULE
from coevo.git.process import stream_ids_and_contents
from coevo.git.repository import Repository
from coevo.languages.declarations import Member, SourceFile
from coevo.languages.prints import BodyPrint, split_words
from coevo.languages.reading import LanguageReading

_NOTHING = frozenset[str]()
# The maximal number of lines whose words are cached, about 100 MiB. Neighbouring revisions of a
# file share nearly all lines.
_MOST_LINES = 300_000
_RARELY = 4  # scans after which a body's beginnings are checked, too


class BlobTexts:
    """The blobs of a clone, with a cache of the latest parsed ones."""

    def __init__(self, repository: Repository, reading: LanguageReading) -> None:
        self.repository, self.reading = repository, reading
        self.lacked = repository.object_ids_absent_at_source
        self._latest: tuple[str, bytes] = ('', b'')
        self._known = lru_cache(maxsize=512)(self._parse_blob)

    def stream_blobs(self, oids: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Yield the id and content of many blobs in order.

        Raises: CorruptObject at the first that cannot be read.
        """
        for oid, source in stream_ids_and_contents(self.repository.git_dir, oids):
            self._latest = oid, source
            yield oid, source

    def read(self, oid: str) -> bytes:
        """Return the bytes of a blob; empty if the clone lacks it because its source does."""
        known, source = self._latest
        if known == oid:
            return source
        return b'' if oid in self.lacked else self.repository.blob(oid)

    def get_bodies(self, oid: str) -> FileBodies:
        """Return the bodies of a blob, parsed at the first call."""
        return self._known(oid)

    def _parse_blob(self, oid: str) -> FileBodies:
        return parse_bodies(self.reading, self.read(oid))


class BodyScanner:
    """Finds bodies in texts; only open bodies, which are not closed yet, are searched for.

    `holders` has for each open body the scanned blobs that contain it.
    """

    def __init__(self, texts: BlobTexts, prints: Mapping[str, BodyPrint]) -> None:
        self.texts = texts
        self.open = dict(prints)
        self.scanned: set[str] = set()
        self.holders: dict[str, set[str]] = {body: set() for body in prints}
        self._held: dict[str, AbstractSet[str]] = {}
        self._words = _LineWords()
        self._asked = Counter[str]()
        self._beginnings: dict[str, tuple[re.Pattern[bytes], ...]] = {}
        self._keys = _choose_preselection_words(prints)
        self._by_key: dict[bytes | None, set[str]] = defaultdict(set)
        for body, key in self._keys.items():
            self._by_key[key].add(body)

    def stop_searching_for_body(self, body: str) -> None:
        """Stop searching for a body."""
        del self.open[body]
        del self.holders[body]
        self._beginnings.pop(body, None)
        same = self._by_key[self._keys[body]]
        same.discard(body)
        if not same:
            del self._by_key[self._keys[body]]

    def find_bodies(self, oid: str) -> AbstractSet[str]:
        """Return the open bodies that a blob contains.

        The blob is scanned unless that was done before.
        """
        if oid not in self.scanned:
            self.scan_blob_for_bodies(oid, self.texts.read(oid))
        return self._held.get(oid, _NOTHING) & self.open.keys()

    def scan_blob_for_bodies(self, oid: str, source: bytes) -> None:
        """Scan a blob for the open bodies and note what it holds, unless it was scanned before."""
        if oid in self.scanned:
            return
        self.scanned.add(oid)
        if self._may_hold(source):
            bodies = self.texts.get_bodies(oid).all & self.open.keys()
            if bodies:
                self._held[oid] = bodies
            for body in bodies:
                self.holders[body].add(oid)

    def _may_hold(self, source: bytes) -> bool:
        """Return whether a text may contain an open body."""
        words = self._words.list_words(source)
        candidates = [
            self.open[body]
            for key in (None, *(self._by_key.keys() & words))
            for body in self._by_key.get(key, ())
            if self.open[body].words <= words and self._may_begin_in(body, source)
        ]
        if not candidates:
            return False
        text = self.texts.reading.LEXIS.lex_text(source)
        return any(candidate.may_be_in(text, words) for candidate in candidates)

    def _may_begin_in(self, body: str, source: bytes) -> bool:
        """Return whether a text has the first tokens of a body.

        The first few calls for a body return True without a check, since the pattern takes
        milliseconds to compile and is not worth it for a body whose words rarely occur together.
        """
        self._asked[body] += 1
        if self._asked[body] <= _RARELY:
            return True
        if body not in self._beginnings:
            self._beginnings[body] = self.texts.reading.LEXIS.compile_segment_beginnings(
                self.open[body]
            )
        return self.texts.reading.LEXIS.may_match_all_beginnings(source, self._beginnings[body])


class _LineWords:
    """The words of texts, with a cache by line."""

    def __init__(self) -> None:
        self._by_line: dict[bytes, tuple[bytes, ...]] = {}

    def list_words(self, source: bytes) -> set[bytes]:
        """Return all words of a text."""
        if len(self._by_line) > _MOST_LINES:
            self._by_line.clear()
        known = self._by_line
        text_words = set[bytes]()
        for line in set(source.split(b'\n')):
            words = known.get(line)
            if words is None:
                words = known[line] = split_words(line)
            text_words.update(words)
        return text_words


def _choose_preselection_words(prints: Mapping[str, BodyPrint]) -> dict[str, bytes | None]:
    """Return for each body the word by which texts are preselected; None if it has no word.

    It is a long word that few other bodies have.
    """
    frequency = Counter(word for each in prints.values() for word in each.words)
    return {
        body: max(
            each.words, key=lambda word: (len(word) - 3 * frequency[word], word), default=None
        )
        for body, each in prints.items()
    }


class TreeBlobs:
    """The blobs of a language's files in whole trees; folders that trees share are read once."""

    def __init__(self, repository: Repository, suffixes: tuple[str, ...]) -> None:
        self._repository, self._suffixes = repository, suffixes
        self._folder = lru_cache(maxsize=1 << 14)(self._load_folder)

    def list_blobs(self, rev: str) -> frozenset[str]:
        """Return the ids of the language's blobs in the tree of a commit."""
        blob_sets = list[frozenset[str]]()
        todo = [self._repository.header(rev).tree]
        while todo:
            blobs, folders = self._folder(todo.pop())
            blob_sets.append(blobs)
            todo += folders
        return frozenset().union(*blob_sets)

    def _load_folder(self, oid: str) -> tuple[frozenset[str], tuple[str, ...]]:
        entries = self._repository.folder(oid)
        files = (entry for entry in entries if entry[0] not in (FOLDER, SUBMODULE))
        blobs = frozenset(child for _, name, child in files if name.endswith(self._suffixes))
        folders = (child for mode, _, child in entries if mode == FOLDER)
        return blobs, tuple(
            child for child in folders if child not in self._repository.object_ids_absent_at_source
        )


# The rest finds the method bodies of single files, and which of them are tests.


@dataclass(frozen=True, slots=True)
class FileBodies:
    """The hashes of a file's bodies, and its test methods in order.

    A body has two hashes: of the declaration (`Member.bare_hash`) and of the block
    (`Member.body_hash`).
    """

    all: frozenset[str]
    tests: tuple[Member, ...]


def parse_bodies(reading: LanguageReading, source: bytes) -> FileBodies:
    """Parse a file and return its bodies."""
    file = reading.parse_uncached(source)
    return FileBodies(
        all=frozenset(list_member_hashes(file)), tests=tuple(find_tests(reading, file))
    )


def find_tests(reading: LanguageReading, file: SourceFile) -> Sequence[Member]:
    """Return the test methods of a file, judged by this file alone."""
    return [member for _, member in reading.find_tests(file, lambda name: ())]


def list_member_hashes(file: SourceFile) -> list[str]:
    """Return the hashes of all members, whole declarations first, then blocks."""
    members = [member for type_ in file.types for member in type_.members]
    bare_hashes = [member.bare_hash for member in members]
    return bare_hashes + [member.body_hash for member in members if member.body_hash is not None]
