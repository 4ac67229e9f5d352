"""Repositories, files and people as GitHub's API writes them."""

from __future__ import annotations

import base64
import hashlib
from typing import Any

from tests.github_server.search import key_of
from tests.github_server.world import Hosted

Json = dict[str, Any]

_PARTS = (
    'assignees{/user} blobs{/sha} branches{/branch} collaborators{/collaborator} '
    'comments{/number} commits{/sha} contributors deployments downloads events forks hooks '
    'labels{/name} languages merges milestones{/number} notifications{?since,all,participating} '
    'pulls{/number} releases{/id} stargazers statuses/{sha} subscribers subscription tags teams'
)
_ODD_PARTS = {
    'archive_url': '{archive_format}{/ref}',
    'compare_url': 'compare/{base}...{head}',
    'contents_url': 'contents/{+path}',
    'git_commits_url': 'git/commits{/sha}',
    'git_refs_url': 'git/refs{/sha}',
    'git_tags_url': 'git/tags{/sha}',
    'issue_comment_url': 'issues/comments{/number}',
    'issue_events_url': 'issues/events{/number}',
    'issues_url': 'issues{/number}',
    'keys_url': 'keys{/key_id}',
    'trees_url': 'git/trees{/sha}',
}


def search_item(one: Hosted, base: str) -> Json:
    """An item of a search's hits."""
    return {**_repository(one, base), 'score': 1.0}


def full(one: Hosted, base: str) -> Json:
    """What is known of one repository that is asked for by itself."""
    return {
        **_repository(one, base),
        'has_discussions': False,
        'network_count': 0,
        'subscribers_count': 1,
    }


def contributor(number: int, base: str) -> Json:
    return {**_user(f'person{number}', base), 'contributions': 1000 - number}


def content_file(one: Hosted, path: str, text: bytes, base: str) -> Json:
    """The content of a file, in lines of 60 characters of Base64."""
    blob = hashlib.sha1(b'blob %d\0' % len(text) + text).hexdigest()
    api = f'{base}/repos/{one.full_name}'
    html = f'{base}/{one.full_name}/blob/{one.default_branch}/{path}'
    url = f'{api}/contents/{path}?ref={one.default_branch}'
    git = f'{api}/git/blobs/{blob}'
    encoded = base64.b64encode(text).decode()
    return {
        'name': path,
        'path': path,
        'sha': blob,
        'size': len(text),
        'url': url,
        'html_url': html,
        'git_url': git,
        'download_url': f'{base}/raw/{one.full_name}/{one.default_branch}/{path}',
        'type': 'file',
        'content': ''.join(f'{encoded[at : at + 60]}\n' for at in range(0, len(encoded), 60)),
        'encoding': 'base64',
        '_links': {'self': url, 'git': git, 'html': html},
    }


def listing(one: Hosted, base: str) -> list[Json]:
    """The root folder; what has no dot in its name is a folder."""
    found = []
    for path in sorted(one.files):
        entry = content_file(one, path, path.encode(), base)
        del entry['content'], entry['encoding']
        entry['type'] = 'file' if '.' in path or path.isupper() else 'dir'
        found.append(entry)
    return found


def license_of(one: Hosted, base: str) -> Json | None:
    if one.license is None:
        return None
    key = key_of(one.license)
    known = one.license != 'NOASSERTION'
    return {
        'key': key,
        'name': one.license if known else 'Other',
        'spdx_id': one.license,
        'url': f'{base}/licenses/{key}' if known else None,
        'node_id': _node('License', key),
    }


def _repository(one: Hosted, base: str) -> Json:
    api = f'{base}/repos/{one.full_name}'
    urls = {part.partition('{')[0].strip('/') + '_url': f'{api}/{part}' for part in _PARTS.split()}
    return {
        'id': one.id,
        'node_id': _node('Repository', str(one.id)),
        'name': one.name,
        'full_name': one.full_name,
        'private': False,
        'owner': _user(one.owner, base),
        'html_url': f'{base}/{one.full_name}',
        'description': None,
        'fork': one.fork,
        'url': api,
        **urls,
        **{name: f'{api}/{part}' for name, part in _ODD_PARTS.items()},
        'created_at': one.created_at,
        'updated_at': one.updated_at,
        'pushed_at': one.pushed_at,
        'git_url': f'git://github.invalid/{one.full_name}.git',
        'ssh_url': f'git@github.invalid:{one.full_name}.git',
        'clone_url': f'{base}/git/{one.full_name}.git',
        'svn_url': f'{base}/{one.full_name}',
        'homepage': None,
        'size': one.size if one.files else 0,
        'stargazers_count': one.stars,
        'watchers_count': one.stars,
        'language': one.language,
        'has_issues': True,
        'has_projects': True,
        'has_downloads': True,
        'has_wiki': True,
        'has_pages': False,
        'forks_count': 0,
        'mirror_url': None,
        'archived': one.archived,
        'disabled': False,
        'open_issues_count': 0,
        'license': license_of(one, base),
        'allow_forking': True,
        'is_template': False,
        'topics': [],
        'visibility': 'public',
        'forks': 0,
        'open_issues': 0,
        'watchers': one.stars,
        'default_branch': one.default_branch,
    }


def _user(login: str, base: str) -> Json:
    api = f'{base}/users/{login}'
    return {
        'login': login,
        'id': int(hashlib.sha256(login.encode()).hexdigest()[:7], 16),
        'node_id': _node('User', login),
        'avatar_url': f'{base}/avatars/{login}',
        'gravatar_id': '',
        'url': api,
        'html_url': f'{base}/{login}',
        'followers_url': f'{api}/followers',
        'following_url': f'{api}/following{{/other_user}}',
        'gists_url': f'{api}/gists{{/gist_id}}',
        'starred_url': f'{api}/starred{{/owner}}{{/repo}}',
        'subscriptions_url': f'{api}/subscriptions',
        'organizations_url': f'{api}/orgs',
        'repos_url': f'{api}/repos',
        'events_url': f'{api}/events{{/privacy}}',
        'received_events_url': f'{api}/received_events',
        'type': 'User',
        'site_admin': False,
    }


def _node(kind: str, key: str) -> str:
    return base64.b64encode(f'0:{kind}{key}'.encode()).decode()
