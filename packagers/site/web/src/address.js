// What is shown stands in the address, so that it can be sent, and the browser's Back works.

import { dayOf } from './dates.js'

const EMPTY = {
  month: '', kind: 'tasks', scope: '', tracks: [], repo: '', language: '', cause: '', label: '', words: '',
  from: '', to: '', after: '', sort: '', page: 1, walk: '', cutoff: '',
}
const LISTS = ['tracks']
// Limits that are days, and whether a month in their place is its last one.
const DAYS = { from: false, to: true, after: true }

// {view, home, id, limits} of `#/explore?…` or `#/task/ID?…`; `home` where no view is named
export function read(hash) {
  const [path, query = ''] = hash.replace(/^#\/?/, '').split('?')
  const [view = '', id = ''] = path.split('/')
  const given = new URLSearchParams(query)
  const limits = structuredClone(EMPTY)
  for (const name of Object.keys(EMPTY)) {
    const value = given.get(name)
    if (value === null) continue
    limits[name] = LISTS.includes(name) ? value.split(',') : name === 'page' ? Number(value) || 1 : value
  }
  for (const [name, last] of Object.entries(DAYS)) limits[name] = dayOf(limits[name], last) ?? ''
  return { view: view || 'explore', home: !view, id: decoded(id), limits }
}

function decoded(text) {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

export function write(view, limits, id = '') {
  const given = new URLSearchParams()
  for (const [name, value] of Object.entries(limits)) {
    if (String(value) !== String(EMPTY[name])) given.set(name, value)
  }
  const query = given.toString()
  return `#/${view}${id && `/${encodeURIComponent(id)}`}${query && `?${query}`}`
}

export function cleared(limits) {
  return { ...structuredClone(EMPTY), month: limits.month, kind: limits.kind }
}
