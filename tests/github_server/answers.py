"""What the server says: a status, headers and a body, JSON unless it is a proxy's page."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any

_DOCS = 'https://docs.github.com/rest'


@dataclass(slots=True, kw_only=True)
class Answer:
    status: int = 200
    data: Any = None
    text: str | None = None
    headers: dict[str, str] = field(default_factory=dict)
    empty: bool = False

    @property
    def body(self) -> bytes:
        if self.empty:
            return b''
        if self.text is not None:
            return self.text.encode()
        return json.dumps(self.data, separators=(',', ':')).encode()

    @property
    def content_type(self) -> str:
        return 'text/html' if self.text is not None else 'application/json; charset=utf-8'


def message(status: int, text: str, documentation_url: str = _DOCS) -> Answer:
    """GitHub's `basic-error`."""
    data = {'message': text, 'documentation_url': documentation_url, 'status': str(status)}
    return Answer(status=status, data=data)


def etag(answer: Answer, salt: str) -> str:
    return f'W/"{hashlib.sha256(answer.body + salt.encode()).hexdigest()}"'
