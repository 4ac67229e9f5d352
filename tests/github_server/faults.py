"""Ways in which the server can be told to fail, each for some of the next requests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tests.github_server.answers import Answer, message

Kind = Literal[
    'primary',  # 403, nothing left until the reset
    'secondary',  # 403 or 429 with Retry-After
    'secondary_silent',  # the same without Retry-After
    'status',  # a 5xx, with a page of HTML as proxies send it
    'hang',  # no answer for `seconds`
    'reset',  # the connection breaks before an answer
    'half',  # the body breaks off
    'garbage',  # 200 with a body that is no JSON
    'incomplete',  # a search that ran out of time
    'elsewhere',  # a redirect to another host
    'partial',  # a GraphQL query that fails for the repository `id` alone
]

_LIMITS = 'https://docs.github.com/rest/overview/rate-limits-for-the-rest-api'


@dataclass(slots=True, kw_only=True)
class Fault:
    """The next `times` requests whose path holds `path` fail, after `skip` that do not."""

    kind: Kind
    path: str = ''
    times: int = 1
    skip: int = 0
    status: int = 403
    seconds: float = 1.0
    id: int = 0

    def strikes(self, path: str) -> bool:
        """Whether this request fails; it counts."""
        if self.path not in path or self.times == 0:
            return False
        if self.skip:
            self.skip -= 1
            return False
        self.times -= 1
        return True

    def instead(self) -> Answer | None:
        """What is said in place of the answer; None where the answer itself is spoilt."""
        match self.kind:
            case 'primary':
                return message(403, 'API rate limit exceeded for user ID 1.', _LIMITS)
            case 'secondary' | 'secondary_silent':
                answer = message(
                    self.status,
                    'You have exceeded a secondary rate limit. Please wait a few minutes before '
                    'you try again.',
                    _LIMITS,
                )
                if self.kind == 'secondary':
                    answer.headers['Retry-After'] = str(int(self.seconds))
                return answer
            case 'elsewhere':
                answer = message(301, 'Moved Permanently')
                answer.headers['Location'] = 'https://portal.invalid/login'
                return answer
            case 'status':
                return Answer(status=self.status, text='<html><body>Unicorn!</body></html>')
        return None
