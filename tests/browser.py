"""A headless Chromium for the tests, driven as the WebDriver standard says: JSON over HTTP.

What stands here is the part of https://www.w3.org/TR/webdriver2/ that the tests need.
"""

from __future__ import annotations

import base64
import contextlib
import http.server
import json
import re
import shutil
import subprocess
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

_WAIT_SECONDS = 30
# Whatever proxy this machine's user has set.
_DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))
_ELEMENT = 'element-6066-11e4-a52e-4f735466cecf'


class Browser:
    """One tab; every call waits for its answer."""

    def __init__(self, session: str) -> None:
        self._session = session

    def open(self, url: str) -> None:
        self._ask('POST', '/url', {'url': url})

    def script(self, text: str, *arguments: object) -> Any:
        """What the body of a function returns; a promise is waited for."""
        return self._ask('POST', '/execute/sync', {'script': text, 'args': list(arguments)})

    def wait_for(self, text: str, *arguments: object) -> Any:
        """The first true answer to an expression; AssertionError if there is none in time."""
        until = time.monotonic() + _WAIT_SECONDS
        while time.monotonic() < until:
            found = self.script(f'return {text}', *arguments)
            if found:
                return found
            time.sleep(0.05)
        raise AssertionError(f'it never was so: {text}; the page says: {self.text()[:2000]}')

    def text(self) -> str:
        return str(self.script('return document.body.innerText'))

    def click(self, selector: str) -> None:
        self._ask('POST', f'/element/{self._find(selector)}/click', {})

    def press(self, selector: str, keys: str) -> None:
        """Type into an element, which gets the focus."""
        self._ask('POST', f'/element/{self._find(selector)}/value', {'text': keys})

    def keys(self, keys: str) -> None:
        """Press and release keys, one after the other, wherever the focus is."""
        strokes = [{'type': f'key{way}', 'value': key} for key in keys for way in ('Down', 'Up')]
        actions = [{'type': 'key', 'id': 'keyboard', 'actions': strokes}]
        self._ask('POST', '/actions', {'actions': actions})

    def size(self, width: int, height: int) -> None:
        """Of what the page is shown in, in pixels of CSS, whatever windows may be."""
        self._devtools(
            'Emulation.setDeviceMetricsOverride',
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )

    def dark(self, wanted: bool) -> None:
        scheme = {'name': 'prefers-color-scheme', 'value': 'dark' if wanted else 'light'}
        self._devtools('Emulation.setEmulatedMedia', features=[scheme])

    def picture(self, file: Path) -> None:
        file.write_bytes(base64.b64decode(self._ask('GET', '/screenshot')))

    def complaints(self) -> list[str]:
        """What the console holds of errors and refused requests since the last call."""
        entries = self._ask('POST', '/se/log', {'type': 'browser'})
        return [one['message'] for one in entries if one['level'] == 'SEVERE']

    def accessible(self) -> list[tuple[str, str]]:
        """(role, name) of all that assistive technology is shown."""
        nodes = self._devtools('Accessibility.getFullAXTree')['nodes']
        return [
            (node['role']['value'], node.get('name', {}).get('value', ''))
            for node in nodes
            if not node['ignored']
        ]

    def _find(self, selector: str) -> str:
        found = self._ask('POST', '/element', {'using': 'css selector', 'value': selector})
        return str(found[_ELEMENT])

    def _devtools(self, command: str, **parameters: object) -> Any:
        return self._ask('POST', '/goog/cdp/execute', {'cmd': command, 'params': parameters})

    def _ask(self, method: str, path: str, body: object = None) -> Any:
        return _request(method, f'{self._session}{path}', body)


def _request(method: str, url: str, body: object = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {'Content-Type': 'application/json'}, method=method)
    try:
        with _DIRECT.open(request, timeout=120) as answer:
            return json.load(answer)['value']
    except urllib.error.HTTPError as error:
        raise AssertionError(json.load(error)['value']['message']) from None


@contextlib.contextmanager
def chromium() -> Iterator[Browser]:
    """A browser with a profile of its own; a skip that says why where there is none."""
    driver = shutil.which('chromedriver')
    program = shutil.which('chromium') or shutil.which('google-chrome')
    if driver is None or program is None:
        pytest.skip('no Chromium with its driver (apt install chromium chromium-driver)')
    with subprocess.Popen(
        [driver, '--port=0'], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            server = f'http://127.0.0.1:{_port(process)}'
            session = f'{server}/session'
            found = _request('POST', session, {'capabilities': {'alwaysMatch': _wanted(program)}})
            try:
                yield Browser(f'{session}/{found["sessionId"]}')
            finally:
                _request('DELETE', f'{session}/{found["sessionId"]}')
        finally:
            process.terminate()


def _port(process: subprocess.Popen[str]) -> int:
    assert process.stdout is not None
    for line in process.stdout:
        found = re.search(r'successfully on port (\d+)', line)
        if found:
            return int(found[1])
    raise AssertionError('chromedriver did not start')


def _wanted(program: str) -> dict[str, Any]:
    # As root, in a container, Chromium's own sandbox does not start; the pages are ours.
    options = ['--headless=new', '--no-sandbox', '--disable-dev-shm-usage', '--hide-scrollbars']
    return {
        'goog:chromeOptions': {'binary': program, 'args': options},
        'goog:loggingPrefs': {'browser': 'ALL'},
    }


class _Quiet(http.server.SimpleHTTPRequestHandler):
    """What `python3 -m http.server` is, which knows no ranges of bytes."""

    def log_message(self, *arguments: object) -> None:
        """Nothing: the tests have other things to say."""


class _Ranges(_Quiet):
    """Serves one range of a file where that is asked, as most web servers do."""

    def do_GET(self) -> None:
        wanted = re.fullmatch(r'bytes=(\d+)-(\d+)', self.headers.get('Range', ''))
        if wanted is None:
            return super().do_GET()
        first, last = map(int, wanted.groups())
        content = Path(self.translate_path(self.path)).read_bytes()
        part = content[first : last + 1]
        self.send_response(http.HTTPStatus.PARTIAL_CONTENT)
        self.send_header('Content-Range', f'bytes {first}-{last}/{len(content)}')
        self.send_header('Content-Length', str(len(part)))
        self.end_headers()
        self.wfile.write(part)
        return None


@contextlib.contextmanager
def serving(folder: Path, *, ranges: bool = False) -> Iterator[str]:
    """The address of a static server of a folder: the one that `coevo pipeline site` names, or with ranges."""
    handler = partial(_Ranges if ranges else _Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(('127.0.0.1', 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f'http://127.0.0.1:{server.server_port}'
        finally:
            server.shutdown()
