"""A storage place under a prefix of an S3 bucket.

It relies on S3's conditional writes: create-only, and overwrite of a known ETag
(https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-writes.html).
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Literal

from coevo.model.errors import Fatal, Transient
from coevo.storage import leases
from coevo.storage.place import HeldLock, PlaceEntry, StoredFile, Url

if TYPE_CHECKING:
    from obstore import UpdateVersion
    from obstore.store import S3Config, S3Store

# The size limit of a small request, its timeout, and the timeout with all retries. Both are well
# below a lease's lifetime. Requests of large or unknown size may take longer: their writes are
# conditional by themselves.
_SMALL, _QUICK, _REPEATED = 1 << 20, timedelta(seconds=15), timedelta(seconds=30)
_PATIENT = timedelta(minutes=15)
_AT_ONCE = 16
_WORTH_A_RETRY = {408, 409, 425, 429}
# Words in the client's error if the environment has no keys and it looked elsewhere.
_METADATA = ('169.254.169.254', 'MissingAccessKeyId', 'MissingSecretAccessKey')


class BucketPlace:
    """A storage place in an S3 bucket. See `StoragePlace` for the methods.

    Raises: Fatal if the package obstore is missing; Transient if the store cannot be reached.
    """

    def __init__(self, url: Url) -> None:
        self._url = url
        if importlib.util.find_spec('obstore') is None:
            raise Fatal(f'{url} needs the package obstore: run `pip install obstore`')
        with _translate_errors(url):
            self._quick, self._patient = _open_bucket(url, _QUICK), _open_bucket(url, _PATIENT)

    def describe(self, name: str = '') -> str:
        """Return the URL of the place, or of a file in it."""
        return f'{self._url}/{name}' if name else self._url

    def list_top_names(self) -> frozenset[str]:
        """Return the names of the objects and folders directly below the prefix."""
        import obstore

        with _translate_errors(self._url):
            listing = obstore.list_with_delimiter(self._quick)
        return frozenset(
            (*listing['common_prefixes'], *(item['path'] for item in listing['objects']))
        )

    def list_files(self, folder: str) -> Sequence[PlaceEntry]:
        """Return all files below a folder, sorted by name."""
        import obstore

        with _translate_errors(self._url):
            listed = [
                item
                for page in obstore.list(self._quick, f'{folder}/' if folder else None)
                for item in page
            ]
        files = [
            PlaceEntry(
                name=item['path'],
                size=item['size'],
                modified=_to_nanoseconds(item['last_modified']),
            )
            for item in listed
        ]
        return sorted(files, key=lambda entry: entry.name)

    def read(self, name: str) -> StoredFile | None:
        """Return a file with its version, which is the ETag; None if it does not exist."""
        import obstore

        try:
            with _translate_errors(self._url):
                answer = obstore.get(self._patient, name)
                data = bytes(answer.bytes())
        except FileNotFoundError:
            return None
        meta = answer.meta
        return StoredFile(
            data=data, version=meta['e_tag'] or '', modified=_to_nanoseconds(meta['last_modified'])
        )

    def load_files(self, names: Sequence[str]) -> Sequence[StoredFile | None]:
        """Return many files as `read` does, in the order of their names in the call.

        They are read in parallel.
        """
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            return list(pool.map(self.read, names))

    def write_file(self, name: str, data: bytes) -> None:
        """Create or replace a file atomically, by one request."""
        self._put_object(name, data, 'overwrite')

    def write_if_unchanged(self, name: str, data: bytes, version: str | None) -> str | None:
        """Write a file if it still has `version`; None means that it must not exist yet.

        Return the new version; None if the condition failed. If the object has exactly these bytes
        already, its version is returned, too.
        """
        from obstore.exceptions import AlreadyExistsError, PreconditionError

        try:
            return self._put_object(name, data, 'create' if version is None else {'e_tag': version})
        except (AlreadyExistsError, PreconditionError, FileNotFoundError):
            # After a lost answer the client repeats its request, which then fails because the first
            # one succeeded.
            file = self.read(name)
            return file.version if file is not None and file.data == data else None

    def remove_files(self, names: Iterable[str]) -> None:
        """Remove files; missing ones are ignored."""
        import obstore

        paths = list(names)
        if paths:
            with _translate_errors(self._url), contextlib.suppress(FileNotFoundError):
                obstore.delete(self._quick, paths)

    def remove_unfinished(self, folder: str) -> None:
        """Do nothing: an unfinished upload leaves no object."""

    @contextlib.contextmanager
    def lock(self, name: str, busy: str) -> Iterator[HeldLock]:
        """Hold an exclusive lock, a lease in a file of that name, until the block ends.

        If its holder is killed, the lease expires within `leases.SECONDS`. Raises: Fatal with the
        sentence `busy` if another process holds it.
        """
        try:
            lease = leases.take_lease_unless_renewed(self, name, leases.LeaseTerms())
        except leases.LeaseTaken as taken:
            raise Fatal(f'{busy} ({taken})') from None
        with lease:
            yield lease

    def _put_object(
        self, name: str, data: bytes, mode: Literal['create', 'overwrite'] | UpdateVersion
    ) -> str:
        import obstore

        store = self._quick if len(data) < _SMALL else self._patient
        with _translate_errors(self._url):
            # An upload in parts could not be conditional.
            answer = obstore.put(store, name, data, mode=mode, use_multipart=False)
        return answer['e_tag'] or ''


def _open_bucket(url: Url, patience: timedelta) -> S3Store:
    from obstore.store import S3Store

    bucket, _, prefix = url.removeprefix('s3://').partition('/')
    endpoint = os.environ.get('AWS_ENDPOINT_URL_S3') or os.environ.get('AWS_ENDPOINT_URL')
    # Without the variable the key is left out: the library refuses None.
    config: S3Config = {'endpoint': endpoint} if endpoint else {}
    return S3Store(
        bucket,
        config=config,
        prefix=prefix or None,
        client_options={
            'allow_http': bool(endpoint and endpoint.startswith('http://')),
            'connect_timeout': timedelta(seconds=5),
            'timeout': patience,
        },
        retry_config={'max_retries': 5, 'retry_timeout': _REPEATED},
    )


@contextlib.contextmanager
def _translate_errors(url: Url) -> Iterator[None]:
    """Translate the client's errors into Fatal and Transient, except those that callers expect."""
    from obstore import exceptions as client

    try:
        yield
    except (client.AlreadyExistsError, client.PreconditionError):
        raise
    except FileNotFoundError as error:
        if 'NoSuchBucket' in str(error):
            raise _make_error(url, str(error)) from None
        raise
    except (client.PermissionDeniedError, client.UnauthenticatedError):
        raise Fatal(
            f'{url}: the object store refuses the keys that it was given; see AWS_ACCESS_KEY_ID, '
            'AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, and what they may do there'
        ) from None
    except client.BaseError as error:
        raise _make_error(url, str(error)) from None


def _make_error(url: Url, text: str) -> Fatal | Transient:
    """Return a Fatal or Transient with one sentence in place of the client's many lines."""
    if any(word in text for word in _METADATA):
        return Fatal(
            f'{url}: there are no keys for the object store; set AWS_ACCESS_KEY_ID and '
            "AWS_SECRET_ACCESS_KEY (and AWS_ENDPOINT_URL where it is not Amazon's)"
        )
    if 'NoSuchBucket' in text:
        return Fatal(f'{url}: there is no such bucket; make it first')
    status = re.search(r'status code: (4\d\d)', text)
    if status and int(status[1]) not in _WORTH_A_RETRY:
        return Fatal(
            f'{url}: the object store answers with status {status[1]}; is it the right one?'
        )
    # The rest of the message would show the whole request.
    reason = text.partition('\n')[0].rpartition(' - ')[2][:200]
    return Transient(f'{url} cannot be reached or used now ({reason})')


def _to_nanoseconds(moment: datetime) -> int:
    return int(moment.timestamp() * 1_000_000_000)
