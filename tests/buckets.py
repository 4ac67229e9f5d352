"""An object store on loopback (moto's server), a new bucket for each test."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import boto3
import pytest
from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server

from coevo.storage.place import Url

KEYS = {
    'AWS_ACCESS_KEY_ID': 'test',
    'AWS_SECRET_ACCESS_KEY': 'only-a-test',
    'AWS_DEFAULT_REGION': 'us-east-1',
}
_numbers = itertools.count()


# As S3 says that a key may not do what it asks for.
_DENIED = b'<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>'


def nothing_refused(method: str, path: str) -> bool:
    return False


@contextmanager
def serving(
    refused: Callable[[str, str], bool] = nothing_refused, host: str = '127.0.0.1', port: int = 0
) -> Iterator[str]:
    """The endpoint of a server that runs meanwhile.

    refused  of a request's method and path: whether its keys have no right to it
    """
    application = DomainDispatcherApplication(create_backend_app)
    alone = threading.Lock()

    def answer(environ: Any, start: Any) -> Any:
        # One request after another: moto looks at an ETag and writes in two steps, S3 in one.
        with alone:
            if refused(environ['REQUEST_METHOD'], environ['PATH_INFO']):
                environ['wsgi.input'].read(int(environ.get('CONTENT_LENGTH') or 0))
                start('403 Forbidden', [('Content-Type', 'application/xml')])
                return [_DENIED]
            return application(environ, start)

    server = make_server(host, port, answer, threaded=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f'http://{host}:{server.server_port}'
    server.shutdown()
    thread.join()
    server.server_close()


def connect(endpoint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let this process, and those that it starts, use the server."""
    for name, value in {**KEYS, 'AWS_ENDPOINT_URL': endpoint}.items():
        monkeypatch.setenv(name, value)


def new_bucket() -> Url:
    """A prefix in a bucket of its own."""
    name = f'coevo-{next(_numbers)}'
    client = boto3.client('s3')
    client.create_bucket(Bucket=name)
    client.close()
    return Url(f's3://{name}/some/prefix')
