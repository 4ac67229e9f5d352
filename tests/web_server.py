"""Files on a static web server on loopback."""

from __future__ import annotations

import threading
from pathlib import Path

from werkzeug.exceptions import NotFound
from werkzeug.serving import make_server
from werkzeug.utils import send_from_directory
from werkzeug.wrappers import Request, Response


class Site:
    """A server of a folder; `bytes` are those of all bodies, `ranged` is whether it knows ranges.

    `asked` has the paths of files whose content was asked for.
    """

    def __init__(self, root: Path) -> None:
        self.root, self.bytes, self.ranged, self.broken = root, 0, True, 0
        self.asked: list[str] = []
        self._server = make_server('127.0.0.1', 0, self._serve, threaded=True)
        self.url = f'http://127.0.0.1:{self._server.server_port}'
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _serve(self, environ: dict[str, object], start: object) -> object:
        request = Request(environ)
        if self.broken:
            return Response(status=self.broken)(environ, start)  # type: ignore[arg-type]
        if not self.ranged:
            environ.pop('HTTP_RANGE', None)
        try:
            answer = send_from_directory(self.root, request.path.lstrip('/'), environ)
        except NotFound as error:
            return error.get_response(environ)(environ, start)  # type: ignore[arg-type]
        if request.method == 'GET':
            self.bytes += answer.content_length or 0
            self.asked.append(request.path)
        # A client that leaves early makes werkzeug forget to close the file, so nothing stays open.
        answer.direct_passthrough = False
        answer.make_sequence()
        answer.close()
        return answer(environ, start)  # type: ignore[arg-type]
