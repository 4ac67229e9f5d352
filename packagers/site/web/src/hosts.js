// Where a repository's host shows a commit, or the change between two. An address is built from parts that
// were matched whole, since `url` and revisions are a stranger's data.

// By host: what stands before a commit, and before OLD..NEW, which is the change itself even where OLD is no ancestor.
const HOSTS = {
  'github.com': { commit: 'commit/', compare: (old, now) => `compare/${old}..${now}` },
  'codeberg.org': { commit: 'commit/', compare: (old, now) => `compare/${old}..${now}` },
  'gitlab.com': { commit: '-/commit/', compare: (old, now) => `-/compare/${old}...${now}?straight=true` },
}
const REPOSITORY = /^https:\/\/([a-z.]+)\/([A-Za-z0-9][A-Za-z0-9-]{0,38})\/([A-Za-z0-9_.-]{1,100}?)(?:\.git)?\/?$/
const REVISION = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/

function place(url) {
  const [, host, owner, name] = REPOSITORY.exec(url ?? '') ?? []
  if (!Object.hasOwn(HOSTS, host ?? '') || /^\.+$/.test(name)) return null
  return { ...HOSTS[host], root: `https://${host}/${owner}/${name}/` }
}

// The address of a commit; null where the host is not known or the parts have another form.
export function commitAddress(url, revision) {
  const found = place(url)
  return found && REVISION.test(revision ?? '') ? `${found.root}${found.commit}${revision}` : null
}

// The address of the change from one revision to another; null likewise.
export function compareAddress(url, old, now) {
  const found = place(url)
  return found && REVISION.test(old ?? '') && REVISION.test(now ?? '') ? `${found.root}${found.compare(old, now)}` : null
}
